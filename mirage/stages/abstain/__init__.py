"""Selective answering: the risk-coverage trade-off of abstaining by a signal.

`curve.py` computes risk-coverage curves and their area; `promise.py` chooses a threshold that guarantees an error rate;
`records.py` defines the results, `settings.py` the settings; `signals.py` reads signals and losses of an arena, and
computes both for its systems.
"""

from mirage.stages.abstain.curve import curve
from mirage.stages.abstain.promise import promise
from mirage.stages.abstain.records import SHOWN, Curve, Method, Point, Promise, Tradeoff
from mirage.stages.abstain.settings import AbstainSettings
from mirage.stages.abstain.signals import ALL, LOSSES, signals, tradeoffs

__all__ = [
    "ALL",
    "LOSSES",
    "SHOWN",
    "AbstainSettings",
    "Curve",
    "Method",
    "Point",
    "Promise",
    "Tradeoff",
    "curve",
    "promise",
    "signals",
    "tradeoffs",
]
