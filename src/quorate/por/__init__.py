"""LPOR, local partial-order reduction, for any state transition system (Bokor, chapter 4 and appendix B of the thesis).

Give the transitions of a system and what you know about pairs of them (`Relations`); get forward-enable sets, computed
once, and stubborn sets per state (`StubbornSets`), sets that preserve a kind of property (`Reduction`), a reduced
`search`, and `verify_relations` to find out whether what you know is true. Nothing here knows messages or processes.
"""

from quorate.por.definition import Breach, breaches
from quorate.por.errors import ReductionError, RelationError
from quorate.por.exact import exact_relations
from quorate.por.expansion import Reduction
from quorate.por.petri import PetriNet
from quorate.por.relations import Relations
from quorate.por.run import Run
from quorate.por.search import SearchResult, search
from quorate.por.stubborn import StubbornSets
from quorate.por.system import TransitionSystem
from quorate.por.verify import Report, WrongClaim, verify_relations

__all__ = [
    "Breach",
    "PetriNet",
    "Reduction",
    "ReductionError",
    "RelationError",
    "Relations",
    "Report",
    "Run",
    "SearchResult",
    "StubbornSets",
    "TransitionSystem",
    "WrongClaim",
    "breaches",
    "exact_relations",
    "search",
    "verify_relations",
]
