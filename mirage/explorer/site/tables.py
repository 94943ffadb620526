"""Published tables: the numbers of a board, computed from its sources with the data modules of the explorer's pages."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from mirage.battles.referee import Referee, referees
from mirage.errors import MirageError
from mirage.explorer.battle.matrix import matrix
from mirage.explorer.compare.data import ranking_by
from mirage.explorer.hallucination.data import both_rates, published_arena
from mirage.explorer.leaderboard.comparison import everything
from mirage.explorer.leaderboard.data import board, size
from mirage.publish.charts.palette import Kind
from mirage.ranking.compare import compare_ratings
from mirage.ranking.records import JOINT
from mirage.schema import UNDECIDED

if TYPE_CHECKING:
    import pyarrow as pa

    from mirage.store import Arena

FieldKind = Literal["text", "system", "language", "flag", "p"] | Kind
DIGITS = 9
"""Decimals of a published number."""


@dataclass(frozen=True, slots=True)
class TableField:
    """A column of a published table."""

    name: str
    label: str
    """Header of the column on a page."""
    kind: FieldKind
    """Display format."""
    meaning: str = ""
    """Meaning, in a sentence."""


@dataclass(frozen=True, slots=True)
class PublishedTable:
    """One table of a board."""

    name: str
    """Name of its files, without the extension."""
    key: tuple[str, ...]
    """Key columns."""
    fields: tuple[TableField, ...]
    rows: tuple[dict[str, Any], ...]
    """Rows, in display order."""

    def arrow(self) -> pa.Table:
        """Return the rows as an Arrow table."""
        import pyarrow as pa

        return pa.Table.from_pylist(list(self.rows), schema=arrow_schema(self.fields))

    def row_name(self, row: Mapping[str, Any]) -> str:
        """Return the key of a row in words."""
        return ", ".join(f"{name}={row[name]}" for name in self.key)


def arrow_schema(fields: Sequence[TableField]) -> pa.Schema:
    """Return the Arrow schema of a table's fields."""
    import pyarrow as pa

    texts, counts = ("text", "system", "language"), ("count", "rank")

    def kind(field: TableField) -> pa.DataType:
        if field.kind in texts:
            return pa.string()
        return pa.int64() if field.kind in counts else pa.bool_() if field.kind == "flag" else pa.float64()

    return pa.schema([(field.name, kind(field)) for field in fields])


