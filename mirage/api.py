"""The door for programmers: what `import mirage` gives.

    arena = mirage.open_arena("nomiracl")            # a bundled arena by name, or a folder
    mirage.rates(arena, languages=["sw"])            # how often each system is wrong
    ranking = mirage.rank(battles)                   # a data frame, rows, or a file of battles
    ranking.difference("a", "b"); ranking.tiers      # with intervals, and what can be told apart

Results know how they were made; as text they are ten lines, in a notebook a table. `to_pandas()` gives all of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import mirage.rank as ranks
from mirage import schema, store
from mirage.errors import BadInput, MirageError, NotEnoughData, UnknownName
from mirage.rank import DRAWS, SEED, Difference
from mirage.store import Arena

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from mirage.placement import Placement
    from mirage.votes import Correction, Vote

__all__ = [
    "Arena",
    "BadInput",
    "Difference",
    "MirageError",
    "NotEnoughData",
    "Ranking",
    "Rows",
    "UnknownName",
    "agreement",
    "compare",
    "correct",
    "open_arena",
    "place",
    "rank",
    "rates",
]

SHOWN, COLUMNS = 10, 9
"""Rows and columns of a result that are printed at most."""

_BATTLE = ("system_a", "system_b", "verdict")
_UNDETERMINED = "und"
"""BCP 47 code of a language that is not known."""


@dataclass(frozen=True, eq=False, repr=False)
class Rows(Sequence[Mapping[str, Any]]):
    """A table of results: a sequence of rows, each a mapping from column to value."""

    table: pa.Table
    """All rows; what a column means stands in the documentation of its record."""
    title: str
    """What the rows are, in a line."""
    first: tuple[str, ...] = ()
    """Columns that are printed; none for as many as fit."""

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def __getitem__(self, index: Any) -> Any:
        return self.table.to_pylist()[index]

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        return iter(self.table.to_pylist())

    def to_pandas(self) -> pd.DataFrame:
        """All rows as a data frame."""
        frame: pd.DataFrame = self.table.to_pandas()
        return frame

    def __repr__(self) -> str:
        return _text(self.title, self.table, self.first)

    def _repr_html_(self) -> str:
        return _html(self.title, self.table, self.first)


@dataclass(frozen=True, eq=False, repr=False)
class Ranking(ranks.Ranking):
    """Ratings of systems by language, with intervals, tiers and differences."""

    remarks: tuple[str, ...] = ()
    """What a reader must know: what was left out, and what the data cannot tell."""

    def to_pandas(self, language: str | None = None) -> pd.DataFrame:
        """One row a language and system, best first: rating, interval, rank, tier and record (`schema.Rating`).

        Args:
            language: code, or `all`; None for every one.

        Raises:
            UnknownName: if the language is not ranked here.
        """
        frame: pd.DataFrame = _of_language(self._ordered(), language).to_pandas()
        return frame

    def plot(self, language: str | None = None) -> Any:
        """The ratings of one language with their intervals, as a figure of plotly.

        Args:
            language: code, or `all`; None for the last, which is `all` where there are several.

        Raises:
            UnknownName: if the language is not ranked here.
        """
        import plotly.graph_objects as go

        from mirage.charts import leaderboard

        code = list(self.languages)[-1] if language is None else language
        rows = _of_language(self._ordered(), code).to_pylist()
        return go.Figure(leaderboard.whiskers(rows, mode="light", title=leaderboard.axis_title(ties=self.ties)))

    def _ordered(self) -> pa.Table:
        places = {code: k for k, code in enumerate(self.languages)}
        rows = self.table().to_pylist()
        return _table(sorted(rows, key=lambda row: (places[row["language"]], row["rank"], row["system"])))

    def _shown(self) -> tuple[str, pa.Table]:
        code = list(self.languages)[-1]
        row = self.languages[code]
        where = "" if code == _UNDETERMINED else f" in {code}"
        title = f"{len(row.systems)} systems{where}, {row.n_queries:,} queries: {self.method}"
        title = "\n".join([title, *self.remarks])
        columns = ["rank", "system", "rating", "low", "high", "tier", "battles"]
        return title, _of_language(self._ordered(), code).select(columns)

    def __repr__(self) -> str:
        return _text(*self._shown())

    def _repr_html_(self) -> str:
        return _html(*self._shown())


def open_arena(arena: str | Path) -> Arena:
    """Open an arena: a bundled one by its name, or a folder.

    Args:
        arena: `nomiracl`, the name of another bundled arena, or the path of a folder.

    Raises:
        UnknownName: if it is neither the name of a bundled arena nor a folder.
        ArenaError: if the folder is not an arena, or not a sound one.
    """
    folders = store.bundled()
    if str(arena) in folders and not store.is_arena(Path(arena)):
        return store.open_arena(folders[str(arena)])
    if not Path(arena).is_dir():
        raise UnknownName("arena", str(arena), folders, where="the bundled arenas, and this is no folder either")
    return store.open_arena(Path(arena))


def rates(
    arena: Arena,
    *,
    languages: Iterable[str] | None = None,
    systems: Iterable[str] | None = None,
    parser: schema.Parser = "strict",
) -> Rows:
    """How often each system answers where no passage has the answer, and abstains where one has (NoMIRACL).

    Args:
        arena: with the table `outcomes`.
        languages: codes; None for all.
        systems: names; None for all.
        parser: whose reading of the replies counts.

    Returns:
        Rows of `mirage.outcomes.Rate`: a row a language, subset and system, with 95% intervals.

    Raises:
        TableMissing: if the arena has no outcomes.
        UnknownName: if it has no such language, system or parser.
    """
    from mirage import outcomes

    table = outcomes.rates(
        arena.read("outcomes"),
        parser=parser,
        languages=None if languages is None else list(languages),
        systems=None if systems is None else list(systems),
    )
    title = f"Rates of {arena.name}, with 95% intervals; the row `all` is the mean over languages"
    return Rows(table, title, ("language", "subset", "system", "n", "rate", "rate_low", "rate_high", "undecided"))


def rank(
    battles: Any,
    *,
    judge: str | None = None,
    draws: int = DRAWS,
    seed: int = SEED,
    ties: schema.Ties = "half",
    penalty: ranks.Penalty = "jeffreys",
) -> Ranking:
    """Rank systems by their battles: Bradley-Terry ratings with 95% intervals, tests and tiers.

    Args:
        battles: an arena; or rows of battles: a data frame (pandas, polars), an Arrow table, a list of mappings, or a
            file (.csv, .jsonl, .parquet). Columns `system_a`, `system_b` and `verdict` (`A`, `B`, `tie`; `unparsed` is
            left out and counted). Optional: `query_id` (battles on one query are drawn together; without it each
            battle is a query of its own), `language` (each is ranked, and all together), `judge`, and `points`, what
            system_a takes of the battle's point, in [0, 1].
        judge: whose verdicts, or `relevance` for an arena's outcomes by human labels; None where there is only one.
        draws: bootstrap draws behind the intervals.
        seed: their seed; the same seed gives the same numbers.
        ties: how ties count: `half` a win, by `davidson`'s model, or `drop`.
        penalty: `jeffreys`, or `none` for the maximum of the likelihood.

    Raises:
        BadInput: if a column is missing or a value cannot be read, saying which row.
        UnknownName: if the judge has no verdict.
        NotEnoughData: if there is no battle to rate.

    Source: Bradley and Terry, Biometrika 39 (1952); Firth, Biometrika 80 (1993).
    """
    from mirage.battles.referee import Referee, only_judge, referees
    from mirage.rank.ranking import rank_by, remarks

    notes: list[str] = []
    if isinstance(battles, Arena):
        name = only_judge(referees(battles), judge, noun="referee")
        table = battles.read(Referee.named(name).table)
    else:
        table = _judgments(_frame(battles), notes)
        name = only_judge(table["judge"].unique().to_pylist(), judge)
    result = rank_by(table, name, draws=draws, seed=seed, ties=ties, penalty=penalty)
    notes += remarks(result, table if Referee.named(name).by_labels else None)
    return Ranking(**{field.name: getattr(result, field.name) for field in fields(result)}, remarks=tuple(notes))


def compare(battles: Any, first: str, second: str, *, language: str | None = None, **options: Any) -> Difference:
    """By how much one system is rated above another, with the 95% interval of the difference.

    Args:
        battles: a ranking, or what `rank` takes.
        first: the system that is compared.
        second: the system it is compared with.
        language: code, or `all`; None for the last ranked, which is `all` where there are several.
        options: as for `rank`.

    Raises:
        UnknownName: if a system or the language is not ranked; else what `rank` raises.
    """
    ranking = battles if isinstance(battles, ranks.Ranking) else rank(battles, **options)
    return ranking.difference(first, second, language=language)


def agreement(votes: Any, judgments: Any, *, control: bool = False, seed: int = SEED) -> Rows:
    """How far people agree with each judge, and with each other, with 95% intervals over questions.

    Args:
        votes: rows of votes: `query_id`, `system_a`, `system_b`, `verdict` (`A`, `B`, `tie`, `both_bad`, `skip`);
            optional `voter`, `language` and `control`. What `mirage.votes.Vote` says of each.
        judgments: rows of verdicts, as for `rank`, with `query_id` and `judge`; or an arena.
        control: whether only votes count that a column `control` marks as drawn at random.
        seed: seed of the draws.

    Returns:
        Rows of `mirage.votes.Agreement`.

    Raises:
        BadInput: if a column is missing or a value cannot be read.
    """
    from mirage import votes as people

    log = _votes(_frame(votes))
    table = judgments.read("judgments") if isinstance(judgments, Arena) else _judgments(_frame(judgments), [])
    return Rows(
        schema.from_rows(people.Agreement, people.agreement(log, table, control=control, seed=seed)),
        "Agreement of people with judges and with each other, with 95% intervals",
    )


def correct(judgments: Any, votes: Any, *, judge: str | None = None, seed: int = SEED) -> Correction:
    """Correct a judge's ranking by votes of people on battles that were drawn at random.

    Args:
        judgments: rows of verdicts, as for `rank`, with `query_id`; or an arena.
        votes: rows of votes, as for `agreement`; all of them count as drawn at random, unless a column `control` or
            `inclusion` says otherwise.
        judge: whose verdicts; None where there is only one.
        seed: seed of the draws behind the intervals of the ranks.

    Returns:
        The corrected ranking of the one language, or of all together.

    Raises:
        NotEnoughData: if the votes are too few, saying how many are lacking.
        BadInput: if a column is missing or a value cannot be read.
    """
    from mirage import votes as people
    from mirage.battles.decision import decisions as decide_all
    from mirage.battles.referee import only_judge

    table = judgments.read("judgments") if isinstance(judgments, Arena) else _judgments(_frame(judgments), [])
    name = only_judge(table["judge"].unique().to_pylist(), judge)
    decisions = decide_all(table)[name]
    log = _votes(_frame(votes))
    corrections = [
        people.correct(log, decisions, language=code, judge=name, seed=seed)
        for code in sorted({vote.language for vote in log})
    ]
    return corrections[0] if len(corrections) == 1 else people.join_corrections(corrections)


def place(arena: Arena, system: str, *, judge: str | None = None, seed: int = SEED) -> Placement:
    """Where a new system stands among the judged ones, and the battles that would settle its tier.

    Args:
        arena: with judgments, and features or answers of the new system.
        system: the new system.
        judge: the judge; None where there is only one.
        seed: seed of the battles drawn at random.

    Raises:
        TableMissing: if the arena has no judgments, or neither answers nor features.
        UnknownName: if the system has no answers, or the judge no battles.
        NotEnoughData: if there are not two judged systems.
    """
    from mirage import placement as placing

    return placing.place(arena, system, referee=judge, seed=seed)


# --- rows in ----------------------------------------------------------------------------------------------------------


def _frame(rows: Any) -> pa.Table:
    """Any kind of rows as an Arrow table."""
    import pyarrow as pa

    if isinstance(rows, str | Path):
        lines = list(store.records(Path(rows)))
        return _table([line.value for line in lines])
    if isinstance(rows, pa.Table):
        return rows
    if hasattr(rows, "__arrow_c_stream__"):
        return pa.table(rows)
    if isinstance(rows, Mapping):
        return pa.table(dict(rows))
    if isinstance(rows, Iterable):
        return _table([dict(row) for row in rows])
    raise BadInput(
        f"battles cannot be a {type(rows).__name__}",
        do="give a data frame, an Arrow table, a list of mappings, or the path of a .csv, .jsonl or .parquet file",
    )


def _judgments(rows: pa.Table, notes: list[str]) -> pa.Table:
    """Rows of battles as table `judgments`; what was assumed goes to the notes."""
    from mirage.battles.decision import VERDICTS

    _need(rows, _BATTLE)
    n = len(rows)
    columns = {name: _texts(rows, name) for name in _BATTLE}
    words = Counter(columns["verdict"])
    unknown = [word for word in words if word not in VERDICTS]
    if unknown:
        row = columns["verdict"].index(unknown[0])
        raise BadInput(
            f"the verdict {unknown[0]!r} is none of {', '.join(VERDICTS)}",
            where=f"row {row + 1:,}",
            do="write A where system_a is better, B where system_b is, tie where neither is",
        )
    if "query_id" in rows.column_names:
        columns["query_id"] = _texts(rows, "query_id")
    else:
        columns["query_id"] = [f"{k:08}" for k in range(n)]
        notes.append("no query_id: each battle counts as a query of its own, so intervals take battles for independent")
    columns["language"] = _texts(rows, "language", _UNDETERMINED)
    columns["judge"] = _texts(rows, "judge", "judge")
    if "points" in rows.column_names:
        columns["points"] = rows["points"].to_pylist()
    return _typed(columns)


def _typed(columns: Mapping[str, list[Any]]) -> pa.Table:
    import pyarrow as pa

    kinds = {name: pa.float64() if name == "points" else pa.string() for name in columns}
    return pa.table({name: pa.array(values, kinds[name]) for name, values in columns.items()})


def _votes(rows: pa.Table) -> list[Vote]:
    from mirage import votes as people

    verdict = "vote" if "vote" in rows.column_names else "verdict"
    _need(rows, ("query_id", "system_a", "system_b", verdict))
    language, voters = _texts(rows, "language", _UNDETERMINED), _texts(rows, "voter", "somebody")
    drawn = rows["control"].to_pylist() if "control" in rows.column_names else [True] * len(rows)
    chances = rows["inclusion"].to_pylist() if "inclusion" in rows.column_names else [None] * len(rows)
    names = ("query_id", "system_a", "system_b", verdict)
    log = []
    for k, (query, a, b, word) in enumerate(zip(*(_texts(rows, name) for name in names), strict=True)):
        if word not in ("A", "B", "tie", "both_bad", "skip"):
            raise BadInput(
                f"the vote {word!r} is none of A, B, tie, both_bad and skip", where=f"row {k + 1:,}", do="correct it"
            )
        log.append(
            people.Vote(
                vote_id=f"{k:08}",
                time="",
                arena="",
                language=language[k],
                query_id=query,
                system_a=a,
                system_b=b,
                voter=voters[k],
                vote=word,
                control=bool(drawn[k]),
                why="",
                note=None,
                undoes=None,
                seconds=None,
                session=None,
                shown=None,
                inclusion=chances[k],
            )
        )
    return log


def _need(rows: pa.Table, names: Sequence[str]) -> None:
    missing = [name for name in names if name not in rows.column_names]
    if missing:
        raise BadInput(
            f"there is no column {' and no column '.join(missing)}; there are {', '.join(rows.column_names)}",
            do=f"rename columns so that there are {', '.join(names)}",
        )


def _texts(rows: pa.Table, name: str, default: str | None = None) -> list[str]:
    """A column as texts: numbers are written out, and nothing may be missing. Without the column: the default."""
    if default is not None and name not in rows.column_names:
        return [default] * len(rows)
    values = rows[name].to_pylist()
    for k, value in enumerate(values):
        if value is None or value == "" or value != value:
            raise BadInput(f"{name} is missing", where=f"row {k + 1:,}", do="fill it in, or leave the row out")
    return [str(value) for value in values]


# --- results out ------------------------------------------------------------------------------------------------------


def _table(rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    import pyarrow as pa

    return pa.Table.from_pylist([dict(row) for row in rows])


def _of_language(table: pa.Table, language: str | None) -> pa.Table:
    import pyarrow.compute as pc

    if language is None:
        return table
    languages = list(dict.fromkeys(table["language"].to_pylist()))
    if language not in languages:
        raise UnknownName("language", language, languages)
    return table.filter(pc.equal(table["language"], language))


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def _shorter(table: pa.Table, first: Sequence[str]) -> tuple[list[str], list[list[str]], str]:
    """The columns to print, the first rows of them, and what is left out."""
    names = list(first) or [name for name in table.column_names if table[name].null_count < len(table)][:COLUMNS]
    rows = [[_cell(row[name]) for name in names] for row in table.slice(0, SHOWN).to_pylist()]
    more, hidden = len(table) - len(rows), len(table.column_names) - len(names)
    rest = [f"{more:,} more rows"] * bool(more) + [f"{hidden} more columns"] * bool(hidden)
    return names, rows, f"... {' and '.join(rest)}: to_pandas() has all" if rest else ""


def _text(title: str, table: pa.Table, first: Sequence[str] = ()) -> str:
    names, rows, rest = _shorter(table, first)
    widths = [max(map(len, column)) for column in zip(names, *rows, strict=True)]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in [names, *rows]
    ]
    return "\n".join([title, *lines, *([rest] if rest else [])])


def _html(title: str, table: pa.Table, first: Sequence[str] = ()) -> str:
    names, rows, rest = _shorter(table, first)
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    body = "".join("<tr>" + "".join(f"<td dir='auto'>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<p>{escape(title)}</p><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>" + (
        f"<p>{escape(rest)}</p>" if rest else ""
    )
