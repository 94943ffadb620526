"""People's labels on answers, with the measured values of the same answers.

Labels come from the Spot check page (citations), and from the table `scores`: imported ratings by people,
and files of `mirage votes import --kind answers`. Votes on battles carry no information about the level of a single
answer.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mirage import store
from mirage.errors import NotEnoughData, UnknownName
from mirage.people.votes import Evidence, votes_on
from mirage.ranking.compare.measures import NUGGETS, OF_FEATURE, RATE, QueryMeasure, query_measure
from mirage.schema import Parser
from mirage.stages.features.nuggets import MAIN_SCORE
from mirage.stats.powered_mean import fit_predictions
from mirage.stats.units import Units
from mirage.text.languages import in_order

if TYPE_CHECKING:
    import pyarrow as pa

Array = NDArray[np.float64]
Places = NDArray[np.intp]
Key = tuple[str, str, str]
"""Language, query and system."""

OF_SCORE = "score:"
"""Prefix of a measure that is a scale of the table `scores`."""
ANSWERED = "answered"
"""Scale of labels on outcomes: 1 if the answer answers the question, 0 if it declines to."""
CITATIONS = "citation_precision"
"""The feature that votes on citations correct."""


@dataclass(frozen=True)
class Log:
    """Votes on the answers of an arena, from the database of votes."""

    citations: Sequence[Evidence] = ()
    """Votes on citations, including those of other arenas."""


NO_VOTES = Log()
"""The empty log."""


@dataclass(frozen=True, eq=False)
class Labels:
    """N answers with a measured value, some of them labelled by people."""

    measure: QueryMeasure
    """The measure, in whose unit levels are given."""
    low: float
    """Lowest possible value."""
    high: float
    """Highest possible value."""
    keys: tuple[Key, ...]
    """The answers."""
    subset: tuple[str, ...]
    """N: stratum of the query (`relevant` or `non_relevant`); empty if there are no strata."""
    measured: Array
    """N: the uncorrected value; NaN if there is none."""
    labels: Array
    """N: mean of the people's labels; NaN without a label."""
    judges: Array
    """N x J: values of every program that measures the same quantity; NaN where it has none."""
    features: Array
    """N x K: further predictors; NaN where unknown."""
    names: tuple[str, ...]
    """Names of the J programs and the K features."""
    changed: int
    """Labels left out because their answer has changed since."""

    @property
    def n_labels(self) -> int:
        """Number of labelled answers."""
        return int((~np.isnan(self.labels)).sum())

    @cached_property
    def languages(self) -> tuple[str, ...]:
        """The languages, in the order of their codes."""
        return tuple(in_order({key[0] for key in self.keys}))

    @cached_property
    def systems(self) -> tuple[str, ...]:
        """The systems, sorted by name."""
        return tuple(sorted({key[2] for key in self.keys}))

    @cached_property
    def _units(self) -> tuple[Units, Mapping[tuple[str, str], int]]:
        queries: dict[str, dict[str, None]] = {code: {} for code in self.languages}
        for language, query, _ in self.keys:
            queries[language][query] = None
        units = Units({code: tuple(ids) for code, ids in queries.items()})
        number = {
            (code, query): int(k)
            for code, ids in units.queries.items()
            for query, k in zip(ids, units.numbers[code].tolist(), strict=True)
        }
        return units, number

    @property
    def units(self) -> Units:
        """The sampling units of the queries."""
        return self._units[0]

    @cached_property
    def unit(self) -> Places:
        """N: the unit of each answer."""
        number = self._units[1]
        return np.array([number[language, query] for language, query, _ in self.keys], dtype=np.intp)

    def scale(self, values: Array) -> Array:
        """Convert values to [0, 1]."""
        return np.asarray(np.clip((values - self.low) / (self.high - self.low), 0.0, 1.0))

    @cached_property
    def scaled(self) -> Array:
        """N: the labels in [0, 1]."""
        return self.scale(self.labels)

    @cached_property
    def predictions(self) -> Array:
        """N: predictions of the labels in [0, 1], cross-fitted over queries."""
        return fit_predictions(self.scale(self.judges), self.scaled, self.unit, features=self.features)

    def of(self, *, language: str | None = None, system: str | None = None, subset: str | None = None) -> Places:
        """Return the indices of some answers."""
        rows = [
            k
            for k, (key, part) in enumerate(zip(self.keys, self.subset, strict=True))
            if language in (None, key[0]) and system in (None, key[2]) and subset in (None, part)
        ]
        return np.array(rows, dtype=np.intp)


