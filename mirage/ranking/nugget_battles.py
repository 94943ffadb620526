"""Battles decided by nugget scores: the answer that states more of the vital nuggets in full wins."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa

from mirage.battles.failures import failures_of, score_failures
from mirage.battles.judge import NUGGETS
from mirage.battles.score_verdicts import verdicts_of_scores
from mirage.errors import NotEnoughData
from mirage.ranking.settings import RankSettings
from mirage.stages.features.nuggets import MAIN_SCORE
from mirage.stages.features.stage import nugget_table
from mirage.store.arena import Arena
from mirage.text.segmentation import count_text

ONE_ANSWER = "only one answer"
"""Reason why a query has no battle."""


@dataclass(frozen=True, eq=False)
class NuggetBattles:
    """The battles that nugget scores decide."""

    verdicts: pa.Table
    """One row per battle, with the columns of `verdict_rows.COLUMNS`; the judge is `nuggets`."""
    assigner: str | None
    """Assigner whose assignments count."""
    margin: float
    """Scores that differ by at most this tie."""
    without: Mapping[str, int]
    """Queries without a battle, by the reason that most of their answers have no score."""
    unscored: Mapping[str, int]
    """Answers without a score to other queries, by reason."""

    @property
    def lines(self) -> list[str]:
        """Remarks: the rule for battles, and the number of queries and answers without any."""
        tie = f"scores within {self.margin:g} tie" if self.margin else "equal scores tie"
        lines = [
            f"the answer with the higher {MAIN_SCORE} wins, {tie}; the nuggets are assigned by {self.assigner}",
        ]
        for noun, reasons in (("query", self.without), ("answer", self.unscored)):
            if reasons:
                listed = "; ".join(f"{reason} ({n:,})" for reason, n in reasons.items())
                lines.append(f"{count_text(sum(reasons.values()), noun)} without a battle: {listed}")
        return lines


def nugget_battles(arena: Arena, settings: RankSettings = RankSettings()) -> NuggetBattles:
    """Decide the battles of an arena by the nugget scores of its answers; nothing is written.

    An answer without a score, because the query has no vital nugget or a nugget has no assignment, has no battle. A
    failed answer scores 0.

    Args:
        arena: with the tables answers, nuggets and nugget_assignments.
        settings: the margin, the assigner and the languages count.

    Raises:
        TableMissing: if the arena lacks one of the tables.
        UnknownName: if there is no such assigner or language.
        NotEnoughData: if no query has two answers with a score.
    """
    import pyarrow.compute as pc

    margin = settings.nugget_margin
    chosen, features = nugget_table(arena, assigner=settings.assigner, languages=settings.languages)
    scores = features.filter(pc.equal(features["feature"], MAIN_SCORE))
    scores = score_failures(scores, failures_of(arena), 0.0, drop=settings.failures == "drop")
    verdicts = verdicts_of_scores(scores, judge=NUGGETS, margin=margin)
    columns = (scores[name].to_pylist() for name in ("language", "query_id", "reason", "value"))
    reasons: dict[tuple[str, str], Counter[str]] = {}
    for language, query_id, reason, value in zip(*columns, strict=True):
        of_query = reasons.setdefault((language, query_id), Counter())
        of_query["" if value is not None else reason or "no score"] += 1
    without: Counter[str] = Counter()
    unscored: Counter[str] = Counter()
    for of_query in reasons.values():
        scored = of_query.pop("", 0)
        if scored >= 2:
            unscored.update(of_query)
        else:
            most = min(of_query, key=lambda reason: (-of_query[reason], reason), default="")
            without[most or ONE_ANSWER] += 1
    if not len(verdicts):
        why = "; ".join(f"{reason} ({n:,})" for reason, n in sorted(without.items())) or "there is no answer"
        raise NotEnoughData(
            "no query has two answers with a nugget score",
            where=why,
            do="add the answers of a second system"
            if set(without) == {ONE_ANSWER}
            else "assign the nuggets: mirage measure nuggets DIR",
        )
    return NuggetBattles(verdicts, chosen, margin, dict(sorted(without.items())), dict(sorted(unscored.items())))
