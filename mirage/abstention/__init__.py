"""Abstention as a trade-off: what a signal of an answer buys when weak answers are withheld.

`curve.py` draws risk against coverage and its area; `promise.py` chooses the threshold that holds an error rate;
`records.py` says what comes out; `signals.py` reads signals and losses of an arena, and does both for its systems.
"""

from mirage.abstention.curve import curve
from mirage.abstention.promise import promise
from mirage.abstention.records import SHOWN, Curve, Method, Point, Promise, Tradeoff
from mirage.abstention.signals import ALL, LOSSES, signals, tradeoffs

__all__ = [
    "ALL",
    "LOSSES",
    "SHOWN",
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
