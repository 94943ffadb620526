"""Hallucination and error rates with intervals, by both definitions, with the undecided share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from mirage import schema
from mirage.battles.counts import ABSENT, CLASSIFY, lacks_evidence
from mirage.errors import UnknownName
from mirage.schema import UNDECIDED, CodeOrAll, Count, Parser, Share, Subset
from mirage.stats.intervals import mean_interval, of_variance
from mirage.stats.units import joint_variances
from mirage.text.languages import place, refuse_name_of_all
from mirage.text.segmentation import join_first

if TYPE_CHECKING:
    import pyarrow as pa

NOTED_UNPARSED = 0.05
"""Share of unparsed answers above which rates get a note."""
_WRONG = {"non_relevant": "answered", "relevant": "abstained"}


@dataclass(frozen=True, slots=True)
class Rate:
    """Hallucination or error rate of one system in one language and subset (DEFINITIONS: NoMIRACL outcomes and rates).

    All rows of a table are by one parser. Method: `wilson` for a language, `mean_interval` for the row `all`, both at
    95%.
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
    """Classified answers behind `rate`: answered or abstained, further samples included."""
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
    """Wrong decisions among the decided answers: FP / (FP + TN), the hallucination rate, on non_relevant; FN / (FN +
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
    """1 - accuracy over the answers present: every undecided answer counts as wrong. Printed in the
    papers' tables. Null if no answer is present.
    """
    undecided: Share | None
    """Share of the answers present that are neither answered nor abstained (`schema.UNDECIDED`). Null if
    no answer is present.
    """
    languages: Count | None = None
    """Languages behind `rate`: those where at least half of the answers are classified. 1 or 0 for a language."""
    labels: Literal["audited", "not audited"] | None = None
    """`not audited`: labels by a program, of which people checked none or too few in the language; `audited`: enough of
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


_COUNTED = ("answered", "abstained", *UNDECIDED, "missing")


def rates(
    outcomes: pa.Table,
    *,
    samples: pa.Table | None = None,
    parser: Parser = "strict",
    languages: Iterable[str] | None = None,
    systems: Iterable[str] | None = None,
) -> pa.Table:
    """Compute the rates of every system, by language and subset, and the row `all`.

    Args:
        outcomes: an `outcomes` table; text may be dictionary-encoded, identically in all chunks.
        samples: outcomes of further answers to the same queries (`sample_outcomes`). Counts are then of all answers;
            `rate` averages the answers to a query first, and its interval has the query as the unit.
        parser: parser whose outcomes count.
        languages: codes; None for all in the table.
        systems: names; None for all.

    Returns:
        A table with the columns of `Rate`, languages in code order, `all` last.

    Raises:
        UnknownName: if the table has no such parser or language, or no such system in the selected languages.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if samples is not None:
        samples = samples.select(outcomes.column_names)
        outcomes = pa.concat_tables([outcomes.cast(samples.schema), samples])
    selection = keep_named(outcomes, "parser", [parser]) if len(outcomes) else outcomes
    selection = keep_named(keep_named(selection, "language", languages), "system", systems)
    grouped = selection.group_by(["language", "subset", "system", "outcome"]).aggregate([([], "count_all")])
    refuse_name_of_all(pc.unique(grouped["language"]).to_pylist())
    cells: dict[tuple[str, str, str], dict[str, int]] = {}
    for row in grouped.to_pylist():
        cell = cells.setdefault((row["subset"], row["system"], row["language"]), dict.fromkeys(_COUNTED, 0))
        cell[row["outcome"]] += row["count_all"]
    clusters = {} if samples is None else clusters_of(selection, _WRONG)
    joint: dict[tuple[str, str], list[dict[str, int]]] = {}
    joint_clusters: dict[tuple[str, str], list[list[Cluster]]] = {}
    rows = []
    # Arrow groups in any order, but the last digit of a mean depends on the order.
    for (subset, system, language), cell in sorted(cells.items()):
        key = subset, system, language
        of_cell = [clusters[key]] if key in clusters and not lacks_evidence(cell) else []
        rows.append(_rate(language, subset, system, [cell], clusters=of_cell))
        joint.setdefault((subset, system), []).append(cell)
        joint_clusters.setdefault((subset, system), []).extend(of_cell)
    factors = _sharing_factors(selection)
    rows += [
        _rate(
            "all",
            subset,
            system,
            members,
            factors.get((subset, system), 1.0),
            clusters=joint_clusters[subset, system],
        )
        for (subset, system), members in joint.items()
    ]
    return schema.from_rows(Rate, sorted(rows, key=lambda rate: (place(rate.language), rate.subset, rate.system)))


def keep_named(outcomes: pa.Table, column: str, names: Iterable[str] | None) -> pa.Table:
    """Return the rows of `outcomes` with one of these names in a column; all for None.

    Raises:
        UnknownName: if a name does not occur.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if names is None:
        return outcomes
    names, present = list(names), pc.unique(outcomes[column]).to_pylist()
    for name in names:
        if name not in present:
            raise UnknownName(column, name, present, where="the outcomes")
    return outcomes.filter(pc.is_in(outcomes[column], value_set=pa.array(names, pa.string())))


