"""People's labels on answers, with the measured values of the same answers, and the import of files of labels.

Labels come from the Spot check page (citations), and from the table `scores`: imported ratings by people,
and files of `mirage votes import --kind answers`. Votes on battles carry no information about the level of a single
answer.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from mirage import schema
from mirage.errors import BadInput, NotEnoughData, UnknownName
from mirage.people.votes.belonging import votes_on
from mirage.people.votes.kinds import Evidence
from mirage.people.votes.rows import majorities, read_row
from mirage.ranking.compare.measures import NUGGETS, OF_FEATURE, RATE, QueryMeasure, query_measure
from mirage.stages.features.nuggets import MAIN_SCORE
from mirage.stats.arrays import Array, Places
from mirage.stats.powered_mean import mean_of_programs
from mirage.stats.units import Units
from mirage.store import records
from mirage.store.arena import Arena, open_arena
from mirage.store.upsert import by_key, upsert
from mirage.text.languages import in_order

Key = tuple[str, str, str]
"""Language, query and system."""

OF_SCORE = "score:"
"""Prefix of a measure that is a scale of the table `scores`."""
ANSWERED = "answered"
"""Scale of labels on outcomes: 1 if the answer answers the question, 0 if it declines to."""
_NAMES = ("query_id", "system", "measure", "rater")
_WORDS = {"answered": 1.0, "abstained": 0.0}
"""Words for a value of the scale `answered`."""
CITATIONS = "citation_precision"
"""The feature that votes on citations correct."""


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
    names: tuple[str, ...]
    """Names of the J programs."""
    changed: int
    """Labels left out because their answer has changed since."""

    def n_labels(self, places: Sequence[int] | slice = slice(None)) -> int:
        """Return the number of labelled answers among those at some places; of all by default."""
        return int((~np.isnan(self.labels[places])).sum())

    @cached_property
    def languages(self) -> tuple[str, ...]:
        """The languages, in the order of their codes."""
        return tuple(in_order({key[0] for key in self.keys}))

    @cached_property
    def unit(self) -> Places:
        """N: the sampling unit of each answer's query."""
        queries: dict[str, dict[str, None]] = {code: {} for code in self.languages}
        for language, query, _ in self.keys:
            queries[language][query] = None
        units = Units({code: tuple(ids) for code, ids in queries.items()})
        number = {
            code: dict(zip(ids, units.numbers[code].tolist(), strict=True)) for code, ids in units.queries.items()
        }
        return np.array([number[language][query] for language, query, _ in self.keys], dtype=np.intp)

    def scale(self, values: Array) -> Array:
        """Convert values to [0, 1]."""
        return np.clip((values - self.low) / (self.high - self.low), 0.0, 1.0)

    @cached_property
    def scaled(self) -> Array:
        """N: the labels in [0, 1]."""
        return self.scale(self.labels)

    @cached_property
    def predictions(self) -> Array:
        """N: the mean of the programs' values in [0, 1]; the overall mean for answers without any."""
        return mean_of_programs(self.scale(self.judges))


def label_measures(arena: Arena, log: Sequence[Evidence] = ()) -> tuple[str, ...]:
    """Return the measures with people's labels on answers of an arena.

    Args:
        arena: the arena.
        log: votes on citations, including those of other arenas.
    """
    from mirage.stages.features.families import FEATURES

    scales = {scale for person, scale in _read_scores(arena) if person}
    if not (scales or log):
        return ()
    found = [RATE] if ANSWERED in scales and "outcomes" in arena.tables else []
    features: set[str] = set()
    if "features" in arena.tables:
        names = arena.sql("SELECT DISTINCT feature FROM features WHERE value IS NOT NULL")["feature"].to_pylist()
        features = {
            name for name in names if name in FEATURES and None not in (FEATURES[name].low, FEATURES[name].high)
        }
    if log and CITATIONS in features and votes_on(arena, log).counting:
        found.append(OF_FEATURE + CITATIONS)
    found += [OF_FEATURE + name for name in sorted(scales & features) if OF_FEATURE + name not in found]
    return (*found, *(OF_SCORE + name for name in sorted(scales - features - {ANSWERED})))


