"""Walking through the states of a system in the browser: a local server, and the page that it serves.

The page shows states and steps in the words of the plain semantics. The engine is asked about each of them: it has to
find the same steps, it says which of them its reductions would take, and it finds the runs to somewhere.
"""
