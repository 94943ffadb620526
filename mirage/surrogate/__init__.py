"""The surrogate judge: features of answers to ratings, and how far such a prediction can be trusted.

    seen = Training(features, {code: Language(...)})        # `surrogate.training` joins it from tables
    compared = choose(seen)                                 # every regressor on left-out systems
    compared.default, compared.quality(), compared.tests
    held = leave_one_out(seen, "forest")                    # predictions, intervals, ratings
    predict(seen, compared.default, out=["a new model"])    # {language: ratings of every system}
    by_draw({code: Draws(...)}, "forest", out=[...])        # the paper's tournaments, {language: B x S}

`data.py` says what a fit may see, `regressors.py` declares the regressors (the paper's five, then `ridge.py`,
`pooled.py` and `answers.py`), `evaluate.py` leaves systems out, `pairs.py` two at a time, `quality.py` measures
what comes of it, `importance.py` asks which features it rests on, `range.py` whether a system is like those seen,
`draws.py` fits many draws at once. Arrays in, arrays out: nothing here knows a referee, a judge or a disk.
"""

from mirage.surrogate.data import COVERAGE, LanguageData, Predicted, Training, averages
from mirage.surrogate.draws import Draws, by_draw
from mirage.surrogate.evaluate import (
    LEVEL,
    NESTED,
    HeldOut,
    RegressorComparison,
    compare_regressors,
    leave_one_out,
    margin,
    paired,
)
from mirage.surrogate.importance import FeatureImportance, importances
from mirage.surrogate.pairs import apart_by, slope_parts, square, tau_parts
from mirage.surrogate.quality import PairedTest, Quality, r2, tau_b, taus
from mirage.surrogate.range import ALL, Distance, distances, outside
from mirage.surrogate.regressors import (
    FORMER_NAMES,
    PUBLISHED,
    REGRESSORS,
    SEED,
    Regressor,
    predict,
    regressor,
    with_present_names,
)

__all__ = [
    "ALL",
    "COVERAGE",
    "FORMER_NAMES",
    "LEVEL",
    "NESTED",
    "PUBLISHED",
    "REGRESSORS",
    "SEED",
    "Distance",
    "Draws",
    "FeatureImportance",
    "HeldOut",
    "LanguageData",
    "PairedTest",
    "Predicted",
    "Quality",
    "Regressor",
    "RegressorComparison",
    "Training",
    "apart_by",
    "averages",
    "by_draw",
    "compare_regressors",
    "distances",
    "importances",
    "leave_one_out",
    "margin",
    "outside",
    "paired",
    "predict",
    "r2",
    "regressor",
    "slope_parts",
    "square",
    "tau_b",
    "tau_parts",
    "taus",
    "with_present_names",
]
