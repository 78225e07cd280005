-- Peterson's algorithm for N processes, looking at all others in one step: the rules of the bundled protocol.
const N: 3;
type
  process: scalarset(N);
  place: enum { Idle, Round, Turn, Wait, Inside };
var
  at: array [process] of place;
  level: array [process] of 0..N;
  round: array [process] of 0..N;
  last: array [1..N-1] of process;

ruleset p: process do
  rule "begin" at[p] = Idle ==> begin at[p] := Round; level[p] := 1; end;
  rule "announce" at[p] = Round ==> begin round[p] := level[p]; at[p] := Turn; end;
  rule "come last" at[p] = Turn ==> begin last[level[p]] := p; at[p] := Wait; end;
  rule "go on" at[p] = Wait & ((forall q: process do q = p | round[q] < level[p] end) | last[level[p]] != p) ==>
  begin
    level[p] := level[p] + 1;
    if level[p] < N then at[p] := Round; else at[p] := Inside; end;
  end;
  rule "leave" at[p] = Inside ==> begin round[p] := 0; at[p] := Idle; level[p] := 0; end;
end;

startstate begin
  for p: process do at[p] := Idle; level[p] := 0; round[p] := 0; end;
  undefine last;
end;

invariant "mutual exclusion"
  forall p: process do forall q: process do p = q | at[p] != Inside | at[q] != Inside end end;
