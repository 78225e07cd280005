/* Two-phase commit with two participants; the coordinator may leave for good before it has decided. */
bool voted[2], yes[2], no[2], commit[2], abort[2], left;
bool said[2];            /* what the coordinator has heard: yes of whom */
byte decision;           /* of the coordinator: 0 none, 1 commit, 2 abort */
byte outcome[2];
#define decided (outcome[0] != 0 && outcome[1] != 0)
#define split (outcome[0] + outcome[1] == 3 && outcome[0] != 0 && outcome[1] != 0)
#define gone left
#define committed (outcome[0] == 1)

active [2] proctype Participant() {
  do
  :: d_step { !voted[_pid] -> voted[_pid] = true; yes[_pid] = true }
  :: d_step { !voted[_pid] -> voted[_pid] = true; no[_pid] = true }
  :: d_step { commit[_pid] -> commit[_pid] = false; outcome[_pid] = 1 }
  :: d_step { abort[_pid] -> abort[_pid] = false; outcome[_pid] = 2 }
  od
}

active proctype Coordinator() {
  do
  :: d_step { !left && yes[0] -> yes[0] = false; said[0] = true }
  :: d_step { !left && yes[1] -> yes[1] = false; said[1] = true }
  :: d_step { !left && no[0] ->
       no[0] = false;
       if :: decision == 0 -> decision = 2; abort[0] = true; abort[1] = true :: else fi }
  :: d_step { !left && no[1] ->
       no[1] = false;
       if :: decision == 0 -> decision = 2; abort[0] = true; abort[1] = true :: else fi }
  :: d_step { !left && said[0] && said[1] && decision == 0 -> decision = 1; commit[0] = true; commit[1] = true }
  :: d_step { !left && decision == 0 -> left = true }
  od
}

ltl ends { <> decided }
ltl ends_unless_gone { <> (decided || gone) }
ltl agree { [] !split }
ltl if_it_stays { ([] !gone) -> <> decided }
ltl lasting { [] (committed -> [] committed) }
