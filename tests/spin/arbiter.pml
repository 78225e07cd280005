/* An arbiter in the manner of Peterson's algorithm: both may want to, and whose turn it is goes back and forth. */
bool want[2], go[2], leave[2];
bool flag[2], busy;
byte turn, at[2];
#define waiting (at[0] == 1)
#define inside (at[0] == 2)
#define other (at[1] == 2)
#define known (flag[0])

active [2] proctype Client() {
  do
  :: d_step { at[_pid] == 0 -> at[_pid] = 1; want[_pid] = true }
  :: d_step { go[_pid] -> go[_pid] = false; at[_pid] = 2 }
  :: d_step { at[_pid] == 2 -> at[_pid] = 0; leave[_pid] = true }
  od
}

active proctype Arbiter() {
  do
  :: d_step { want[0] -> want[0] = false; flag[0] = true }
  :: d_step { want[1] -> want[1] = false; flag[1] = true }
  :: d_step { leave[0] -> leave[0] = false; busy = false }
  :: d_step { leave[1] -> leave[1] = false; busy = false }
  :: d_step { !busy && flag[0] && (turn == 0 || !flag[1]) -> flag[0] = false; busy = true; turn = 1; go[0] = true }
  :: d_step { !busy && flag[1] && (turn == 1 || !flag[0]) -> flag[1] = false; busy = true; turn = 0; go[1] = true }
  od
}

ltl served { [] (waiting -> <> inside) }
ltl served_if_known { [] (known -> <> inside) }
ltl exclusive { [] !(inside && other) }
ltl goes_on { [] <> (inside || other) }
ltl overtaken_once { [] (known -> ((!other) U (other U ((!other) U inside)))) }
