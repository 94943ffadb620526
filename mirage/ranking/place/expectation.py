"""Prior of a new system's rating from the surrogate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from mirage import store
from mirage.battles.referee import Referee
from mirage.errors import NotEnoughData, UnknownName
from mirage.ranking import surrogate
from mirage.ranking.bootstrap import JOINT
from mirage.ranking.place import sequential
from mirage.ranking.place.sequential.field import SPREAD
from mirage.ranking.surrogate.reporting import ChosenRegressor, chosen_regressor, expected_ratings
from mirage.ranking.surrogate.training import training

if TYPE_CHECKING:
    import pyarrow as pa

_WIDE = 1.96


def expectation(
    arena: store.Arena, rest: pa.Table, system: str, referee: str, fields: Sequence[sequential.Field]
) -> tuple[sequential.Prior, str | None, tuple[str, ...]]:
    """Return the prior, the name of the regressor, and the features in which it extrapolates.

    The regressor is that of the arena's stored predictions, else the first candidate, with its errors on left-out
    systems. If it cannot be fitted, the prior is the widened spread of the judged systems.
    """
    codes = [field.language for field in fields]
    spread = float(np.sqrt(np.mean([field.theta.var(ddof=1) for field in fields])))
    none = sequential.Prior([0.0] * len(codes), [min(max(1.5 * spread, 1.0), SPREAD)] * len(codes)), None, ()
    if "features" not in arena.tables:
        return none
    try:
        seen = training(arena.read("features"), rest, Referee.judge(referee), languages=codes)
        choice = _by(arena, seen, system, referee)
        expectations = expected_ratings(seen, system, choice)
    except (NotEnoughData, UnknownName):
        return none
    rows = [expectations.get(code) for code in codes]
    outside = tuple(dict.fromkeys(feature for row in rows if row for feature in row.outside))
    bounded = [row for row in rows if row and row.low is not None and row.high is not None]
    if any(row is None or (row.low is None and not row.outside) for row in rows) or not bounded:
        return *none[:2], outside
    deviations = {
        row.language: (row.high - row.low) / 2 / _WIDE
        for row in bounded
        if row.low is not None and row.high is not None
    }
    # Where it extrapolates, the surrogate's prediction is not used.
    sd = [deviations.get(code, wide) for code, wide in zip(codes, none[0].sd, strict=True)]
    joint = expectations.get(JOINT)
    shared = 0.5
    if len(codes) > 1 and joint and joint.low is not None and joint.high is not None:
        # Var(mean) = mean variance * (1 + (L - 1) r) / L.
        share = ((joint.high - joint.low) / 2 / _WIDE) ** 2 / float(np.mean(np.square(sd)))
        shared = float(np.clip((share * len(codes) - 1) / (len(codes) - 1), 0, 0.95))
    ratings = [row.rating if row and row.language in deviations else 0.0 for row in rows]
    return sequential.Prior(ratings, sd, shared), choice.regressor, outside


def _by(arena: store.Arena, seen: surrogate.Training, system: str, referee: str) -> ChosenRegressor:
    import pyarrow.compute as pc

    if "predictions" in arena.tables:
        stored = arena.read("predictions")
        stored = stored.filter(pc.and_(pc.equal(stored["referee"], referee), pc.not_equal(stored["system"], system)))
        if len(stored):
            return chosen_regressor(stored, Referee.judge(referee))
    name = next(regressor.name for regressor in surrogate.REGRESSORS.values() if regressor.candidate)
    held_out = surrogate.leave_one_out(seen, name, pairs=False)
    return ChosenRegressor(
        name, {code: held_out.judged[code] - held_out.predicted[code] for code in held_out.predicted}
    )
