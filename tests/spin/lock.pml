/* A lock that is given to whoever comes first. A client asks again and again. */
bool ask[2], granted[2], release[2], held;
byte at[2];  /* 0 outside, 1 waiting, 2 inside */
#define waiting (at[0] == 1)
#define inside (at[0] == 2)
#define other (at[1] == 2)

active [2] proctype Client() {
  do
  :: d_step { at[_pid] == 0 -> at[_pid] = 1; ask[_pid] = true }
  :: d_step { granted[_pid] -> granted[_pid] = false; at[_pid] = 2 }
  :: d_step { at[_pid] == 2 -> at[_pid] = 0; release[_pid] = true }
  od
}

active proctype Lock() {
  do
  :: d_step { !held && ask[0] -> ask[0] = false; held = true; granted[0] = true }
  :: d_step { !held && ask[1] -> ask[1] = false; held = true; granted[1] = true }
  :: d_step { release[0] -> release[0] = false; held = false }
  :: d_step { release[1] -> release[1] = false; held = false }
  od
}

ltl served { [] (waiting -> <> inside) }
ltl exclusive { [] !(inside && other) }
ltl released { [] (held -> <> !held) }
ltl somebody { [] <> (inside || other) }
ltl one_or_the_other { <> inside || <> other }
