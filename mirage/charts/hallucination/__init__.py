"""Figures of the Hallucination page: the trade-off of the two rates, how the order moves from one definition to the
other, rates by language and system, bars by language, and outcomes stacked.

A clicked mark says `[system, language, metric, outcome]`, each empty where the mark is about all of them.
"""

from mirage.charts.hallucination.by_language import bars, cells
from mirage.charts.hallucination.parts import QUERIES, RATES
from mirage.charts.hallucination.places import order
from mirage.charts.hallucination.plane import NAMED, trade_off
from mirage.charts.hallucination.shares import share_bars

__all__ = ["NAMED", "QUERIES", "RATES", "bars", "cells", "order", "share_bars", "trade_off"]
