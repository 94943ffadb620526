"""Battles: pairing answers, deciding each pair, and counting wins.

    judge = Judge.from_name("gpt-4o")                    # or Judge.relevance("answer"), Judge.panel()
    battles = judge.battles(arena.read(judge.table))     # {language: Battles}
    decisions(judgments)["gpt-4o"][battle].winner       # the decision from all verdicts on one battle

`judge.py` defines who decides; `decision.py` has the rule for one battle's verdicts; `verdict_rows.py` filters a
judge's verdicts as integer-coded rows; `counts.py` has the win counts per query that rankings are fitted to.
"""
