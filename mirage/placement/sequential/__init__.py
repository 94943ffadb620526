"""Place one new system among those of an arena with few battles.

    known = field("sw", battles)                              # what the arena knows of its own systems
    state = start([known], Prior([0.4], [0.5]))               # the new one is expected at 0.4, give or take 0.5
    state = state.after([Fought(query=q, opponent=j, points=y)])
    standing(state, tiers).tier_probabilities                 # which tier it is in
    choose_battles(state, [CandidatePool(queries, open_, tried)], n=20, seed=0)      # the next, drawn at random

Bayesian Bradley-Terry in Laplace's approximation: the arena's battles give a Gaussian for its own systems, a surrogate
one for the new system, and the new system's battles update both. `field.py` has what goes before the new battles,
`state.py` what they change, `choice.py` which to fight next. NumPy only; nothing here knows a judge or a disk.
"""

from mirage.placement.sequential.choice import (
    CandidatePool,
    ChosenBattle,
    Horizon,
    choose_battles,
    horizon,
)
from mirage.placement.sequential.field import Field, Noise, field
from mirage.placement.sequential.state import (
    LEAST,
    LEVEL,
    BattleResult,
    Prior,
    Standing,
    State,
    TierList,
    boundaries,
    posterior_standing,
    start,
)

__all__ = [
    "LEAST",
    "LEVEL",
    "BattleResult",
    "CandidatePool",
    "ChosenBattle",
    "Field",
    "Horizon",
    "Noise",
    "Prior",
    "Standing",
    "State",
    "TierList",
    "boundaries",
    "choose_battles",
    "field",
    "horizon",
    "posterior_standing",
    "start",
]
