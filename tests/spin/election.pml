/* Leader election in a ring of three (Chang and Roberts 1979): the largest name comes home. */
bool claim[9], started[3], leader[3];  /* claim[3 * receiver + name] */
#define elected (leader[2])
#define wrong (leader[0] || leader[1])
#define all_started (started[0] && started[1] && started[2])

active [3] proctype Member() {
  do
  :: d_step { !started[_pid] -> started[_pid] = true; claim[3 * ((_pid + 1) % 3) + _pid] = true }
  :: d_step { claim[3 * _pid] ->
       claim[3 * _pid] = false;
       if :: 0 > _pid -> claim[3 * ((_pid + 1) % 3)] = true :: 0 == _pid -> leader[_pid] = true :: else fi }
  :: d_step { claim[3 * _pid + 1] ->
       claim[3 * _pid + 1] = false;
       if
       :: 1 > _pid -> claim[3 * ((_pid + 1) % 3) + 1] = true
       :: 1 == _pid -> leader[_pid] = true
       :: else
       fi }
  :: d_step { claim[3 * _pid + 2] ->
       claim[3 * _pid + 2] = false;
       if
       :: 2 > _pid -> claim[3 * ((_pid + 1) % 3) + 2] = true
       :: 2 == _pid -> leader[_pid] = true
       :: else
       fi }
  od
}

ltl ends { <> elected }
ltl right { [] !wrong }
ltl stable { <> [] elected }
ltl after_all_started { (!elected) W all_started }
ltl everybody { <> all_started }
