"""Counts of the categories of notes, by system and language."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from mirage.errors import NotEnoughData
from mirage.people.votes.rows import Note, item, noted_systems, split_categories
from mirage.schema import CodeOrAll, Count, Share
from mirage.stats.intervals import clustered_proportion
from mirage.text.languages import in_order

EVERYTHING = "all"
"""The row of all systems, or of all languages."""
ANSWERS: Literal["answers"] = "answers"
BATTLES: Literal["battles"] = "battles"


@dataclass(frozen=True, slots=True)
class CategoryCount:
    """One category among the notes on one system's answers, or on its battles, in one language."""

    key = ("about", "language", "system", "category")

    about: Literal["answers", "battles"]
    """Whether the notes are on single answers or on battles."""
    language: CodeOrAll
    """Language of the queries; `all`: every language pooled."""
    system: str
    """The system; `all`: every system pooled, a battle counting once."""
    category: str
    """The category."""
    k: Count
    """Noted answers (battles) with a note of the category."""
    n: Count
    """Answers (battles) with a categorised note by anybody."""
    rate: Share
    """k / n: the share among what people chose to note, not among all answers."""
    rate_low: Share | None
    """Lower end of its 95% interval, the query as the cluster; null with fewer than two queries."""
    rate_high: Share | None
    """Upper end."""
    queries: Count
    """Number of queries, the units of the interval."""
    authors: Count
    """Number of people who wrote the notes."""
    reason: str | None
    """Reason why there is no interval."""


@dataclass
class _Group:
    """Noted answers or battles of one row of the table."""

    categories: dict[tuple[str, ...], set[str]] = field(default_factory=lambda: defaultdict(set))
    """Categories by target."""
    authors: set[str] = field(default_factory=set)


def count_categories(notes: Iterable[Note], order: Sequence[str] = ()) -> list[CategoryCount]:
    """Count the categories of notes by system and language, with 95% intervals clustered by query.

    Several notes on one answer count once: the answer has the union of their categories. Notes without a
    category do not count.

    Args:
        notes: those that stand (`rows.standing`), of one arena.
        order: names of categories in the order of the rows; others follow by name.

    Returns:
        Rows for answers, then battles; in each by language, system and category, with `all` last. A row is there, with
        k = 0, for every category that any note has.
    """
    rows = []
    listed = list(notes)
    for about in (ANSWERS, BATTLES):
        groups: dict[tuple[str, str], _Group] = defaultdict(_Group)
        for note in listed:
            names = split_categories(note.categories)
            if not names or (note.system is None) != (about == BATTLES):
                continue
            for language in (note.language, EVERYTHING):
                for system in (*noted_systems(note), EVERYTHING):
                    group = groups[language, system]
                    group.categories[item(note)].update(names)
                    group.authors.add(note.voter)
        rows += _table(about, groups, order)
    return rows


def _table(
    about: Literal["answers", "battles"], groups: dict[tuple[str, str], _Group], order: Sequence[str]
) -> list[CategoryCount]:
    """Return the rows of answers, or of battles."""
    used = set().union(*(names for group in groups.values() for names in group.categories.values()))
    categories = [*(name for name in order if name in used), *sorted(used - set(order))]
    languages = in_order(language for language, _ in groups if language != EVERYTHING)
    systems = sorted({system for _, system in groups} - {EVERYTHING})
    return [
        _row(about, (language, system), groups[language, system], category)
        for language in (languages if len(languages) == 1 else [*languages, EVERYTHING])
        for system in (systems if len(systems) == 1 else [*systems, EVERYTHING])
        if (language, system) in groups
        for category in categories
    ]


def _row(about: Literal["answers", "battles"], place: tuple[str, str], group: _Group, category: str) -> CategoryCount:
    language, system = place
    of_query: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for noted, names in group.categories.items():
        of_query[noted[:2]].append(category in names)
    cells = [(sum(given), len(given)) for given in of_query.values()]
    k, n = sum(k for k, _ in cells), sum(n for _, n in cells)
    low = high = reason = None
    try:
        _, low, high = clustered_proportion(cells)
    except NotEnoughData:
        reason = "one query has no interval"
    return CategoryCount(
        about, language, system, category, k, n, k / n, low, high, len(cells), len(group.authors), reason
    )
