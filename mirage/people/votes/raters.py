"""Imported scores by people and programs: means by system, and implied verdicts."""

import itertools
import zlib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import numpy as np
import pyarrow as pa

from mirage import schema
from mirage.battles.decision import verdict_of_points
from mirage.battles.verdict_rows import OF_PROGRAMS, OF_SCORES
from mirage.errors import NotEnoughData, UnknownName
from mirage.schema import CodeOrAll, Count, Judgment
from mirage.stages.features.means import means, over_languages
from mirage.store.upsert import NewRows, Snapshot, UpsertResult, read_consistently, retry_outdated, upsert
from mirage.store.writing import Provenance

_BAD = (
    "error|mistake|hallucinat|toxic|harm|unsafe|bias|perplexity|distance|noise|penalty|latency|duration|cost|price|"
    "incorrect|wrong|inaccura|irrelevan|unsupported|ungrounded|unfaithful|contradict|fail|missing|violation|entropy|uncertain|"
    r"tokens|(^|[^a-z])(ppl|wer|cer|ter|loss|risk|seconds|ms)([^a-z]|$)"
)
"""Names of measures where less is better."""
_GOOD = (
    "score|rating|grade|point|quality|overall|correct|accura|exact|match|faithful|ground|support|attribut|fact|truth|relevan|"
    "similar|overlap|contain|recall|precision|helpful|useful|complete|coheren|coverage|fluen|clar|clear|concis|safe|success|"
    "pass|reward|win|rouge|bleu|meteor|chrf|comet|hit|mrr|ndcg|"
    r"(^|[^a-z])(em|f[_-]?(beta|\d)|map)([^a-z]|$)"
)
"""Names of measures where more is better."""


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
    """Upper end of the 95% interval of `mean`."""
    queries: Count
    """Queries with a score."""
    raters: Count
    """Number of people, or programs, who scored."""
    person: bool
    """Whether the scores are by people."""


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
    """Return the measure to decide battles by: people's before programs', then the one with the most scores, then the
    first by name; None if there is none.

    Without a scale, the name must say which end is better: measures named after something bad do not qualify, nor do
    numbers by programs with a neutral name (`n_sources`).
    """
    import pyarrow.compute as pc

    bad, good = (pc.match_substring_regex(scores["measure"], names, ignore_case=True) for names in (_BAD, _GOOD))
    named = pc.and_not(pc.or_(scores["person"], good), bad)
    usable = pc.and_(pc.is_valid(scores["value"]), pc.or_(pc.is_valid(scores["high"]), named))
    counts = scores.filter(usable).group_by(["measure", "person"]).aggregate([([], "count_all")])
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
            yield Judgment(*key, judge, first, second, verdict_of_points(points), None, None, None, points)


def judge_by_scores(path: Path, measure: str, *, made_by: str) -> UpsertResult:
    """Store the verdicts of `rater_verdicts` in an arena, replacing earlier verdicts of this measure.

    Raises:
        TableMissing: if the arena has no scores.
        UnknownName: if there is no score by this measure.
        NotEnoughData: if no query has two answers with a score.
    """

    def make() -> UpsertResult:
        seen = read_consistently(path, lambda arena: Snapshot(arena, {"scores": arena.read("scores")}))
        judgments = rater_verdicts(seen.tables["scores"], measure)
        name = judge_name(seen.tables["scores"], measure)
        rows = NewRows(judgments, pa.table({"judge": [name]}))
        return upsert(
            path,
            {"judgments": rows},
            made_by=Provenance(made_by, settings={name: {"scores": measure}}),
            seen=seen,
        )

    return retry_outdated(make)


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
