"""Imported scores by people: inter-rater agreement, means by system, and implied verdicts.

Krippendorff's alpha is computed for interval and ordinal scales. Its intervals resample queries, since all answers to a
query share its difficulty.
"""

from __future__ import annotations

import itertools
import zlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

import numpy as np

from mirage import schema, store
from mirage.battles.verdict_rows import OF_PROGRAMS, OF_SCORES
from mirage.errors import NotEnoughData, UnknownName
from mirage.people.votes.coefficients import (
    Array,
    Coefficient,
    LanguagePart,
    Statistics,
    estimate_statistics,
    means_over_languages,
    ratio,
)
from mirage.schema import CodeOrAll, Count, Judgment, Share
from mirage.stages.features.means import means, over_languages
from mirage.stats.jackknife import LEAST
from mirage.text.segmentation import count_text

if TYPE_CHECKING:
    import pyarrow as pa

MOST_VALUES = 30
"""Maximum number of distinct values of an ordinal scale."""


@dataclass(frozen=True, slots=True)
class RaterAgreement:
    """Agreement of the people who scored the same answers by one measure, in one language."""

    key = ("measure", "language")

    measure: str
    """The scale."""
    language: CodeOrAll
    """Language of the queries; `all`: the mean over the languages that have a value, with equal weights."""
    answers: Count
    """Answers scored by at least two people."""
    queries: Count
    """Number of queries of these answers, the units of the intervals."""
    raters: Count
    """People who scored them."""
    pairs: Count
    """Pairs of scores of one answer."""
    equal: Share | None
    """Share of the pairs with equal scores: the mean pairwise agreement."""
    equal_low: Share | None
    """Lower end of the 95% interval of `equal`, over queries: Wilson's at the effective number."""
    equal_high: Share | None
    """Upper end."""
    ordinal: Coefficient | None
    """Krippendorff's ordinal alpha: 1 is perfect, 0 is chance. Null for scales of more than 30 values."""
    ordinal_low: Coefficient | None
    """Lower end of the interval of `ordinal`."""
    ordinal_high: Coefficient | None
    """Upper end."""
    interval: Coefficient | None
    """Krippendorff's interval alpha."""
    interval_low: Coefficient | None
    """Lower end of the interval of `interval`."""
    interval_high: Coefficient | None
    """Upper end."""
    reason: str | None
    """Reason why a value or an interval is null."""


@dataclass(frozen=True, slots=True)
class ScoreMean:
    """Mean score of one system by one measure, in one language."""

    key = ("measure", "language", "system")

    measure: str
    """The scale."""
    language: CodeOrAll
    """Language of the queries; `all`: the mean over languages with equal weights."""
    system: str
    """The system."""
    mean: float | None
    """Mean over queries of the mean over raters, in the unit of the scale; null if no score is valid."""
    low: float | None
    """Lower end of the 95% interval of `mean` (Student's t, the query as the unit); null with fewer than two."""
    high: float | None
    """Upper end."""
    queries: Count
    """Queries with a score."""
    raters: Count
    """Number of people, or programs, who scored."""
    person: bool
    """Whether the scores are by people."""


_STATISTICS = ("equal", "ordinal", "interval")


def rater_agreement(scores: pa.Table) -> list[RaterAgreement]:
    """Compare the people who scored the same answers.

    Args:
        scores: table `scores`; programs, and scores without a value, do not count.

    Returns:
        A row for each measure and language, and `all` where a measure has several; by name.

    Source: Krippendorff, Content Analysis, 4th ed. (2018), ch. 12.
    """
    answers: dict[tuple[str, str], dict[tuple[str, str], list[float]]] = defaultdict(lambda: defaultdict(list))
    raters: dict[tuple[str, str], set[str]] = defaultdict(set)
    for row in scores.to_pylist():
        if row["person"] and row["value"] is not None:
            key = row["measure"], row["language"]
            answers[key][row["query_id"], row["system"]].append(row["value"])
            raters[key].add(row["rater"])
    parts: dict[str, list[LanguagePart]] = defaultdict(list)
    for key, by_answer in sorted(answers.items()):
        parts[key[0]].append(_compare(*key, by_answer, len(raters[key])))
    rows = []
    for of_measure in parts.values():
        rows += [part.row for part in of_measure]
        if len(of_measure) > 1:
            rows.append(_joint(of_measure))
    return rows


