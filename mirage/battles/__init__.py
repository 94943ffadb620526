"""Battles: pairing answers, deciding each pair, and counting wins.

    referee = Referee.from_name("gpt-4o")                    # or Referee.relevance("answer"), Referee.panel()
    battles = referee.battles(arena.read(referee.table))     # {language: Battles}
    decisions(judgments)["gpt-4o"][battle].winner            # the decision from all verdicts on one battle

`referee.py` defines who decides; `decision.py` has the rule for one battle's verdicts; `verdict_rows.py` filters a
judge's verdicts as integer-coded rows; `counts.py` has the win counts per query that rankings are fitted to.
"""

from mirage.battles.counts import SUBSETS, Battles, from_outcomes, lacking, pool_battles
from mirage.battles.decision import Battle, Decision, decide, decisions
from mirage.battles.referee import POOLED, RELEVANCE, Referee, judges, referees
from mirage.battles.verdict_rows import COLUMNS, Verdicts, from_judgments, only_judge, verdicts

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
    "pool_battles",
    "referees",
    "verdicts",
]
