"""Results of the Python API: they print as ten lines of text, or as a table in a notebook."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from html import escape
from typing import TYPE_CHECKING, Any

from mirage.errors import NotEnoughData
from mirage.io.rows import make_table
from mirage.ranking import bootstrap
from mirage.ranking.board import leaderboard
from mirage.store.arena import Arena
from mirage.text.languages import UNDETERMINED
from mirage.text.printing import terminal_text
from mirage.text.segmentation import count_text
from mirage.views.comparison import ComparisonView

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from mirage.pipeline.evaluating import EvaluationReport
    from mirage.views.overview import OverviewView


SHOWN, COLUMNS = 10, 9
"""Maximum number of rows and columns of a result to print."""


class _Printed:
    """A result that prints as ten lines of text, or as a table in a notebook."""

    def _print_parts(self) -> tuple[str, pa.Table, tuple[str, ...]]:
        """Return the title, the table, and the columns to print; empty for the first columns."""
        raise NotImplementedError

    def _shorten(self) -> tuple[str, list[str], list[list[str]], str]:
        """Return the title, the columns to print, their first rows, and a note of what is omitted."""
        title, table, first = self._print_parts()
        names = list(first) or [name for name in table.column_names if table[name].null_count < len(table)][:COLUMNS]
        rows = [[_cell(row[name]) for name in names] for row in table.slice(0, SHOWN).to_pylist()]
        more, hidden = len(table) - len(rows), len(table.column_names) - len(names)
        rest = [f"{more:,} more rows"] * bool(more) + [f"{hidden} more columns"] * bool(hidden)
        return title, names, rows, f"... {' and '.join(rest)}: to_pandas() has all" if rest else ""

    def __repr__(self) -> str:
        title, names, cells, rest = self._shorten()
        rows = [[terminal_text(cell) for cell in row] for row in cells]
        widths = [max(map(len, column)) for column in zip(names, *rows, strict=True)]
        lines = [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in [names, *rows]
        ]
        return "\n".join([terminal_text(title), *lines, *([rest] if rest else [])])

    def _repr_html_(self) -> str:
        title, names, rows, rest = self._shorten()
        head = "".join(f"<th>{escape(name)}</th>" for name in names)
        body = "".join(
            "<tr>" + "".join(f"<td dir='auto'>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
        )
        return f"<p>{escape(title)}</p><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>" + (
            f"<p>{escape(rest)}</p>" if rest else ""
        )


@dataclass(frozen=True, eq=False, repr=False)
class Rows(_Printed, Sequence[Mapping[str, Any]]):
    """A table of results: a sequence of rows, each a mapping from column to value."""

    table: pa.Table
    """All rows; the record class documents the columns."""
    title: str
    """One-line description of the rows."""
    first: tuple[str, ...] = ()
    """Columns to print; empty for the first columns."""
    remarks: tuple[str, ...] = ()
    """Conclusion in words, and caveats."""

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def __getitem__(self, index: Any) -> Any:
        return self.table.to_pylist()[index]

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        return iter(self.table.to_pylist())

    def to_pandas(self) -> pd.DataFrame:
        """Return all rows as a data frame."""
        frame: pd.DataFrame = self.table.to_pandas()
        return frame

    def _print_parts(self) -> tuple[str, pa.Table, tuple[str, ...]]:
        return self.title, self.table, self.first


@dataclass(frozen=True, eq=False, repr=False)
class Ranking(_Printed, bootstrap.RankingReport):
    """Ratings of systems by language, with intervals, tests and differences."""

    remarks: tuple[str, ...] = ()
    """Caveats: what was left out, and what the data cannot determine."""

    def to_pandas(self, language: str | None = None) -> pd.DataFrame:
        """Return one row per language and system, best first: rating, interval, rank, record (`schema.Rating`).

        Args:
            language: code, or `all`; None for every language.

        Raises:
            UnknownName: if the language is not ranked.
        """
        frame: pd.DataFrame = leaderboard(self, language).to_pandas()
        return frame

    def to_latex(self, language: str | None = None) -> str:
        """Return one language as a LaTeX table (`booktabs`), with the systems tied for best in bold, and the method.

        Args:
            language: code, or `all`; None for the last, which is `all` if there are several.

        Raises:
            UnknownName: if the language is not ranked.
        """
        from mirage.publish.leaderboard import to_latex

        return to_latex(self, language, notes=self.remarks)

    def to_markdown(self, language: str | None = None) -> str:
        """Return one language as a Markdown table; arguments and errors as for `to_latex`."""
        from mirage.publish.leaderboard import to_markdown

        return to_markdown(self, language, notes=self.remarks)

    def plot(self, language: str | None = None) -> Any:
        """Plot the ratings of one language with their intervals, as a Plotly figure.

        Args:
            language: code, or `all`; None for the last, which is `all` if there are several.

        Raises:
            UnknownName: if the language is not ranked.
        """
        import plotly.graph_objects as go

        from mirage.publish.charts.leaderboard import axis_title, whiskers

        code = list(self.languages)[-1] if language is None else language
        rows = leaderboard(self, code).to_pylist()
        return go.Figure(whiskers(rows, title=axis_title(ties=self.ties)))

    def _print_parts(self) -> tuple[str, pa.Table, tuple[str, ...]]:
        code = list(self.languages)[-1]
        row = self.languages[code]
        where = "" if code == UNDETERMINED else f" in {code}"
        where += f", the last of {len(self.languages)} languages" if len(self.languages) > 1 and code != "all" else ""
        title = f"{len(row.systems)} systems{where}, {count_text(row.n_queries, 'query')}: {self.method}"
        title = "\n".join([title, *self.remarks])
        columns = ["rank", "system", "rating", "low", "high", "rank_low", "rank_high", "best", "battles"]
        return title, leaderboard(self, code).select(columns), ()


@dataclass(frozen=True, eq=False, repr=False)
class SystemComparison(_Printed, ComparisonView):
    """Comparison of two systems: a row per language, `all` last if there are several."""

    def to_pandas(self) -> pd.DataFrame:
        """Return one row per language (`mirage.ranking.compare.Comparison`)."""
        frame: pd.DataFrame = self.table.to_pandas()
        return frame

    def to_markdown(self) -> str:
        """Return the summary that `mirage compare --markdown` writes."""
        from mirage.publish.comparison import to_markdown

        return to_markdown(self)

    def _print_parts(self) -> tuple[str, pa.Table, tuple[str, ...]]:
        columns = ("language", "verdict", "difference", "low", "high", "p", "n_queries", "detectable", "queries_needed")
        return "\n".join([f"{self.conclusion} {self.evidence}", *self.remarks]), self.table, columns


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation:
    """Result of `evaluate`: the arena, its ranking, and the findings in sentences."""

    arena: Arena
    """The arena with all imported and computed tables."""
    ranking: Ranking | None
    """The ranking; None if fewer than two systems can be compared."""
    report: EvaluationReport
    """The steps that ran, the import, and the judge."""
    overview: OverviewView
    """Contents of the arena, and findings by its default judge."""

    @property
    def findings(self) -> list[str]:
        """Sentences that name the best system, its lead, the ties, and the judge."""
        return list(self.overview.findings)

    @property
    def next(self) -> list[str]:
        """Suggested commands."""
        return [each.command for each in self.overview.next]

    def to_pandas(self, language: str | None = None) -> pd.DataFrame:
        """Return the ranking, as `Ranking.to_pandas`.

        Raises:
            NotEnoughData: if there is no ranking.
            UnknownName: if the language is not ranked.
        """
        if self.ranking is None:
            raise NotEnoughData("there is no ranking", where="; ".join(self.findings), do="add another system")
        return self.ranking.to_pandas(language)

    def __repr__(self) -> str:
        commands = [f"next: {command}" for command in self.next[:3]]
        return "\n".join(map(terminal_text, [*self.findings, f"arena: {self.arena.address}", *commands]))

    def _repr_html_(self) -> str:
        told = "".join(f"<p>{escape(line)}</p>" for line in self.findings)
        ranked = "" if self.ranking is None else self.ranking._repr_html_()
        commands = "".join(f"<br><code>{escape(command)}</code>" for command in self.next)
        return f"{told}{ranked}<p>Arena: <code>{escape(self.arena.address)}</code>{commands}</p>"


def make_rows(records: Iterable[Any], title: str, first: tuple[str, ...] = ()) -> Rows:
    """Return records of a dataclass as rows."""
    return Rows(make_table([asdict(record) for record in records]), title, first)


def values_of(record: Any) -> dict[str, Any]:
    """Return the fields of a record, for a subclass with more fields."""
    return {field.name: getattr(record, field.name) for field in fields(record)}


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def as_tuple(values: Iterable[str] | None) -> tuple[str, ...] | None:
    """Return names as a tuple; None stays None."""
    return None if values is None else tuple(values)
