/* A producer with two credits, over channels that keep the order. */
chan data = [2] of { bit };
chan credit = [2] of { bit };
byte left = 2;
bit next, last = 1;
bool odd;
#define zero (last == 0)
#define empty_handed (left == 0)

active proctype Producer() {
  bit got;
  do
  :: d_step { left > 0 -> data ! next; next = 1 - next; left-- }
  :: d_step { nempty(credit) -> credit ? got; left++ }
  od
}

active proctype Consumer() {
  bit got;
  do
  :: d_step { nempty(data) -> data ? got; odd = (got == last); last = got; credit ! 0 }
  od
}

ltl in_order { [] !odd }
ltl zero_again { [] <> zero }
ltl credits_return { [] (empty_handed -> <> !empty_handed) }
ltl never_empty { [] !empty_handed }
ltl turns { [] (zero -> <> !zero) }
