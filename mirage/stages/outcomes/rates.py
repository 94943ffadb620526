"""Hallucination and error rates with intervals, by both definitions, with the unclassified share."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import pyarrow as pa
import pyarrow.compute as pc

from mirage import schema
from mirage.battles.counts import ABSENT, CLASSIFY, lacks_evidence
from mirage.errors import UnknownName
from mirage.schema import UNDECIDED, CodeOrAll, Count, Parser, Share, Subset
from mirage.stages.outcomes.parsed import FREE_RULES
from mirage.stages.outcomes.tables import RIGHT
from mirage.stats.intervals import mean_interval, of_variance
from mirage.stats.rows import group, read_rows
from mirage.stats.units import joint_variances
from mirage.text.languages import place, refuse_name_of_all
from mirage.text.segmentation import join_first

NOTED = 0.05
"""Share of unclassified answers above which rates get a note."""
DECISIONS = ("answered", "abstained")
"""Outcomes that `rate` is over."""


@dataclass(frozen=True, slots=True)
class Rate:
    """Hallucination or error rate of one system in one language and subset (DEFINITIONS: NoMIRACL outcomes and rates).

    All rows of a table are by one parser, except `rate_as_published`. Method: `wilson` for a language, `mean_interval`
    for the row `all`, both at 95%.
    """

    key = ("language", "subset", "system")

    language: CodeOrAll
    """Language of the queries; `all`: the mean over the selected languages with equal weights, as in the papers'
    tables; its counts are sums.
    """
    subset: Subset
    """`non_relevant`: no passage answers, `rate` is the hallucination rate; `relevant`: at least one does, `rate` is
    the error rate."""
    system: str
    """The system."""
    n: Count
    """Independent queries behind `rate` and its interval: those with a classified answer, in the languages with a rate.
    A query with several samples, or shared by several languages, counts once. 0 without a rate.
    """
    answers: Count
    """Answers present, classified or not, further samples included."""
    answered: Count
    """Answers that say that the passages have the answer, or give it."""
    abstained: Count
    """Answers that say that the passages do not have it."""
    clarification: Count
    """Answers that only ask what is meant."""
    unparsed: Count
    """Answers without a readable outcome."""
    empty: Count
    """Answers of whitespace only."""
    api_error: Count
    """Error texts of the service."""
    missing: Count
    """Queries without an answer."""
    rate: Share | None
    """Wrong decisions among the classified answers: FP / (FP + TN), the hallucination rate, on non_relevant; FN / (FN +
    TP), the error rate, on relevant. Null if under half of the answers are classified. In the row `all`: the mean over
    the languages with a rate. Source: NoMIRACL.
    """
    rate_low: Share | None
    """Lower end of the 95% interval of `rate`: Wilson's for a language; for `all` Wilson's at the effective number of
    answers of the mean (`mean_interval`), counting a query shared by several languages once. Languages are fixed: the
    interval is over queries only. Several answers to a query are averaged first: the query is the unit.
    """
    rate_high: Share | None
    """Upper end."""
    rate_as_published: Share | None
    """1 - accuracy by the published parser over the answers present, whatever parser the row is by: every unclassified
    answer counts as wrong, as in the papers' tables. In the row `all` the mean over the languages with answers. Null if
    no answer is present, or if the system has answers to other prompts than NoMIRACL's, which that parser cannot read.
    """
    as_published_low: Share | None
    """Lower end of the 95% interval of `rate_as_published`, by the methods of `rate`."""
    as_published_high: Share | None
    """Upper end."""
    as_published_n: Count
    """Independent queries behind `rate_as_published` and its interval."""
    unclassified: Share | None
    """Share of `answers` that are neither answered nor abstained: clarification questions, unparsed, empty or API
    errors. Null if no answer is present.
    """
    languages: Count | None = None
    """Languages behind `rate`: those where at least half of the answers are classified. 1 or 0 for a language."""
    labels: Literal["audited", "not audited"] | None = None
    """`not audited`: labels by a program, too few of them checked by people in the language; `audited`: enough of
    them checked. Null for people's own labels."""
    corrected: Share | None = None
    """`rate` corrected, jointly with the other subset's, for the label errors found by the audit in the language
    (`mirage.stats.label_errors`); for `all` the mean over the corrected languages. Null without an audit, or with
    `label_reason`."""
    corrected_low: Share | None = None
    """Lower end of its 95% interval, which includes the uncertainty of the audit."""
    corrected_high: Share | None = None
    """Upper end."""
    audited: Count | None = None
    """Audited queries of the subset behind `corrected`. Null without an audit of at least 10 of either label in the
    language."""
    label_error: Share | None = None
    """Share of audited queries with a wrong label; for `all` the mean over the corrected languages."""
    label_reason: str | None = None
    """Why there is no corrected rate despite an audit, or which languages that of `all` leaves out."""


