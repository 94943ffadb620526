"""The surrogate judge: ratings predicted from features of answers, with measures of how far to trust them.

    seen = Training(features, {code: LanguageData(...)})    # `surrogate.training` joins it from tables
    compared = compare_regressors(seen)                     # every regressor on left-out systems
    compared.default, compared.quality(), compared.tests
    predict(seen, compared.default, out=["a new model"])    # {language: ratings of every system}

`data.py` defines the data a fit may use, `regressors.py` declares the regressors, `evaluate.py` leaves out one system
at a time and two at a time, `quality.py` measures the predictions, `importance.py` the importance of features,
`range.py` whether a system is in the range of the others.
"""

from mirage.ranking.surrogate.data import COVERAGE, LanguageData, Predicted, Training, averages
from mirage.ranking.surrogate.evaluate import (
    LEVEL,
    RegressorComparison,
    compare_regressors,
    leave_one_out,
    margin,
)
from mirage.ranking.surrogate.importance import FeatureImportance, importances
from mirage.ranking.surrogate.quality import HeldOut, PairedTest, Quality, paired_test, r2, slope_parts, tau_parts
from mirage.ranking.surrogate.range import ALL, Distance, distances
from mirage.ranking.surrogate.regressors import (
    PUBLISHED,
    REGRESSORS,
    SEED,
    Regressor,
    predict,
    regressor,
)

__all__ = [
    "ALL",
    "COVERAGE",
    "LEVEL",
    "PUBLISHED",
    "REGRESSORS",
    "SEED",
    "Distance",
    "FeatureImportance",
    "HeldOut",
    "LanguageData",
    "PairedTest",
    "Predicted",
    "Quality",
    "Regressor",
    "RegressorComparison",
    "Training",
    "averages",
    "compare_regressors",
    "distances",
    "importances",
    "leave_one_out",
    "margin",
    "paired_test",
    "predict",
    "r2",
    "regressor",
    "slope_parts",
    "tau_parts",
]
