"""Figures of the Hallucination page: the trade-off of the two rates, how the order moves from one definition to the
other, rates by language and system, bars by language, and outcomes stacked.

A clicked mark says `[system, language, metric, outcome]`, each empty where the mark is about all of them.
"""

from mirage.explorer.hallucination.chart.by_language import bars, cells
from mirage.explorer.hallucination.chart.parts import QUERIES, RATES
from mirage.explorer.hallucination.chart.places import order
from mirage.explorer.hallucination.chart.plane import NAMED, trade_off
from mirage.explorer.hallucination.chart.shares import share_bars

__all__ = ["NAMED", "QUERIES", "RATES", "bars", "cells", "order", "share_bars", "trade_off"]