PRESENT = (*DECISIONS, *UNDECIDED)
"""Outcomes of answers that are present."""
_COUNTED = (*PRESENT, "missing")


def rates(
    outcomes: pa.Table,
    *,
    samples: pa.Table | None = None,
    parser: Parser = "strict",
    languages: Iterable[str] | None = None,
) -> pa.Table:
    """Compute the rates of every system, by language and subset, and the row `all`.

    Args:
        outcomes: an `outcomes` table; text may be dictionary-encoded, identically in all chunks.
        samples: outcomes of further answers to the same queries (`sample_outcomes`). Counts are then of all answers;
            `rate` averages the answers to a query first, and its interval has the query as the unit.
        parser: parser whose outcomes count.
        languages: codes; None for all in the table.

    Returns:
        A table with the columns of `Rate`, languages in code order, `all` last.

    Raises:
        UnknownName: if the table has no such parser or language.
    """
    if samples is not None:
        samples = samples.select(outcomes.column_names)
        outcomes = pa.concat_tables([outcomes.cast(samples.schema), samples])
    printed = _published_rows(outcomes)
    selection = keep_named(outcomes, "parser", [parser]) if len(outcomes) else outcomes
    selection = keep_named(selection, "language", languages)
    refuse_name_of_all(pc.unique(selection["language"]).to_pylist())
    for column in ("language", "system"):
        printed = printed.filter(pc.is_in(printed[column], pc.unique(selection[column].cast(pa.string()))))
    cells = _count(selection)
    lacking = [key for key, cell in cells.items() if lacks_evidence(cell)]
    estimates = _estimate_all(_drop(_score(selection, DECISIONS), lacking), sampled=samples is not None)
    as_published = _estimate_all(_score(printed, PRESENT), sampled=samples is not None)
    joint = group((("all", *key[1:]), cell) for key, cell in cells.items())
    members = {key: [cell] for key, cell in cells.items()} | joint
    rows = [
        _rate(key, of, estimates.get(key, _NOTHING), as_published.get(key, _NOTHING)) for key, of in members.items()
    ]
    return schema.from_rows(Rate, sorted(rows, key=lambda rate: (place(rate.language), rate.subset, rate.system)))


def keep_named(outcomes: pa.Table, column: str, names: Iterable[str] | None) -> pa.Table:
    """Return the rows of `outcomes` with one of these names in a column; all for None.

    Raises:
        UnknownName: if a name does not occur.
    """
    if names is None:
        return outcomes
    names, present = list(names), pc.unique(outcomes[column]).to_pylist()
    for name in names:
        if name not in present:
            raise UnknownName(column, name, present, where="the outcomes")
    return outcomes.filter(pc.is_in(outcomes[column], value_set=pa.array(names, pa.string())))


