/* Peterson's algorithm for N processes, a statement at a time, looking at the others in turn. */
#ifndef N
#define N 3
#endif
byte last[N], round[N], inside;

active [N] proctype contender() {
    byte other, level;
begin:
    level = 0;
    do
    :: level < N - 1 ->
        round[_pid] = level;
        last[level] = _pid;
        other = 0;
        do
        :: other < N ->
            if
            :: other == _pid -> other++
            :: other != _pid ->
                if
                :: round[other] < level || last[level] != _pid -> other++
                fi
            fi
        :: other >= N -> break
        od;
        level++
    :: else -> break
    od;
    inside++;
    assert(inside == 1);
    inside--;
    round[_pid] = 0;
    goto begin
}