def read_labels(
    arena: Arena,
    name: str,
    log: Sequence[Evidence] = (),
    *,
    languages: Sequence[str] | None = None,
    parser: schema.Parser = "strict",
) -> Labels:
    """Read the labels and the measured values of a measure.

    Args:
        arena: the arena.
        name: `rate`, `feature:NAME` or `score:NAME`.
        log: votes on citations, including those of other arenas.
        languages: codes; None for all.
        parser: parser whose outcomes are corrected, for `rate`; the others help to predict the labels.

    Raises:
        UnknownName: if there is no such measure, language or parser.
        TableMissing: if the arena lacks the table of the measure.
        NotEnoughData: if people labelled no answer; the message names the command to get labels.
    """
    scores = _read_scores(arena, languages)
    if name == RATE:
        found = _outcomes(arena, scores, languages, parser)
    elif name == NUGGETS:
        raise NotEnoughData("people do not label nuggets", do=f"choose {OF_FEATURE}{MAIN_SCORE}, with imported scores")
    elif name.startswith(OF_SCORE):
        found = _scale(arena, name, scores, languages)
    else:
        found = _feature(arena, name, scores, log, languages)
    if not found.n_labels():
        raise NotEnoughData(
            f"no answer has people's labels for {name}" + (" that is unchanged since" if found.changed else ""),
            do=how_to_label(arena, name),
        )
    return found


def how_to_label(arena: Arena, name: str) -> str:
    """Return how to get labels of a measure; the arena must have the answers."""
    if name == OF_FEATURE + CITATIONS:
        return "vote on the Spot check page, with the switch on citations"
    arena.need("answers")
    return f"import people's labels: {arena.fill('mirage votes import FILE --kind answers --arena DIR')}"


Values = dict[Key, float | None]
Scores = Mapping[tuple[bool, str], Mapping[Key, Sequence[tuple[float, str]]]]
"""Values with their raters by person or program, scale, and answer."""


def _collect(
    measure: QueryMeasure,
    ends: tuple[float, float],
    measured: Values,
    labels: Mapping[Key, Sequence[float]],
    judges: Mapping[str, Values],
    subset: Mapping[Key, str] | None = None,
    changed: int = 0,
) -> Labels:
    """Return the answers with a measured value as arrays."""
    keys = tuple(measured)
    return Labels(
        measure,
        *ends,
        keys,
        tuple((subset or {}).get(key, "") for key in keys),
        _matrix(keys, [measured])[:, 0],
        _matrix(keys, [{key: float(np.mean(of)) for key, of in labels.items()}])[:, 0],
        _matrix(keys, judges.values()),
        tuple(judges),
        changed,
    )


def _outcomes(arena: Arena, scores: Scores, languages: Sequence[str] | None, parser: schema.Parser) -> Labels:
    """Read wrong decisions to answer or abstain, by parsers and by people."""
    arena.need("outcomes")
    columns = ("parser", "subset", "outcome", "correct")
    table = arena.read("outcomes", columns=[*_KEY, *columns], languages=languages)
    judges: dict[str, Values] = {f"{by} parser": {} for by in sorted(set(table["parser"].to_pylist()))}
    if f"{parser} parser" not in judges:
        parsers = [name.removesuffix(" parser") for name in judges]
        raise UnknownName("parser", parser, parsers, where="the outcomes")
    subset: dict[Key, str] = {}
    for key, (by, part, outcome, correct) in _rows(table, *columns):
        if outcome != "missing":
            judges[f"{by} parser"][key] = None if correct is None else 1.0 - float(correct)
            subset[key] = part

    def decide(key: Key, answered: float) -> float:
        return answered if subset[key] == "non_relevant" else 1.0 - answered

    by_people, by_programs = (scores.get((person, ANSWERED), {}) for person in (True, False))
    labels = {key: [decide(key, value) for value, _ in given] for key, given in by_people.items() if key in subset}
    measured = judges[f"{parser} parser"]
    for key, given in by_programs.items():
        for value, rater in given if key in subset else ():
            judges.setdefault(rater, {})[key] = decide(key, value)
    return _collect(query_measure(RATE), (0.0, 1.0), measured, labels, judges, subset)


