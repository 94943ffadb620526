"""Sequential placement of a new system among those of an arena with few battles.

    known = field("sw", battles)                              # posterior of the arena's own systems
    state = start([known], Prior([0.4], [0.5]))               # prior of the new one: 0.4, standard deviation 0.5
    state = state.after([BattleResult(query=q, opponent=j, points=y)])
    posterior_standing(state, tiers).tier_probabilities       # probability of each tier
    choose_battles(state, [CandidatePool(queries, open_, tried)], n=20, seed=0)      # next battles, drawn at random

Bayesian Bradley-Terry in Laplace's approximation: the arena's battles give a Gaussian for its own systems, a surrogate
one for the new system, and the new system's battles update both. `field.py` has the state before these battles,
`state.py` the update, `choice.py` the choice of the next battles. NumPy only; independent of judges and storage.
"""

from mirage.ranking.place.sequential.choice import (
    CandidatePool,
    ChosenBattle,
    Horizon,
    choose_battles,
    horizon,
)
from mirage.ranking.place.sequential.field import Field, Noise, field
from mirage.ranking.place.sequential.state import (
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