def label_measures(arena: store.Arena, log: Log = NO_VOTES) -> tuple[str, ...]:
    """Return the measures with people's labels on answers of an arena.

    Args:
        arena: the arena.
        log: votes on citations.
    """
    found: list[str] = []
    scales = set(_scores(arena, person=True))
    if not (scales or log.citations):
        return ()
    if ANSWERED in scales and "outcomes" in arena.tables:
        found.append(RATE)
    features = _feature_names(arena)
    if log.citations and CITATIONS in features and votes_on(arena, log.citations).counting:
        found.append(OF_FEATURE + CITATIONS)
    found += [OF_FEATURE + name for name in sorted(scales & features) if OF_FEATURE + name not in found]
    return (*found, *(OF_SCORE + name for name in sorted(scales - features - {ANSWERED})))


def read_labels(
    arena: store.Arena,
    name: str,
    log: Log = NO_VOTES,
    *,
    languages: Sequence[str] | None = None,
    parser: Parser = "strict",
    predictors: Sequence[str] = (),
) -> Labels:
    """Read the labels and the measured values of a measure.

    Args:
        arena: the arena.
        name: `rate`, `feature:NAME` or `score:NAME`.
        log: votes on citations.
        languages: codes; None for all.
        parser: parser whose outcomes are corrected, for `rate`; the others are predictors.
        predictors: features to use as predictors of the labels.

    Raises:
        UnknownName: if there is no such measure, language or feature.
        TableMissing: if the arena lacks the table of the measure.
        NotEnoughData: if people labelled no answer; the message names the command to get labels.
    """
    source = _source(arena, name, log, languages=languages, parser=parser)
    keys = tuple(source.measured)
    if not any(key in source.labels for key in keys):
        raise NotEnoughData(
            f"no answer has people's labels for {name}" + (" that is unchanged since" if source.changed else ""),
            do=how_to_label(arena, name),
        )
    others = _program_scores(arena, source.scale, languages)
    known = _features(arena, predictors, languages)
    extra = {**others, **known}
    matrix = np.array([[values.get(key, np.nan) for values in extra.values()] for key in keys], dtype=float)
    return Labels(
        measure=source.measure,
        low=source.low,
        high=source.high,
        keys=keys,
        subset=tuple(source.subset.get(key, "") for key in keys),
        measured=_column(keys, source.measured),
        labels=_column(keys, {key: float(np.mean(of)) for key, of in source.labels.items()}),
        judges=np.column_stack([_column(keys, values) for values in source.judges.values()])
        if source.judges
        else np.zeros((len(keys), 0)),
        features=matrix.reshape(len(keys), len(extra)),
        names=(*source.judges, *extra),
        changed=source.changed,
    )


def how_to_label(arena: store.Arena, name: str) -> str:
    """Return how to get labels of a measure."""
    if name == OF_FEATURE + CITATIONS:
        return "vote on the Spot check page, with the switch on citations"
    return f"import people's labels: mirage votes import FILE --kind answers --arena {arena.address}"


@dataclass(frozen=True)
class _Source:
    measure: QueryMeasure
    low: float
    high: float
    measured: Mapping[Key, float | None]
    labels: Mapping[Key, Sequence[float]]
    judges: Mapping[str, Mapping[Key, float | None]]
    subset: Mapping[Key, str]
    scale: str
    changed: int = 0


def _source(
    arena: store.Arena,
    name: str,
    log: Log,
    *,
    languages: Sequence[str] | None,
    parser: Parser,
) -> _Source:
    if name == RATE:
        return _outcomes(arena, languages, parser)
    if name == NUGGETS:
        raise NotEnoughData("people do not label nuggets", do=f"choose {OF_FEATURE}{MAIN_SCORE}, with imported scores")
    if name.startswith(OF_SCORE):
        return _scale(arena, name, languages)
    return _feature(arena, name, log.citations, languages)