def count_answers(row: Mapping[str, Any]) -> int:
    """Return the number of answers present behind a row of `rates`, classified or not."""
    return int(row["answered"] + row["abstained"] + sum(row[outcome] for outcome in UNDECIDED))


def unparsed_note(rates: pa.Table) -> str | None:
    """Return a sentence on systems with more than 5% unparsed answers, and those without a rate for it; None if there
    are none.

    Args:
        rates: result of `rates`; its rows `all` count.
    """
    counts: dict[str, list[int]] = {}
    for row in rates.to_pylist():
        if row["language"] == "all":
            count = counts.setdefault(row["system"], [0, 0])
            count[0] += row["unparsed"]
            count[1] += count_answers(row)
    shares = {system: k / n for system, (k, n) in counts.items() if n and k / n > NOTED_UNPARSED}
    if not shares:
        return None
    single = [row for row in rates.to_pylist() if row["language"] != "all"]
    lacking = [row for row in single if lacks_evidence({name: row[name] for name in _COUNTED}) not in ("", ABSENT)]
    places = join_first(list(dict.fromkeys(f"{row['system']} ({row['language']})" for row in lacking)))
    none = f"; under half are classified, so there is no rate: {places}; {CLASSIFY}" if places else ""
    worst = sorted(shares, key=lambda system: (-shares[system], system))
    named = ", ".join(f"{system} {shares[system]:.0%}" for system in worst[:3])
    more = f" and {len(worst) - 3:,} more" if len(worst) > 3 else ""
    return f"more than 5% of the answers are unparsed: {named}{more}; the rates exclude these answers{none}"


def is_by_model(outcomes: pa.Table | None) -> bool:
    """Return whether a chat model classified the free answers."""
    return outcomes is not None and bool({"by_model", "by_model_unread"} & set(outcomes["rule"].unique().to_pylist()))


def not_understood(outcomes: pa.Table) -> dict[str, int]:
    """Count the answers by language that no rule reads because the language has no vocabulary."""
    import pyarrow.compute as pc

    found = pc.and_(pc.equal(outcomes["rule"], "language_not_understood"), pc.equal(outcomes["parser"], "strict"))
    counts = outcomes.filter(found)["language"].value_counts().to_pylist()
    return {row["values"]: row["counts"] for row in sorted(counts, key=lambda row: row["values"])}


def _sharing_factors(selection: pa.Table) -> dict[tuple[str, str], float]:
    """Return by subset and system the variance factor of the mean over languages that share queries."""
    import pyarrow as pa
    import pyarrow.compute as pc

    decided = selection.filter(
        pc.is_in(selection["outcome"], value_set=pa.array(("answered", "abstained"), pa.string()))
    )
    # A query with several answers counts once, with the last of them.
    keys = ["subset", "system", "language", "query_id"]
    answers = decided.select(keys).append_column("outcome", decided["outcome"].cast(pa.string()))
    rows = answers.group_by(keys, use_threads=False).aggregate([("outcome", "last")])
    wrong = pc.if_else(pc.equal(rows["subset"], "relevant"), _WRONG["relevant"], _WRONG["non_relevant"])
    rows = rows.append_column("value", pc.equal(rows["outcome_last"], wrong).cast(pa.float64()))
    rows = rows.rename_columns({"subset": "feature"})
    return {(subset, system): factor for (system, subset), (factor, *_) in joint_variances(rows).items()}