def unclassified_note(rates: pa.Table) -> str | None:
    """Return a sentence on systems with more than 5% unclassified answers, and those without a rate for it; None if
    there are none.

    Args:
        rates: result of `rates`; its rows `all` count.
    """
    rows = rates.to_pylist()
    shares = {}
    for system, own in group((row["system"], row) for row in rows if row["language"] == "all").items():
        k, n = sum(row[outcome] for row in own for outcome in UNDECIDED), sum(row["answers"] for row in own)
        if n and k / n > NOTED:
            shares[system] = k / n
    if not shares:
        return None
    lacking = [row for row in rows if lacks_evidence({name: row[name] for name in _COUNTED}) not in ("", ABSENT)]
    named_places = (f"{row['system']} ({row['language']})" for row in lacking if row["language"] != "all")
    places = join_first(list(dict.fromkeys(named_places)))
    none = f"; under half are classified, so there is no rate: {places}; {CLASSIFY}" if places else ""
    worst = sorted(shares, key=lambda system: (-shares[system], system))
    named = ", ".join(f"{system} {shares[system]:.0%}" for system in worst[:3])
    more = f" and {len(worst) - 3:,} more" if len(worst) > 3 else ""
    return f"more than 5% of the answers are unclassified: {named}{more}; the rates exclude these answers{none}"


def is_by_model(outcomes: pa.Table | None) -> bool:
    """Return whether a model classified free answers: a chat model, or the embeddings of a second opinion."""
    return outcomes is not None and any(
        (rule or "").startswith(("by_model", "second_opinion")) for rule in outcomes["rule"].unique().to_pylist()
    )


def not_understood(outcomes: pa.Table) -> dict[str, int]:
    """Count the answers by language that no rule reads because the language has no vocabulary."""
    found = pc.and_(pc.equal(outcomes["rule"], "language_not_understood"), pc.equal(outcomes["parser"], "strict"))
    counts = outcomes.filter(found)["language"].value_counts().to_pylist()
    return {row["values"]: row["counts"] for row in sorted(counts, key=lambda row: row["values"])}


_Key = tuple[str, str, str]
"""Language, subset and system."""
Cluster = tuple[int, int]
"""Wrong and counted answers of a system to one query."""
_Estimated = tuple[float | None, float | None, float | None, int]
"""A rate, the ends of its interval, and the independent queries behind it."""
_NOTHING: _Estimated = (None, None, None, 0)
_KEYS = ["language", "subset", "system"]


def _published_rows(outcomes: pa.Table) -> pa.Table:
    """Return the rows by the published parser of the systems that answered NoMIRACL's prompts alone."""
    free = outcomes.filter(pc.is_in(outcomes["rule"], pa.array(FREE_RULES)))
    systems = pc.unique(free["system"].cast(pa.string()))
    rows = outcomes.filter(pc.equal(outcomes["parser"], "published"))
    return rows.filter(pc.invert(pc.is_in(rows["system"], systems)))


def _count(selection: pa.Table) -> dict[_Key, dict[str, int]]:
    """Count the answers of each outcome, in the order of subset, system and language."""
    grouped = selection.group_by([*_KEYS, "outcome"]).aggregate([([], "count_all")])
    cells: dict[_Key, dict[str, int]] = {}
    for *key, outcome, n in read_rows(grouped, *_KEYS, "outcome", "count_all"):
        cells.setdefault((key[0], key[1], key[2]), dict.fromkeys(_COUNTED, 0))[outcome] += n
    # Arrow groups in any order, but the last digit of a mean depends on the order.
    return dict(sorted(cells.items(), key=lambda cell: (*cell[0][1:], cell[0][0])))


def _score(selection: pa.Table, counted: Sequence[str]) -> pa.Table:
    """Return the answers that count, each with the column `wrong`: whether the decision is not the correct one."""
    rows = selection.filter(pc.is_in(selection["outcome"], pa.array(counted)))
    right = pc.if_else(pc.equal(rows["subset"], "relevant"), RIGHT["relevant"], RIGHT["non_relevant"])
    wrong = pc.not_equal(rows["outcome"].cast(pa.string()), right)
    return rows.select([*_KEYS, "query_id"]).append_column("wrong", wrong.cast(pa.int64()))


def _drop(rows: pa.Table, keys: Iterable[_Key]) -> pa.Table:
    """Return the rows of all cells but some."""
    for key in keys:
        one, two, three = (pc.equal(rows[name], value) for name, value in zip(_KEYS, key, strict=True))
        rows = rows.filter(pc.invert(pc.and_(pc.and_(one, two), three)))
    return rows