_LOW_HIGH = (
    TableField("low", "Low", "rating", "Lower end of the 95% interval; empty: unbounded."),
    TableField("high", "High", "rating", "Upper end of the 95% interval; empty: unbounded."),
)
LEADERBOARD = (
    TableField("referee", "Judge", "text", "Referee of the battles: relevance labels, a judge, people or nuggets."),
    TableField("language", "Language", "language", "Language of the queries; all: the mean over languages."),
    TableField("system", "System", "system"),
    TableField("rank", "Rank", "rank", "Rank by rating."),
    TableField("rank_best", "Rank, best", "rank", "Best rank compatible with the tests of all pairs (95%, joint)."),
    TableField("rank_worst", "Rank, worst", "rank", "Worst rank compatible with the tests."),
    TableField("rating", "Rating", "rating", "Bradley-Terry rating in logits, centred on 0."),
    *_LOW_HIGH,
    TableField("tier", "Tier", "rank", "Systems of different tiers differ significantly (Holm, 5%)."),
    TableField("queries", "Queries", "count", "Queries behind the ratings of this language."),
    TableField("battles", "Battles", "count", "Battles of the system (n)."),
    TableField("wins", "Wins", "count"),
    TableField("ties", "Ties", "count"),
    TableField("losses", "Losses", "count"),
    TableField("answers", "Answers or verdicts", "count", "Answers of the system; for a judge, verdicts on it."),
    TableField("undecided", "Undecided", "rate", "Share without a decision: unparsed, empty, API errors."),
)
FACTS = (
    TableField("referee", "Judge", "text"),
    TableField("measure", "Fact", "text"),
    TableField("value", "Value", "text"),
)
HALLUCINATION = (
    TableField("metric", "Metric", "text", "hallucination: non-relevant queries; error: relevant queries."),
    TableField("language", "Language", "language", "Language; all: the mean over languages."),
    TableField("system", "System", "system"),
    TableField("value", "Rate", "rate", "Wrong decisions / decided answers. Lower is better."),
    TableField("low", "Low", "rate", "Lower end of the 95% interval."),
    TableField("high", "High", "rate", "Upper end of the 95% interval."),
    TableField("decided", "Decided", "count", "Answers that answer or abstain (n of the rate)."),
    TableField("n", "Answers", "count", "Answers present."),
    TableField("rate_as_published", "As published", "rate", "1 − accuracy; undecided answers count as wrong."),
    TableField("undecided", "Undecided", "rate", "Share of answers that neither answer nor abstain."),
    TableField("answered", "Answered", "count"),
    TableField("abstained", "Abstained", "count"),
    *(TableField(name, name.replace("_", " ").capitalize(), "count") for name in UNDECIDED),
    TableField("printed", "Paper", "rate", "Figure printed in the paper, if any."),
    TableField("reason", "Reason", "text", "Reason why there is no rate."),
)
COMPARISONS = (
    TableField("referee", "Judge", "text"),
    TableField("first", "System", "system"),
    TableField("second", "Compared with", "system"),
    TableField("language", "Language", "language"),
    TableField("verdict", "Verdict", "text", "better, worse or inconclusive, for the first system."),
    TableField("difference", "Difference", "rating", "Rating of the first minus that of the second, in logits."),
    *_LOW_HIGH,
    TableField("p", "p", "p", "p-value of the test over queries, uncorrected."),
    TableField("p_holm", "p (Holm)", "p", "p-value, corrected over the languages of the pair."),
    TableField("n_queries", "Queries", "count", "Queries behind the difference (n)."),
    TableField("detectable", "Detectable", "value", "Minimum detectable difference at 80% power."),
    TableField("reason", "Reason", "text", "Reason why it is inconclusive."),
)
BATTLES = (
    TableField("referee", "Judge", "text"),
    TableField("system", "System", "system"),
    TableField("other", "Against", "system"),
    TableField("share", "Win share", "rate", "Wins / battles with a winner."),
    TableField("low", "Low", "rate", "Lower end of the 95% interval (Wilson)."),
    TableField("high", "High", "rate", "Upper end of the 95% interval (Wilson)."),
    TableField("wins", "Wins", "count"),
    TableField("ties", "Ties", "count"),
    TableField("losses", "Losses", "count"),
    TableField("unparsed", "Unparsed", "count", "Battles without a parsed verdict."),
    TableField("n", "Battles", "count", "Queries that both answered (n)."),
)
ANSWERS = (
    TableField("language", "Language", "language"),
    TableField("system", "System", "system"),
    TableField("answers", "Answers", "count", "Answers in the sources (n)."),
    TableField("outcome", "Outcome or status", "text", "Outcome by the strict parser, or else the answer's status."),
    TableField("n", "Answers with it", "count", "Answers with this outcome."),
    TableField("share", "Share", "rate", "Share of the answers."),
)
SOURCES = (
    TableField("table", "Table", "text"),
    TableField("rows", "Rows", "count"),
    TableField("source", "Source", "text"),
    TableField("by", "Made by", "text"),
    TableField("notes", "Notes", "text"),
)
FIELDS: dict[str, tuple[tuple[str, ...], tuple[TableField, ...]]] = {
    "leaderboard": (("referee", "language", "system"), LEADERBOARD),
    "judges": (("referee", "measure", "value"), FACTS),
    "hallucination": (("metric", "language", "system"), HALLUCINATION),
    "comparisons": (("referee", "first", "second", "language"), COMPARISONS),
    "battles": (("referee", "system", "other"), BATTLES),
    "answers": (("language", "system", "outcome"), ANSWERS),
    "sources": (("table",), SOURCES),
}
"""Key and fields of every published table, by name."""


def published_tables(sources: Arena) -> dict[str, PublishedTable]:
    """Compute every published table from the sources of a board.

    A table that cannot be computed is empty; the table `judges` has the reason.
    """
    rows: dict[str, list[Mapping[str, Any]]] = {name: [] for name in FIELDS}
    for name in referees(sources):
        try:
            _add_referee(sources, Referee.from_name(name), rows)
        except MirageError as error:
            rows["judges"].append({"referee": name, "measure": "not ranked", "value": error.what})
    if "outcomes" in sources.tables:
        figures = published_arena(sources) if "published" in sources.tables else None
        rows["hallucination"] += both_rates(sources, figures).cells.to_pylist()
    rows["answers"] += _answer_counts(sources)
    rows["sources"] += _provenance(sources)
    return {
        name: PublishedTable(name, key, fields, tuple(_round_row(row, fields) for row in rows[name]))
        for name, (key, fields) in FIELDS.items()
    }