def _feature(
    arena: Arena, name: str, scores: Scores, log: Sequence[Evidence], languages: Sequence[str] | None
) -> Labels:
    """Read a bounded feature, and people's labels of it."""
    from mirage.stages.features.families import FEATURES

    measure = query_measure(name)
    feature = name.removeprefix(OF_FEATURE)
    spec = FEATURES[feature]
    if spec.low is None or spec.high is None:
        raise NotEnoughData(
            f"{feature} has no range, so people cannot label it", do="choose a measure with a lowest and highest value"
        )
    arena.need("features")
    labels = {key: [value for value, _ in given] for key, given in scores.get((True, feature), {}).items()}
    changed = 0
    if feature == CITATIONS:
        rows = votes_on(arena, log)
        changed = len(rows.changed)
        clear: dict[Key, list[float]] = {}
        for (language, query, system, *_), grade in majorities(rows.counting).items():
            if grade is not None:
                clear.setdefault((language, query, system), []).append(float(grade == "full"))
        labels |= {key: [float(np.mean(votes))] for key, votes in clear.items()}
    measured = _values(arena.read("features", languages=languages), feature)
    ends = float(spec.low), float(spec.high)
    return _collect(measure, ends, measured, labels, {feature: measured}, changed=changed)


def _scale(arena: Arena, name: str, scores: Scores, languages: Sequence[str] | None) -> Labels:
    """Read people's and programs' scores on a scale."""
    scale = name.removeprefix(OF_SCORE)
    arena.need("scores")
    if (True, scale) not in scores:
        names = sorted(other for person, other in scores if person)
        raise UnknownName("scale", scale, names, where="people's scores")
    ends = arena.sql(
        "SELECT min(least(low, high)) AS a, max(greatest(low, high)) AS b FROM scores WHERE measure = ?", [scale]
    )
    low, high = ends.to_pylist()[0].values()
    if low is None or high is None or not low < high:
        raise NotEnoughData(f"the ends of the scale {scale} are not known", do="import scores with low and high")
    judges: dict[str, Values] = {}
    for key, given in scores.get((False, scale), {}).items():
        for value, rater in given:
            judges.setdefault(rater, {})[key] = value
    labels = {key: [value for value, _ in given] for key, given in scores[True, scale].items()}
    measured: Values = {}
    if "answers" in arena.tables:
        table = arena.read("answers", columns=[*_KEY, "status"], languages=languages)
        measured = {key: None for key, (status,) in _rows(table, "status") if status == "ok"}
    measured |= dict.fromkeys(labels)
    for values in judges.values():
        measured |= values
    title = f"people's score {scale}, from {low:g} to {high:g}; higher is better"
    measure = QueryMeasure(name, title, "", 1, high - low)
    return _collect(measure, (float(low), float(high)), measured, labels, judges)


def _read_scores(arena: Arena, languages: Sequence[str] | None = None) -> Scores:
    if "scores" not in arena.tables:
        return {}
    held = arena.languages("scores")
    table = arena.read("scores", languages=None if languages is None else [code for code in languages if code in held])
    found: dict[tuple[bool, str], dict[Key, list[tuple[float, str]]]] = {}
    for key, (scale, value, rater, person) in _rows(table, "measure", "value", "rater", "person"):
        if value is not None:
            found.setdefault((bool(person), scale), {}).setdefault(key, []).append((value, rater))
    return found


_KEY = ("language", "query_id", "system")


def _rows(table: pa.Table, *names: str) -> Iterable[tuple[Key, tuple[Any, ...]]]:
    """Return the answer and some columns of each row."""
    keys, values = (zip(*(table[name].to_pylist() for name in part), strict=True) for part in (_KEY, names))
    return zip(keys, values, strict=True)


def _values(table: pa.Table, feature: str) -> Values:
    """Return the answers with a value of a feature; others are outside the measure."""
    import pyarrow.compute as pc

    rows = table.filter(pc.and_(pc.equal(table["feature"], feature), pc.is_valid(table["value"])))
    return {key: value for key, (value,) in _rows(rows, "value")}


def _matrix(keys: Sequence[Key], columns: Iterable[Mapping[Key, float | None]]) -> Array:
    """Return the values of some answers (N x K); NaN where unknown."""
    rows = zip(*([values.get(key) for key in keys] for values in columns), strict=True)
    return np.array(list(rows), dtype=float).reshape(len(keys), -1)


# --- files of labels --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class LabelImport:
    """Result of importing a file of labels."""

    arena: Arena
    """The arena with the labels."""
    labels: int
    """Labels written."""
    changed: int
    """Labels left out because the arena's answer has changed since."""


