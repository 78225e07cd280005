/* The sender repeats its message until it is acknowledged; what is pending is a set. */
bool done, data, ack;

active proctype Sender() {
  do
  :: d_step { !done -> data = true }
  :: d_step { ack -> ack = false; done = true }
  od
}

active proctype Receiver() {
  do
  :: d_step { data -> data = false; ack = true }
  od
}

ltl arrives { <> done }
ltl stays { [] (done -> [] done) }
ltl unless_late { (!done) W done }
ltl not_yet { [] !done }