def _outcomes(arena: store.Arena, languages: Sequence[str] | None, parser: Parser) -> _Source:
    """Read wrong decisions to answer or abstain, by parsers and by people."""
    arena.need("outcomes")
    names = ("language", "query_id", "system", "parser", "subset", "outcome", "correct")
    table = arena.read("outcomes", columns=list(names), languages=languages)
    parsers = set(table["parser"].to_pylist())
    if parser not in parsers:
        raise UnknownName("parser", parser, sorted(parsers), where="the outcomes")
    wrong: dict[str, dict[Key, float | None]] = {name: {} for name in sorted(parsers)}
    subset: dict[Key, str] = {}
    for language, query, system, by, part, outcome, correct in zip(
        *(table[column].to_pylist() for column in names), strict=True
    ):
        if outcome != "missing":
            wrong[by][language, query, system] = None if correct is None else 1.0 - float(correct)
            subset[language, query, system] = part
    by_people, by_programs = (
        _scores(arena, person=person, languages=languages).get(ANSWERED, {}) for person in (True, False)
    )

    def decide(key: Key, answered: float) -> float:
        return answered if subset[key] == "non_relevant" else 1.0 - answered

    labels = {key: [decide(key, value) for value, _ in given] for key, given in by_people.items() if key in subset}
    judges: dict[str, Mapping[Key, float | None]] = {f"{by} parser": values for by, values in wrong.items()}
    for key, given in by_programs.items():
        if key in subset:
            for value, rater in given:
                judges.setdefault(rater, {})[key] = decide(key, value)  # type: ignore[index]
    return _Source(query_measure(RATE), 0.0, 1.0, wrong[parser], labels, judges, subset, ANSWERED)


def _majority(words: Sequence[str]) -> str | None:
    ranked = Counter(words).most_common(2)
    return None if not ranked or (len(ranked) > 1 and ranked[0][1] == ranked[1][1]) else ranked[0][0]


def _feature(arena: store.Arena, name: str, log: Iterable[Evidence], languages: Sequence[str] | None) -> _Source:
    """Read a bounded feature, and people's labels of it."""
    from mirage.stages.features import FEATURES

    measure = query_measure(name)
    feature = name.removeprefix(OF_FEATURE)
    spec = FEATURES[feature]
    if spec.low is None or spec.high is None:
        raise NotEnoughData(
            f"{feature} has no range, so people cannot label it", do="choose a measure with a lowest and highest value"
        )
    arena.need("features")
    values = _values(arena.read("features", languages=languages), feature)
    labels: dict[Key, list[float]] = {
        key: [value for value, _ in given]
        for key, given in _scores(arena, person=True, languages=languages).get(feature, {}).items()
    }
    changed = 0
    if feature == CITATIONS:
        rows = votes_on(arena, log)
        changed = len(rows.changed)
        opinions: dict[Key, dict[tuple[int, str], list[str]]] = defaultdict(lambda: defaultdict(list))
        for vote in rows.counting:
            key = vote.language, vote.query_id, vote.system
            opinions[key][vote.sentence, vote.passage_id].append(vote.vote)
        for key, citations in opinions.items():
            clear = [word == "yes" for words in citations.values() if (word := _majority(words)) in ("yes", "no")]
            if clear:
                labels[key] = [float(np.mean(clear))]
    measured = _with_value(values)
    return _Source(
        measure, float(spec.low), float(spec.high), measured, labels, {feature: measured}, {}, feature, changed
    )


def _with_value(values: Mapping[Key, float | None]) -> dict[Key, float | None]:
    """Return the answers that have a value; others are outside the measure."""
    return {key: value for key, value in values.items() if value is not None}


