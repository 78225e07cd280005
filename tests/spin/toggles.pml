/* Two processes that have nothing to do with each other. */
bool x, y;

active proctype First() { do :: d_step { true -> x = !x } od }
active proctype Second() { do :: d_step { true -> y = !y } od }

ltl first_again { [] <> x }
ltl once { <> y }
ltl one_of_them { [] <> x || [] <> y || [] <> !x }
ltl meet { <> (x && y) }
ltl waits { (!x) W y }
