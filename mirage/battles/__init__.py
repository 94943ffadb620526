"""Battles: pairing answers, deciding each pair, and counting wins.

`judge.py` defines who decides; `decision.py` has the rule for one battle's verdicts; `verdict_rows.py` filters a
judge's verdicts as integer-coded rows; `counts.py` has the win counts per query that rankings are fitted to.
"""