def import_labels(path: Path, file: Path, *, made_by: str) -> LabelImport:
    """Import labels on answers; one invalid record rejects the file.

    A record has query_id, system, value and rater; language if the arena has several; measure (`answered` by default),
    and low and high of its scale unless it is `answered` or a feature with a range. A record with `answer`, the text
    that the rater read, is left out if the arena's answer differs.

    Args:
        path: the arena's folder.
        file: CSV, JSON Lines or Parquet.
        made_by: the command, for the manifest.

    Raises:
        BadInput: with file and line.
        NotEnoughData: if every label is on an answer that has changed.
    """
    arena = open_arena(path)
    texts = _texts(arena)
    codes = sorted({language for language, _, _ in texts})
    rows: list[schema.Score] = []
    seen: dict[tuple[Any, ...], str] = {}
    changed = 0
    for line in records.records(file):
        try:
            row, answer = _read(line.value, codes)
            key = (row.language, row.query_id, row.system)
            if key not in texts:
                raise BadInput(
                    f"the arena has no answer of {row.system} to {row.query_id} in {row.language}",
                    do="label answers of this arena",
                )
        except BadInput as error:
            raise BadInput(error.what, where=line.where, do=error.do or "nothing was imported") from None
        about = (*key, row.measure, row.rater)
        if about in seen:
            raise BadInput(
                f"{row.rater} labelled this answer before, in {seen[about]}",
                where=line.where,
                do="keep one label per person and answer; nothing was imported",
            )
        seen[about] = line.where
        if answer and texts[key] is not None and texts[key] != answer:
            changed += 1
            continue
        rows.append(row)
    if not seen:
        raise BadInput("this file has no labels", where=str(file), do="write one label per line")
    if not rows:
        raise NotEnoughData(
            f"all {changed:,} labels are on answers that have changed since", do="label the current answers"
        )
    table = by_key("scores", schema.sort("scores", schema.from_rows("scores", rows)))
    return LabelImport(upsert(path, {"scores": table}, made_by=made_by).arena, len(rows), changed)


def _texts(arena: Arena) -> dict[Key, str | None]:
    """Return the texts of the answers; None for answers known only by outcomes."""
    texts: dict[Key, str | None] = {}
    for table in ("outcomes", "answers"):
        if table in arena.tables:
            rows = arena.read(table)
            keys = zip(*(rows[name].to_pylist() for name in ("language", "query_id", "system")), strict=True)
            known = rows["text"].to_pylist() if table == "answers" else [None] * len(rows)
            texts |= dict(zip(keys, known, strict=True))
    if not texts:
        arena.need("answers")
    return texts


def _read(record: Mapping[str, Any], codes: list[str]) -> tuple[schema.Score, str | None]:
    """Return the score of a record, and the answer text that was labelled.

    Raises:
        BadInput: if a field is missing or invalid.
    """
    given = {name: value for name, value in record.items() if value not in (None, "")}
    given |= {name: str(given[name]) for name in _NAMES if name in given}
    if "language" not in given and len(codes) > 1:
        raise BadInput("language is missing, and the arena has several", do=f"give one of {', '.join(codes)}")
    measure = given.get("measure", ANSWERED)
    ends = {} if "low" in given and "high" in given else _known_ends(measure)
    about = {"language": codes[0], "measure": measure, **given, **ends, "person": True}
    if measure == ANSWERED:
        about["value"] = _WORDS.get(str(about.get("value")), about.get("value"))
    row = read_row(schema.Score, (about | {"reason": None}).get)
    if row.value is None:
        raise BadInput("value is missing", do="give a number from low to high")
    low, high = sorted(end for end in (row.low, row.high) if end is not None)
    if low == high:
        raise BadInput("low and high are equal", do="give the lowest and the highest value of the scale")
    if not low <= row.value <= high:
        raise BadInput(f"value is {row.value:g}, outside {low:g} to {high:g}", do="give a value on the scale")
    return row, given.get("answer")


def _known_ends(measure: str) -> dict[str, float]:
    """Return the ends of a measure's scale, as the columns low and high.

    Raises:
        BadInput: if they are not known.
    """
    from mirage.stages.features.families import FEATURES

    spec = FEATURES.get(measure)
    if spec is not None and spec.low is not None and spec.high is not None:
        return {"low": spec.low, "high": spec.high}
    if measure == ANSWERED:
        return {"low": 0.0, "high": 1.0}
    raise BadInput(f"the ends of the scale {measure} are missing", do="give low and high in each record")
