"""A run drawn as a sequence chart: what there is to see (model), where it goes (layout), and how it is written down.

`svg`, `png`, `terminal` and `mermaid` render; they share the model, and none of them looks at a run itself.
"""
