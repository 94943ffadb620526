"""Levels corrected by people's labels, for the pages."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from mirage.errors import MirageError
from mirage.explorer.kit import votes as people
from mirage.people.levels import Levels, correct_levels, label_measures, read_labels
from mirage.people.votes.kinds import Evidence

if TYPE_CHECKING:
    from mirage.store import Arena

Version = tuple[object, ...]


def measures_at(arena: Arena) -> tuple[str, ...]:
    """Return the measures with people's labels on answers; empty if the votes cannot be read and none were imported.

    Args:
        arena: the arena.
    """
    return _measures(arena, _version())


@lru_cache(maxsize=16)
def _measures(arena: Arena, version: Version) -> tuple[str, ...]:
    return label_measures(arena, _log(version))


def levels_at(arena: Arena, measure: str, languages: tuple[str, ...], parser: str = "strict") -> Levels | MirageError:
    """Return the corrected levels of a measure, or why there are none.

    Args:
        arena: the arena.
        measure: `rate`, `feature:NAME` or `score:NAME`.
        languages: codes.
        parser: parser whose outcomes are corrected, for `rate`.
    """
    return _levels(arena, measure, languages, parser, _version())


@lru_cache(maxsize=16)
def _levels(
    arena: Arena, measure: str, languages: tuple[str, ...], parser: str, version: Version
) -> Levels | MirageError:
    try:
        labels = read_labels(arena, measure, _log(version), languages=languages, parser=parser)  # type: ignore[arg-type]
        return correct_levels(labels)
    except MirageError as error:
        return error


def _version() -> Version:
    """Return the version of the votes on citations; empty if the database does not answer."""
    try:
        return people.level_version()
    except MirageError:
        return ()


@lru_cache(maxsize=2)
def _log(version: Version) -> tuple[Evidence, ...]:
    return tuple(people.database().rows(Evidence)) if version else ()