def _rate(
    language: str,
    subset: str,
    system: str,
    cells: list[dict[str, int]],
    factor: float = 1.0,
    *,
    clusters: Sequence[Sequence[Cluster]] = (),
) -> Rate:
    """Build one row from the counts of one language, or of several, whose variance is scaled by `factor`.

    Where a query has several decided answers, the rate is that of the `clusters`.
    """
    wrong_outcome = _WRONG[subset]
    readable = [cell for cell in cells if not lacks_evidence(cell)]
    decided = [(cell[wrong_outcome], cell["answered"] + cell["abstained"]) for cell in readable]
    decided = [(k, n) for k, n in decided if n]
    mean, low, high = mean_interval(decided, factor=factor) if decided else (None, None, None)
    if any(n > 1 for queries in clusters for _, n in queries):
        mean, low, high = rate_of_clusters(clusters, factor=factor)
    right_outcomes = {"answered", "abstained"} - {wrong_outcome}
    present = [(cell, count_answers(cell)) for cell in cells]
    present = [(cell, n) for cell, n in present if n]
    accuracies = [sum(cell[outcome] for outcome in right_outcomes) / n for cell, n in present]
    undecided = [sum(cell[outcome] for outcome in UNDECIDED) / n for cell, n in present]
    totals: dict[str, Any] = {outcome: sum(cell[outcome] for cell in cells) for outcome in _COUNTED}
    return Rate(
        language=language,
        subset=subset,  # type: ignore[arg-type]  # from the outcomes table, whose contract says so
        system=system,
        n=sum(n for _, n in decided) if decided else totals["answered"] + totals["abstained"],
        **totals,
        rate=mean,
        rate_low=low,
        rate_high=high,
        rate_as_published=1 - sum(accuracies) / len(accuracies) if accuracies else None,
        undecided=sum(undecided) / len(undecided) if undecided else None,
        languages=len(decided),
    )


Cluster = tuple[int, int]
"""Wrong and decided answers of a system to one query."""


def rate_of_clusters(languages: Sequence[Sequence[Cluster]], *, factor: float = 1.0) -> tuple[float, float, float]:
    """Return a rate with its 95% interval, with the query as the unit: answers to one query are averaged first.

    Wilson's interval at the effective number of answers, for the variance between queries
    (`mirage.stats.intervals.of_variance`). Over several languages the mean of their rates.

    Args:
        languages: for each language, the queries with a decided answer, at least one.
        factor: as for `mean_interval`.
    """
    shares, variance, freedom, trials = [], 0.0, 0, 0
    for queries in languages:
        values = [k / n for k, n in queries]
        share = sum(values) / len(values)
        shares.append(share)
        trials += sum(n for _, n in queries)
        freedom += max(len(values) - 1, 0)
        if len(values) > 1:
            variance += sum((value - share) ** 2 for value in values) / (len(values) - 1) / len(values)
    mean = sum(shares) / len(shares)
    variance *= factor / len(shares) ** 2
    low, high = of_variance(mean, variance, clusters=max(freedom, 1) + 1, trials=trials)
    return mean, low, high


def clusters_of(rows: pa.Table, wrong: Mapping[str, str]) -> dict[tuple[str, str, str], list[Cluster]]:
    """Count the wrong and the decided answers to each query, by subset, system and language.

    Args:
        rows: rows of `outcomes` by one parser; a key may repeat.
        wrong: the wrong outcome by subset.
    """
    names = ["subset", "system", "language", "query_id", "outcome"]
    counted = rows.select(names).group_by(names).aggregate([([], "count_all")])
    queries: dict[tuple[str, str, str], dict[str, list[int]]] = {}
    for row in counted.to_pylist():
        if row["outcome"] not in ("answered", "abstained"):
            continue
        cell = queries.setdefault((row["subset"], row["system"], row["language"]), {})
        tally = cell.setdefault(row["query_id"], [0, 0])
        tally[0] += row["count_all"] * (row["outcome"] == wrong[row["subset"]])
        tally[1] += row["count_all"]
    return {key: [(k, n) for _, (k, n) in sorted(cell.items())] for key, cell in queries.items()}