def _compare(
    measure: str, language: str, by_answer: Mapping[tuple[str, str], Sequence[float]], raters: int
) -> LanguagePart:
    by_query: dict[str, list[Sequence[float]]] = defaultdict(list)
    for (query_id, _), unit in sorted(by_answer.items()):
        if len(unit) > 1:
            by_query[query_id].append(unit)
    units = [unit for query in by_query.values() for unit in query]
    levels = np.unique([value for unit in units for value in unit])
    n = len(by_query)
    sums = np.array([_sums(query, levels) for query in by_query.values()]).reshape(-1, len(_sums((), levels)))
    statistics: Statistics = {name: partial(_statistic, name, levels) for name in _STATISTICS}
    values, spreads = estimate_statistics(sums, statistics)
    row = RaterAgreement(
        measure=measure,
        language=language,
        answers=len(units),
        queries=n,
        raters=raters,
        pairs=sum(len(unit) * (len(unit) - 1) // 2 for unit in units),
        **values,
        reason=_reason(values, n, len(levels)),
    )
    return LanguagePart(row, spreads)


def _sums(units: Iterable[Sequence[float]], levels: Array) -> Array:
    """Return the contribution of a query's answers: pairs, equal pairs, coincidences of values, and moments.

    Coincidences are counted only for scales of few values; the moments (squared differences within answers, scores,
    their sum and the sum of their squares) are used for all.
    """
    few = len(levels) <= MOST_VALUES
    table = np.zeros((len(levels), len(levels)) if few else (0, 0))
    pairs = equal = within = count = total = squares = 0.0
    for unit in units:
        values = np.array(unit)
        m = len(values)
        differences = values[:, None] - values[None, :]
        pairs += m * (m - 1) / 2
        equal += (np.count_nonzero(differences == 0) - m) / 2
        within += float((differences**2).sum()) / (m - 1)
        count, total, squares = count + m, total + float(values.sum()), squares + float((values**2).sum())
        if few:
            times = np.bincount(np.searchsorted(levels, values), minlength=len(levels)).astype(np.float64)
            table += (np.outer(times, times) - np.diag(times)) / (m - 1)
    return np.concatenate([[pairs, equal, within, count, total, squares], table.ravel()])


def _statistic(name: str, levels: Array, sums: Array) -> Array:
    """Return a statistic of B data sets, from sums of `_sums`; NaN if undefined."""
    if name == "equal":
        return ratio(sums[:, 1], sums[:, 0])
    if name == "interval":
        within, count, total, squares = sums[:, 2:6].T
        return 1 - ratio((count - 1) * within, 2 * (count * squares - total**2))
    if len(levels) > MOST_VALUES:
        return np.full(len(sums), np.nan)
    table = sums[:, 6:].reshape(len(sums), len(levels), len(levels))
    margins = table.sum(axis=1)
    # The distance of two ranks is the number of scores between them, plus half of both.
    middles = np.cumsum(margins, axis=1) - margins / 2
    distances = (middles[:, :, None] - middles[:, None, :]) ** 2
    observed = (table * distances).sum(axis=(1, 2))
    expected = (margins[:, :, None] * margins[:, None, :] * distances).sum(axis=(1, 2))
    return 1 - ratio((margins.sum(axis=1) - 1) * observed, expected)


def _reason(values: Mapping[str, float | None], n: int, levels: int) -> str | None:
    if not n:
        return "no answer has the scores of two people"
    reasons = []
    if levels < 2:
        reasons.append("no alpha: all scores are the same")
    elif levels > MOST_VALUES:
        reasons.append(f"no alpha for ranks: the scores have {levels} different values")
    if n < LEAST:
        reasons.append(f"scores on {count_text(n, 'query')} are too few for an interval: it takes {LEAST}")
    elif values["equal_low"] is None:
        reasons.append("no interval of the share of equal pairs: the queries do not differ")
    return "; ".join(reasons) or None


def _joint(parts: Sequence[LanguagePart]) -> RaterAgreement:
    """Average over languages, with its interval; the counts are sums, raters the
    maximum.
    """
    rows = [part.row for part in parts]
    reasons = dict.fromkeys(f"{row.language}: {row.reason}" for row in rows if row.reason)
    return RaterAgreement(
        measure=rows[0].measure,
        language="all",
        answers=sum(row.answers for row in rows),
        queries=sum(row.queries for row in rows),
        raters=max(row.raters for row in rows),
        pairs=sum(row.pairs for row in rows),
        **means_over_languages(parts, _STATISTICS),
        reason="; ".join(reasons) or None,
    )


def score_means(scores: pa.Table) -> list[ScoreMean]:
    """Average the scores of each system by each measure, separately for people and programs.

    Args:
        scores: table `scores`. Scores without a value do not count.

    Returns:
        A row for each measure, language and system, and `all` where a measure has several languages; the measures of
        people first.
    """
    import pyarrow.compute as pc

    result = []
    bounds = {
        row["measure"]: (min(ends), max(ends))
        for row in scores.select(["measure", "low", "high"]).to_pylist()
        if None not in (ends := (row["low"], row["high"]))
    }
    for person in (True, False):
        own = scores.filter(pc.equal(scores["person"], person))
        raters = {**_count_raters(own, "measure", "system"), **_count_raters(own, "measure", "system", "language")}
        table = _by_answer(own)
        rows = means(table, bounds=bounds)
        languages = defaultdict(set)
        for row in rows:
            languages[row.feature].add(row.language)
        rows += over_languages((row for row in rows if len(languages[row.feature]) > 1), table, bounds=bounds)
        for row in sorted(rows, key=lambda r: (r.feature, r.language, r.system)):
            n = raters[(row.feature, row.system, *([] if row.language == "all" else [row.language]))]
            about = row.feature, row.language, row.system
            result.append(ScoreMean(*about, row.mean, row.low, row.high, row.n, n, person))
    return result


def _by_answer(scores: pa.Table) -> pa.Table:
    """Return the mean over raters of every answer, as a table of features."""
    import pyarrow.compute as pc

    names = ("language", "query_id", "system", "measure")
    grouped = scores.filter(pc.is_valid(scores["value"])).group_by(names).aggregate([("value", "mean")])
    rows = [
        schema.Feature(row["language"], row["query_id"], row["system"], row["measure"], row["value_mean"], None)
        for row in grouped.to_pylist()
    ]
    return schema.from_rows("features", rows)


def _count_raters(scores: pa.Table, *names: str) -> dict[tuple[str, ...], int]:
    grouped = scores.group_by(names).aggregate([("rater", "count_distinct")])
    return {tuple(row[name] for name in names): row["rater_count_distinct"] for row in grouped.to_pylist()}


def main_measure(scores: pa.Table) -> str | None:
    """Return the measure whose scores can decide battles best: by people, else by programs, with the most scores, the
    first by name; None if there is no score.
    """
    import pyarrow.compute as pc

    counts = scores.filter(pc.is_valid(scores["value"])).group_by(["measure", "person"]).aggregate([([], "count_all")])
    rows = counts.to_pylist()
    best = min(rows, key=lambda row: (not row["person"], -row["count_all"], row["measure"]), default=None)
    return None if best is None else best["measure"]


def rater_verdicts(scores: pa.Table, measure: str) -> pa.Table:
    """Derive verdicts of a judge by scores: of two answers to a query the one with the higher score is better.

    Each rater who scored both gives the first a win, half or none; the battle's points are their mean. If no rater
    scored two answers to any query, mean scores are compared. The answer listed first is chosen by a hash of the
    battle, since raters saw no order.

    Args:
        scores: table `scores`.
        measure: the scale. Scores by people count, by programs only if there are none by people; on a scale whose best
            end is the lower one, lower wins.

    Returns:
        Table `judgments`, of the judge `people: MEASURE`, or `scores: MEASURE` by programs.

    Raises:
        UnknownName: if there is no score by this measure.
        NotEnoughData: if no query has two answers with a score.
    """
    by_query: dict[tuple[str, str], dict[str, dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
    name = judge_name(scores, measure)
    for row in scores.to_pylist():
        if row["measure"] == measure and row["value"] is not None and row["person"] == name.startswith(OF_SCORES):
            ends = row["low"], row["high"]
            sign = -1 if None not in ends and ends[1] < ends[0] else 1
            by_query[row["language"], row["query_id"]][row["system"]][row["rater"]] = sign * row["value"]
    rows = [judgment for key, systems in sorted(by_query.items()) for judgment in _battles(key, systems, name)]
    if not rows:
        means = {key: {s: {"mean": fmean(by.values())} for s, by in of.items()} for key, of in sorted(by_query.items())}
        rows = [judgment for key, systems in means.items() for judgment in _battles(key, systems, name)]
    if not rows:
        raise NotEnoughData(f"no query has two answers with a score by {measure}", do="use another measure")
    return schema.sort("judgments", schema.from_rows("judgments", rows))


def _battles(key: tuple[str, str], systems: Mapping[str, Mapping[str, float]], judge: str) -> Iterable[Judgment]:
    for pair in itertools.combinations(sorted(systems), 2):
        turned = zlib.crc32("/".join((*key, *pair)).encode()) % 2
        first, second = pair[::-1] if turned else pair
        both = sorted(systems[first].keys() & systems[second].keys())
        if both:
            points = float(np.mean([(np.sign(systems[first][r] - systems[second][r]) + 1) / 2 for r in both]))
            yield Judgment(*key, judge, first, second, schema.verdict_of(points), None, None, None, points)


def judge_by_scores(path: Path, measure: str, *, made_by: str) -> store.UpsertResult:
    """Store the verdicts of `rater_verdicts` in an arena, replacing earlier verdicts of this measure.

    Raises:
        TableMissing: if the arena has no scores.
        UnknownName: if there is no score by this measure.
        NotEnoughData: if no query has two answers with a score.
    """
    import pyarrow as pa

    def make() -> store.UpsertResult:
        seen = store.consistently(path, lambda arena: store.Snapshot(arena, {"scores": arena.read("scores")}))
        judgments = rater_verdicts(seen.tables["scores"], measure)
        name = judge_name(seen.tables["scores"], measure)
        note = f"{name}: of two answers to a query the one with the higher score wins"
        rows = store.NewRows(judgments, pa.table({"judge": [name]}))
        return store.upsert(
            path,
            {"judgments": rows},
            made_by=store.Provenance(made_by, notes=[note], subjects=[name]),
            seen=seen,
        )

    return store.retry_outdated(make)


def judge_name(scores: pa.Table, measure: str) -> str:
    """Return the judge name of verdicts derived from scores by a measure: of people if they gave any.

    Raises:
        UnknownName: if there is no score by this measure.
    """
    import pyarrow.compute as pc

    by = scores.filter(pc.equal(scores["measure"], measure))["person"].unique().to_pylist()
    if not by:
        raise UnknownName("measure", measure, scores["measure"].unique().to_pylist())
    return f"{OF_SCORES if True in by else OF_PROGRAMS}{measure}"
