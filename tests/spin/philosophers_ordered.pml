/* Two philosophers who take the same fork first. */
bool take[4], given[4], put[4], taken[2];  /* [2 * philosopher + fork] */
byte at[2];  /* 0 thinks, 1 asks for the first fork, 2 for the second, 3 eats */
#define FIRST(p) (0)
#define SECOND(p) (1)
#define hungry (at[0] == 1 || at[0] == 2)
#define eats (at[0] == 3)
#define other_eats (at[1] == 3)

active [2] proctype Philosopher() {
  do
  :: d_step { at[_pid] == 0 -> at[_pid] = 1; take[2 * _pid + FIRST(_pid)] = true }
  :: d_step { at[_pid] == 1 && given[2 * _pid + FIRST(_pid)] ->
       given[2 * _pid + FIRST(_pid)] = false; at[_pid] = 2; take[2 * _pid + SECOND(_pid)] = true }
  :: d_step { at[_pid] == 2 && given[2 * _pid + SECOND(_pid)] ->
       given[2 * _pid + SECOND(_pid)] = false; at[_pid] = 3 }
  :: d_step { at[_pid] == 3 -> at[_pid] = 0; put[2 * _pid] = true; put[2 * _pid + 1] = true }
  od
}

active [2] proctype Fork() {
  byte f = _pid - 2;
  do
  :: d_step { !taken[f] && take[f] -> take[f] = false; taken[f] = true; given[f] = true }
  :: d_step { !taken[f] && take[2 + f] -> take[2 + f] = false; taken[f] = true; given[2 + f] = true }
  :: d_step { put[f] -> put[f] = false; taken[f] = false }
  :: d_step { put[2 + f] -> put[2 + f] = false; taken[f] = false }
  od
}

ltl fed { [] (hungry -> <> eats) }
ltl somebody_eats { [] <> (eats || other_eats) }
ltl not_both { [] !(eats && other_eats) }
ltl may_begin { <> (hungry || eats || other_eats) }