def _add_referee(sources: Arena, referee: Referee, rows: dict[str, list[Mapping[str, Any]]]) -> None:
    shown = board(sources, referee, tuple(size(sources, referee).languages))
    queries = {code: part.n_queries for code, part in shown.ranking.languages.items()}
    everywhere = everything(shown).to_pylist()
    everywhere.sort(key=lambda row: row["language"] != JOINT)  # stable: the joint rows first
    rows["leaderboard"] += [
        {"rank_best": None, "rank_worst": None} | row | {"queries": queries.get(row["language"])} for row in everywhere
    ]
    n = sum(queries[code] for code in shown.languages)
    facts: list[tuple[str, str]] = [
        ("method", shown.method),
        ("queries", f"{n:,} in {len(shown.languages)} languages: {', '.join(shown.languages)}"),
        *((f"{code} is not ranked", reason) for code, reason in shown.lacking.items()),
        *(("without a joint rating", system) for system in shown.left_out),
        *(("counted", line) for line in shown.counted),
    ]
    rows["judges"] += [{"referee": referee.name, "measure": measure, "value": value} for measure, value in facts]
    rows["battles"] += [row | {"referee": referee.name} for row in matrix(sources, referee).table.to_pylist()]
    ranking = ranking_by(sources, referee, ())
    order = shown.rows.sort_by([("rank", "ascending"), ("system", "ascending")])["system"].to_pylist()
    for first, second in itertools.combinations(order, 2):
        report = compare_ratings(ranking, first, second, margin=0.0, moved=0)
        pair = {"referee": referee.name, "first": first, "second": second}
        compared = sorted(report.rows, key=lambda row: row.language != JOINT)
        rows["comparisons"] += [
            pair | {field.name: getattr(row, field.name) for field in COMPARISONS[3:]} for row in compared
        ]


def _answer_counts(sources: Arena) -> list[dict[str, Any]]:
    if "outcomes" in sources.tables:
        table, column, condition = "outcomes", "outcome", "WHERE parser = 'strict'"
    elif "answers" in sources.tables:
        table, column, condition = "answers", "status", ""
    else:
        return []
    rows = sources.sql(
        f"WITH counted AS (SELECT language, system, {column} AS outcome, count(*) AS n FROM {table} {condition} "  # noqa: S608  # constants alone
        "GROUP BY ALL), whole AS (SELECT language, system, sum(n)::BIGINT AS answers FROM counted GROUP BY ALL) "
        "SELECT language, system, answers, outcome, n, n / answers AS share FROM counted "
        "JOIN whole USING (language, system) ORDER BY language, system, outcome"
    )
    return list(rows.to_pylist())


def _round_row(row: Mapping[str, Any], fields: Sequence[TableField]) -> dict[str, Any]:
    """Return a row's fields, with numbers rounded to the published digits."""
    values: dict[str, Any] = {}
    for field in fields:
        value = row.get(field.name)
        if isinstance(value, float):
            value = round(value, DIGITS) + 0.0 if math.isfinite(value) else None
        values[field.name] = value
    return values


def _provenance(arena: Arena) -> list[dict[str, Any]]:
    """Return one row per table of the arena: rows, size, origin and sources."""
    records: Mapping[str, Any] = arena.manifest.get("made", {})
    rows = []
    for table, files in arena.manifest["tables"].items():
        record = records.get(table, {})
        names = [str(source.get("name", "")) for source in record.get("from", [])]
        source = "; ".join(names)
        if len(names) > 2:
            source = f"{names[0]}; {len(names) - 1} files, each with its SHA-256 in the manifest"
        rows.append(
            {
                "table": table,
                "rows": arena.rows(table),
                "bytes": sum(file["bytes"] for file in files),
                "files": len(files),
                "by": record.get("by", ""),
                "source": source,
                "notes": " ".join(record.get("notes", [])),
            }
        )
    return rows
