"""Properties: evaluated against views that record what they read."""

from quorate.properties.evaluate import Evaluation, evaluate, explain

__all__ = ["Evaluation", "evaluate", "explain"]
