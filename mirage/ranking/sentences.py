"""Phrases about a ranking, for the page, the command line and the API: ratings, intervals, languages, leads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mirage.text.languages import name_of
from mirage.text.segmentation import join_or_count

FEW_LANGUAGES = 4
"""Number of languages that a sentence names; more are counted."""


def rating_text(value: float) -> str:
    """Return a rating or difference with its sign: `+0.43`."""
    return f"{round(value, 2) + 0.0:+.2f}".replace("-", "\u2212")


def interval_text(low: float | None, high: float | None) -> str:
    """Return a 95% interval in words; an end that is None has no bound."""
    if low is None or high is None:
        return "unbounded" if low is None else f"from {rating_text(low)} upwards, unbounded"
    return f"95% CI {rating_text(low)} to {rating_text(high)}"


def languages_text(languages: Sequence[str]) -> str:
    """Return where a ranking holds: `in Hindi and Swahili`, or `over 16 languages`."""
    names = [name_of(code) for code in languages]
    if len(names) > FEW_LANGUAGES:
        return f"over {len(names)} languages"
    return f"in {' and '.join([', '.join(names[:-1]), names[-1]] if len(names) > 1 else names)}"


def first_systems(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the systems that share the first rank, of rows of a leaderboard in one language."""
    return [row["system"] for row in rows if row["rank"] == 1]


def first_text(first: Sequence[str], systems: int) -> str:
    """Return who ranks first of several systems: `gpt-4 ranks first of 11 systems`, or who share the first rank."""
    if len(first) == 1:
        return f"{first[0]} ranks first of {systems} systems"
    if len(first) == systems:
        return f"All {systems} systems share the first rank"
    return f"{join_or_count(first, 'system')} share the first rank of {systems} systems"


def lead_text(alike: Sequence[str], systems: int) -> str:
    """Return whether the best of several systems is significantly ahead.

    Args:
        alike: systems that no test separates from it.
        systems: number of all systems.
    """
    if not alike:
        return "significantly ahead of all others"
    if len(alike) == systems - 1:
        return "not significantly ahead of any other"
    return f"not significantly ahead of {join_or_count(sorted(alike), 'other system')}"
