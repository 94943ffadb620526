"""Corrected levels of an arena, with the votes of the user's database."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mirage import store
from mirage.errors import NotEnoughData
from mirage.people.levels.comparing import compare_corrected
from mirage.people.levels.labels import NO_VOTES, Labels, Log, how_to_label, label_measures, read_labels
from mirage.people.votes import Evidence, Votes
from mirage.ranking.compare.measures import OF_FEATURE, RATE, RATING
from mirage.ranking.compare.records import ComparisonReport
from mirage.ranking.settings import CompareSettings


def read_log(url: str | None = None) -> Log:
    """Read the votes on citations.

    Args:
        url: the database; None for the user's own, or that of MIRAGE_VOTES_URL.

    Raises:
        Unreachable: if the database does not respond.
    """
    with Votes(url) as database:
        return Log(tuple(database.rows(Evidence)))


def labels_of(
    arena: store.Arena,
    measures: Iterable[str] | None = None,
    log: Log = NO_VOTES,
    *,
    languages: Sequence[str] | None = None,
    predictors: Sequence[str] = (),
) -> list[Labels]:
    """Read the labels of some measures; None for all with people's labels.

    Raises:
        NotEnoughData: if there are no labels.
        UnknownName: if there is no such measure, language or feature.
        TableMissing: if the arena lacks the table of a measure.
    """
    names = label_measures(arena, log) if measures is None else tuple(measures)
    if not names:
        raise NotEnoughData(f"no answer of {arena.name} has people's labels", do=how_to_label(arena, RATE))
    return [read_labels(arena, name, log, languages=languages, predictors=predictors) for name in names]


def compare_labelled(
    arena: store.Arena, first: str, second: str, settings: CompareSettings, log: Log = NO_VOTES
) -> ComparisonReport:
    """Compare two systems of an arena by levels corrected by people's labels.

    Raises:
        NotEnoughData: for ratings, or if there are too few labels.
        UnknownName: if there is no such system, measure or language.
    """
    _need_level(settings.measure)
    labels = _read(arena, settings.measure, log, settings)
    return compare_corrected(labels, first, second, margin=settings.margin)


def _read(arena: store.Arena, name: str, log: Log, settings: CompareSettings) -> Labels:
    return read_labels(arena, name, log, languages=settings.languages, parser=settings.parser)


def _need_level(name: str) -> None:
    if name == RATING:
        raise NotEnoughData(
            "a rating is not a property of single answers, so labels on answers cannot correct it",
            do=f"correct ratings by votes on battles (mirage votes correct), or choose {RATE}, "
            f"{OF_FEATURE}NAME or score:NAME",
        )