def _scale(arena: store.Arena, name: str, languages: Sequence[str] | None) -> _Source:
    """Read people's and programs' scores on a scale."""
    scale = name.removeprefix(OF_SCORE)
    arena.need("scores")
    by_people = _scores(arena, person=True, languages=languages)
    if scale not in by_people:
        raise UnknownName("scale", scale, sorted(by_people), where="people's scores")
    ends = arena.sql(
        "SELECT min(least(low, high)) AS a, max(greatest(low, high)) AS b FROM scores WHERE measure = ?", [scale]
    )
    low, high = ends["a"].to_pylist()[0], ends["b"].to_pylist()[0]
    if low is None or high is None or not low < high:
        raise NotEnoughData(f"the ends of the scale {scale} are not known", do="import scores with low and high")
    judges: dict[str, dict[Key, float | None]] = {}
    for key, given in _scores(arena, person=False, languages=languages).get(scale, {}).items():
        for value, rater in given:
            judges.setdefault(rater, {})[key] = value
    labels = {key: [value for value, _ in given] for key, given in by_people[scale].items()}
    measured: dict[Key, float | None] = dict.fromkeys(_answers(arena, languages), None)
    measured |= dict.fromkeys(labels, None)
    for values in judges.values():
        measured |= values
    title = f"people's score {scale}, from {low:g} to {high:g}; higher is better"
    measure = QueryMeasure(name, title, "", 1, high - low)
    return _Source(measure, float(low), float(high), measured, labels, judges, {}, scale)


def _answers(arena: store.Arena, languages: Sequence[str] | None) -> list[Key]:
    if "answers" not in arena.tables:
        return []
    table = arena.read("answers", columns=["language", "query_id", "system", "status"], languages=languages)
    names = ("language", "query_id", "system", "status")
    rows = zip(*(table[name].to_pylist() for name in names), strict=True)
    return [(language, query, system) for language, query, system, status in rows if status == "ok"]


def _scores(
    arena: store.Arena, *, person: bool, languages: Sequence[str] | None = None
) -> dict[str, dict[Key, list[tuple[float, str]]]]:
    """Return the values and raters of scores, by scale and answer."""
    if "scores" not in arena.tables:
        return {}
    names = ("measure", "language", "query_id", "system", "value", "rater", "person")
    held = arena.languages("scores")
    table = arena.read(
        "scores",
        columns=list(names),
        languages=None if languages is None else [code for code in languages if code in held],
    )
    found: dict[str, dict[Key, list[tuple[float, str]]]] = {}
    for scale, language, query, system, value, rater, by_person in zip(
        *(table[name].to_pylist() for name in names), strict=True
    ):
        if by_person is person and value is not None:
            found.setdefault(scale, {}).setdefault((language, query, system), []).append((value, rater))
    return found


def _program_scores(arena: store.Arena, scale: str, languages: Sequence[str] | None) -> dict[str, dict[Key, float]]:
    """Return programs' scores on other scales, as predictors."""
    return {
        other: {key: float(np.mean([value for value, _ in given])) for key, given in values.items()}
        for other, values in sorted(_scores(arena, person=False, languages=languages).items())
        if other != scale
    }


def _features(arena: store.Arena, names: Sequence[str], languages: Sequence[str] | None) -> dict[str, dict[Key, float]]:
    if not names:
        return {}
    arena.need("features")
    table = arena.read("features", languages=languages)
    known = set(table["feature"].to_pylist())
    for name in names:
        if name not in known:
            raise UnknownName("feature", name, sorted(known), where=arena.address)
    return {name: {key: v for key, v in _values(table, name).items() if v is not None} for name in names}


def _feature_names(arena: store.Arena) -> set[str]:
    if "features" not in arena.tables:
        return set()
    from mirage.stages.features import FEATURES

    names = arena.sql("SELECT DISTINCT feature FROM features WHERE value IS NOT NULL")["feature"].to_pylist()
    return {name for name in names if name in FEATURES and None not in (FEATURES[name].low, FEATURES[name].high)}


def _values(table: pa.Table, feature: str) -> dict[Key, float | None]:
    import pyarrow.compute as pc

    rows = table.filter(pc.equal(table["feature"], feature))
    names = ("language", "query_id", "system", "value")
    return {
        (language, query, system): value
        for language, query, system, value in zip(*(rows[name].to_pylist() for name in names), strict=True)
    }


def _column(keys: Sequence[Key], values: Mapping[Key, float | None]) -> Array:
    given = (values.get(key) for key in keys)
    return np.array([np.nan if value is None else value for value in given], dtype=float)