def _estimate_all(rows: pa.Table, *, sampled: bool) -> dict[_Key, _Estimated]:
    """Return the share of wrong decisions in each cell, and the mean of a system's languages as `all`.

    Args:
        rows: result of `_score`.
        sampled: whether a query may have several answers of a system; they are averaged first (`rate_of_clusters`).
    """
    counted = rows.group_by(_KEYS).aggregate([("wrong", "sum"), ("wrong", "count")])
    cells: dict[Any, Any] = {of[:3]: of[3:] for of in read_rows(counted, *_KEYS, "wrong_sum", "wrong_count")}
    clusters: dict[Any, list[Any]] = {}
    if sampled:
        # A query with several answers counts once in the factor of shared queries, with the last of them.
        names = [("wrong", "sum"), ("wrong", "count"), ("wrong", "last")]
        rows = rows.group_by([*_KEYS, "query_id"], use_threads=False).aggregate(names).sort_by("query_id")
        clusters = group((of[:3], of[3:]) for of in read_rows(rows, *_KEYS, "wrong_sum", "wrong_count"))
        rows = rows.rename_columns({"wrong_last": "wrong"})
    values = rows.select([*_KEYS, "query_id"]).append_column("value", rows["wrong"].cast(pa.float64()))
    shared = joint_variances(values.rename_columns({"subset": "feature"}))
    estimates: dict[_Key, _Estimated] = {}
    for (subset, system), keys in group((key[1:], key) for key in sorted(cells)).items():
        n = {key: len(clusters[key]) if clusters else cells[key][1] for key in keys}
        factor, _, _, units = shared.get((system, subset), (1.0, None, "query", sum(n.values())))
        for language, members, of in (*((key[0], [key], 1.0) for key in keys), ("all", keys, factor)):
            if any(trials > 1 for key in members for _, trials in clusters.get(key, ())):
                ends = rate_of_clusters([clusters[key] for key in members], factor=of)
            else:
                ends = mean_interval([cells[key] for key in members], factor=of)
            estimates[language, subset, system] = (*ends, units if language == "all" else n[members[0]])
    return estimates


def _rate(key: _Key, cells: Sequence[Mapping[str, int]], rate: _Estimated, as_published: _Estimated) -> Rate:
    """Build one row from the counts of one language, or of several."""
    totals: dict[str, Any] = {outcome: sum(cell[outcome] for cell in cells) for outcome in _COUNTED}
    answers = sum(totals[outcome] for outcome in PRESENT)
    unclassified = sum(totals[outcome] for outcome in UNDECIDED) / answers if answers else None
    languages = sum(not lacks_evidence(cell) for cell in cells)
    values: list[Any] = [*key, rate[3], answers, *totals.values(), *rate[:3], *as_published, unclassified, languages]
    return Rate(*values)


def rate_of_clusters(languages: Sequence[Sequence[Cluster]], *, factor: float = 1.0) -> tuple[float, float, float]:
    """Return a rate with its 95% interval, with the query as the unit: answers to one query are averaged first.

    Wilson's interval at the effective number of answers, for the variance between queries
    (`mirage.stats.intervals.of_variance`). Over several languages the mean of their rates.

    Args:
        languages: for each language, the queries with a decided answer, at least one.
        factor: as for `mean_interval`.
    """
    shares, variance = [], 0.0
    for queries in languages:
        values = [k / n for k, n in queries]
        share = sum(values) / len(values)
        shares.append(share)
        # Without a second query the sum is 0.
        variance += sum((value - share) ** 2 for value in values) / max(len(values) - 1, 1) / len(values)
    mean = sum(shares) / len(shares)
    freedom = sum(map(len, languages)) - len(languages)
    trials = sum(n for queries in languages for _, n in queries)
    of_mean = variance * factor / len(shares) ** 2
    return mean, *of_variance(mean, of_mean, clusters=max(freedom, 1) + 1, trials=trials)
