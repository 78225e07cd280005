"""Walking through the states of a system in the browser: a local server, and the page that it serves.

What the page shows comes from the plain semantics, state by state; runs to somewhere come from the engine.
"""
