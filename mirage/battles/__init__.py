"""Battles: which there are, what a referee decides of them, and how they are counted. The one place that says so.

    referee = Referee.named("gpt-4o")                        # or Referee.relevance("answer"), Referee.panel()
    battles = referee.battles(arena.read(referee.table))     # {language: Battles}
    decisions(judgments)["gpt-4o"][battle].winner            # what all verdicts on one battle come to

`referee.py` says who decides; `decision.py` has the rule for one battle's verdicts; `verdict_rows.py` chooses among a
judge's verdicts, on coded rows; `counts.py` has the win counts per query that rankings are made from.
"""

from mirage.battles.counts import SUBSETS, Battles, from_outcomes, lacking, pooled
from mirage.battles.decision import Battle, Decision, decide, decisions
from mirage.battles.referee import POOLED, RELEVANCE, Referee, judges, only_judge, referees
from mirage.battles.verdict_rows import COLUMNS, Verdicts, from_judgments, verdicts

__all__ = [
    "COLUMNS",
    "POOLED",
    "RELEVANCE",
    "SUBSETS",
    "Battle",
    "Battles",
    "Decision",
    "Referee",
    "Verdicts",
    "decide",
    "decisions",
    "from_judgments",
    "from_outcomes",
    "judges",
    "lacking",
    "only_judge",
    "pooled",
    "referees",
    "verdicts",
]
