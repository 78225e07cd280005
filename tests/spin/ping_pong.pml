/* Two players, one ball. `even`: the left one has hit an even number of times. */
bool started, ping, pong, even = true;

active proctype Left() {
  do
  :: d_step { !started -> started = true; ping = true }
  :: d_step { pong -> pong = false; ping = true; even = !even }
  od
}

active proctype Right() {
  do
  :: d_step { ping -> ping = false; pong = true }
  od
}

ltl again_and_again { [] <> even }
ltl settles { <> [] even }
ltl both { [] <> even && [] <> !even }
ltl follows { [] (even -> (even U !even)) }
