"""Votes on citations: the share of a system's citations that support the citing sentence.

Answers are sampled at random and people go through all citations of one before the next, so the answer is the cluster
of every interval. Several votes on one citation count by majority; without a majority it is unclear.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mirage import schema
from mirage.errors import NotEnoughData
from mirage.people.votes.rows import Evidence, majority
from mirage.schema import PEOPLE, Code, Count, Share, Support, SupportGrade
from mirage.stats.intervals import clustered_proportion

if TYPE_CHECKING:
    import pyarrow as pa

EVERYBODY = "all"
"""The row of all systems of a language."""
ENOUGH_ANSWERS = 30
"""Number of answers from which the share is reliable."""
_GRADES: dict[str, Support] = {"yes": "full", "no": "none"}


@dataclass(frozen=True, slots=True)
class CitationSupport:
    """Citation support of one system in one language, by votes."""

    key = ("language", "system")

    language: Code
    """Language of the queries."""
    system: str
    """The system; `all`: every system of the language pooled, so that those with many citations weigh more."""
    supported: Share | None
    """Share of the clear citations whose passage supports the sentence."""
    supported_low: Share | None
    """Lower end of its 95% interval, the answer as the cluster; null with fewer than two answers."""
    supported_high: Share | None
    """Upper end."""
    citations: Count
    """Clear citations: a majority for yes, or for no."""
    unclear: Count
    """Other citations, excluded."""
    answers: Count
    """Answers with a clear citation."""
    voters: Count
    """People who voted."""
    reason: str | None
    """Reason why there is no share or no interval; null if both exist."""


def support_by_system(log: Iterable[Evidence]) -> list[CitationSupport]:
    """Compute citation support by language and system, and for all systems of each language.

    Args:
        log: valid votes on citations (`rows.standing`).
    """
    by_system: dict[tuple[str, str], list[Evidence]] = defaultdict(list)
    for vote in log:
        by_system[vote.language, vote.system].append(vote)
        by_system[vote.language, EVERYBODY].append(vote)
    return [_support(*key, votes) for key, votes in sorted(by_system.items())]


def support_grades(log: Iterable[Evidence]) -> pa.Table:
    """Convert votes on citations to grades: `schema.SupportGrade` rows of the grader `people`.

    `yes` is full support, `no` is none; without a majority for either, there is no grade.

    Args:
        log: valid votes on citations (`rows.standing`).
    """
    rows = []
    for key, word in majorities(log).items():
        grade = _GRADES.get(word)
        rows.append(SupportGrade(*key, PEOPLE, grade, None if grade else "people find it unclear or disagree", None))
    return schema.sort("support_grades", schema.from_rows("support_grades", rows))


def majorities(log: Iterable[Evidence]) -> dict[tuple[str, str, str, int, str], str]:
    """Return the majority vote on each citation (`rows.majority`), by language, query, system, sentence and passage."""
    opinions: dict[tuple[str, str, str, int, str], list[str]] = defaultdict(list)
    for vote in log:
        opinions[vote.language, vote.query_id, vote.system, vote.sentence, vote.passage_id].append(vote.vote)
    return {key: majority(words) for key, words in opinions.items()}


def _support(language: str, system: str, votes: list[Evidence]) -> CitationSupport:
    words = majorities(votes)
    answers: dict[tuple[str, str], list[bool]] = defaultdict(list)
    for (_, query, name, *_), word in words.items():
        if word in _GRADES:
            answers[query, name].append(word == "yes")
    cells = [(sum(yes), len(yes)) for yes in answers.values()]
    n = sum(n for _, n in cells)
    share, low, high, reason = _share(cells)
    voters = len({vote.voter for vote in votes})
    return CitationSupport(language, system, share, low, high, n, len(words) - n, len(cells), voters, reason)


def _share(cells: list[tuple[int, int]]) -> tuple[float | None, float | None, float | None, str | None]:
    if not cells:
        return None, None, None, "no citation is clear"
    try:
        return *clustered_proportion(cells), None
    except NotEnoughData:
        return cells[0][0] / cells[0][1], None, None, "one answer has no interval"
