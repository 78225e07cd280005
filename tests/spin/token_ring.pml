/* A token goes round three processes; a fourth has nothing to do with it. */
bool token[3], has[3], started, noise;
#define first (has[0])
#define second (has[1])

active [3] proctype Member() {
  do
  :: d_step { _pid == 0 && !started -> started = true; has[0] = true }
  :: d_step { token[_pid] -> token[_pid] = false; has[_pid] = true }
  :: d_step { has[_pid] -> has[_pid] = false; token[(_pid + 1) % 3] = true }
  od
}

active proctype Idler() { do :: d_step { true -> noise = !noise } od }

ltl comes_round { [] <> first }
ltl in_turn { [] (first -> <> second) }
ltl one_at_a_time { [] !(first && second) }
ltl order { (!second) W first }
ltl noisy { [] <> noise }
