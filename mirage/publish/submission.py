"""Submissions: the results of one system in one file, which the owner of a board checks and accepts.

Line 1 is the header: the system, the board's queries as a hash, the program version, hashes of the prompts, how the
answers were sampled, how many runs were made and withdrawn, and a hash of everything. Every other line is a row of a
table.
"""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mirage import schema, store
from mirage.errors import ArenaError, BadInput, NotEnoughData, UnknownName
from mirage.publish.chain import canonical
from mirage.store import Arena, NewRows, Provenance

if TYPE_CHECKING:
    import pyarrow as pa

FORMAT = "mirage submission 1"
TABLES = ("answers", "features", "judgments")
"""Tables with rows in a submission."""
_UNIT = ("language", "query_id")
_HEADER = {
    "format": str,
    "system": str,
    "queries": str,
    "n_queries": int,
    "program": str,
    "sampling": str,
    "runs": int,
    "withdrawn": int,
    "settings": list,
    "prompts": dict,
    "rows": dict,
    "sha256": str,
}
_SECRET = ("call", "thoughts")
"""Columns that are not submitted."""


@dataclass(frozen=True, slots=True)
class Disclosure:
    """A submitter's statement on how the answers were made."""

    sampling: str
    """Sampling of each answer, in words: temperature, and how one answer was selected if several were drawn."""
    runs: int = 1
    """Number of runs of the system on these queries, including this one."""
    withdrawn: int = 0
    """Number of the system's submissions or results that were withdrawn."""


@dataclass(frozen=True, slots=True)
class Submission:
    """A submission that matches its own hash."""

    header: Mapping[str, Any]
    tables: Mapping[str, pa.Table]

    @property
    def system(self) -> str:
        """Return the submitted system."""
        return str(self.header["system"])


@dataclass(frozen=True, slots=True)
class AcceptResult:
    """Result of accepting a submission."""

    system: str
    """Its name on the board."""
    rows: Mapping[str, int]
    """Rows added, by table."""
    unanswered: int
    """Queries of the board that it does not answer."""


def query_set(arena: Arena) -> str:
    """Return the hash of an arena's queries: SHA-256 of the canonical JSON of the sorted languages and ids.

    Raises:
        NotEnoughData: if it has none.
    """
    return _hash_queries(_queries(arena))


def write_submission(arena: Arena, system: str, disclosure: Disclosure, *, version: str) -> bytes:
    """Return the submission of a system as a file, compressed by gzip.

    Args:
        arena: with the system's answers, on the board's queries.
        system: the system.
        disclosure: what its submitter discloses.
        version: version of this package.

    Raises:
        UnknownName: if the system has no answers.
        BadInput: if the disclosure is empty or contradicts itself.
    """
    if not disclosure.sampling.strip():
        raise BadInput("the sampling of the answers is not disclosed", do="describe it: --sampling 'temperature 0'")
    if disclosure.runs < 1 or not 0 <= disclosure.withdrawn <= disclosure.runs:
        raise BadInput("runs must be at least 1, and no more withdrawn than made", do="check --runs and --withdrawn")
    arena.need("answers")
    known = arena.sql("SELECT DISTINCT system FROM answers ORDER BY system")["system"].to_pylist()
    if system not in known:
        raise UnknownName("system", system, known, where=arena.address)
    rows = {table: _rows_of(arena, table, system) for table in TABLES if table in arena.tables}
    lines = [canonical({"table": table, "row": row}) for table, of in rows.items() for row in of]
    notes = [note for note in arena.manifest["made"]["answers"]["notes"] if note.startswith(f"{system}: ")]
    templates = sorted({row["template"] or "unknown" for row in rows["answers"]})
    header: dict[str, Any] = {
        "format": FORMAT,
        "system": system,
        "queries": query_set(arena),
        "n_queries": len(_queries(arena)),
        "program": version,
        "sampling": disclosure.sampling,
        "runs": disclosure.runs,
        "withdrawn": disclosure.withdrawn,
        "settings": notes,
        "prompts": {name: hashlib.sha256("\n".join(notes).encode()).hexdigest() for name in templates},
        "rows": {table: len(of) for table, of in rows.items()},
    }
    header["sha256"] = _digest(header, lines)
    return gzip.compress(b"\n".join([canonical(header), *lines]) + b"\n", mtime=0)


def read_submission(path: Path) -> Submission:
    """Read a submission and check it against its own hash.

    Raises:
        BadInput: if it is not a submission, was changed, or has an invalid or duplicate row.
    """
    records = store.jsonl(path)
    first = next(records, None)
    header = {} if first is None else first.value
    if header.get("format") != FORMAT:
        raise BadInput(f"{path.name} is not a submission", do="make one: mirage submit DIR --system NAME --into FILE")
    if set(header) != set(_HEADER) or any(type(header[name]) is not kind for name, kind in _HEADER.items()):
        raise BadInput("the header of the submission has missing or unknown fields", where=f"{path}:1")
    columns: dict[str, list[dict[str, Any]]] = {table: [] for table in TABLES}
    lines = []
    for line in records:
        table, row = line.value.get("table"), line.value.get("row")
        if table not in columns or not isinstance(row, dict):
            raise BadInput("a row of the submission does not name one of its tables", where=line.where)
        lines.append(_canonical(line.value, line.where))
        columns[table].append(row)
    if _digest({name: value for name, value in header.items() if name != "sha256"}, lines) != header["sha256"]:
        raise BadInput("the submission was changed after it was made: its hash differs", where=str(path),
                       do="ask for the original file")  # fmt: skip
    tables = {table: _table(table, rows, str(path)) for table, rows in columns.items() if rows}
    if "answers" not in tables:
        raise BadInput("the submission has no answers", where=str(path))
    return Submission(header, tables)


def accept_submission(path: Path, submission: Submission, *, again: bool = False) -> AcceptResult:
    """Check a submission against a board's arena and add it, in one transaction.

    Args:
        path: folder of the board's arena.
        submission: the submission.
        again: whether to accept another submission of the same system, as `NAME~2`.

    Raises:
        BadInput: if its queries are not the board's, its rows are about other systems or queries or overlap with rows
        of the board, or the system is already on the board. ArenaError: if the arena cannot be written.
    """
    arena = store.open_arena(path)
    name = _name_on(arena, submission.system, again=again)
    keys = _queries(arena)
    if submission.header["queries"] != _hash_queries(keys):
        raise BadInput(
            f"its {submission.header['n_queries']:,} queries are not the {len(keys):,} queries of this board",
            where=arena.address,
            do="answer the board's own queries: import them from its site or arena",
        )
    known = set(_systems(arena))
    rows: dict[str, NewRows] = {}
    for table, submitted in submission.tables.items():
        data = submitted.to_pylist()
        _check_rows(table, data, submission.system, keys, known)
        renamed = [_rename(row, submission.system, name) for row in data]
        new = schema.from_columns(table, {c.name: [row[c.name] for row in renamed] for c in schema.columns(table)})
        _refuse_overlap(arena, table, new)
        rows[table] = NewRows(new, new.select(list(schema.key(table))).slice(0, 0))
    answered = {(row["language"], row["query_id"]) for row in submission.tables["answers"].to_pylist()}
    unanswered = len(keys) - len(answered)
    header = submission.header
    note = (
        f"{name}: submitted; made with mirage {header['program']}; sampling: {header['sampling']}; "
        f"{header['runs']} runs made, {header['withdrawn']} withdrawn; {unanswered} queries not answered; "
        f"submission SHA-256 {header['sha256']}"
    )

    def check_unchanged(current: Arena) -> None:
        if current.version != arena.version:
            raise ArenaError("another program has changed the arena", where=arena.address, do="run the command again")

    settings = [f"{name}: {str(line).partition(': ')[2]}" for line in header["settings"]]
    store.upsert(path, rows, made_by=Provenance("mirage accept", notes=[note, *settings]), check=check_unchanged)
    return AcceptResult(name, {table: len(part.new) for table, part in rows.items()}, unanswered)


def _canonical(value: Any, where: str) -> bytes:
    try:
        return canonical(value)
    except ValueError:
        raise BadInput("a row has a number or a text that JSON cannot hold", where=where) from None


def _digest(header: Mapping[str, Any], lines: Iterable[bytes]) -> str:
    digest = hashlib.sha256(canonical(header))
    for line in lines:
        digest.update(b"\n" + line)
    return digest.hexdigest()


def _queries(arena: Arena) -> set[tuple[str, str]]:
    table = next((name for name in ("queries", "answers", "outcomes", "judgments") if name in arena.tables), None)
    if table is None:
        raise NotEnoughData("the arena has no queries", where=arena.address, do="import the board's queries")
    rows = arena.read(table, columns=_UNIT)
    return set(zip(rows["language"].to_pylist(), rows["query_id"].to_pylist(), strict=True))


def _hash_queries(keys: Iterable[tuple[str, str]]) -> str:
    return hashlib.sha256(canonical(sorted(map(list, keys)))).hexdigest()


def _systems(arena: Arena) -> list[str]:
    return sorted({run.name for run in store.system_runs(arena)})


def _rows_of(arena: Arena, table: str, system: str) -> list[dict[str, Any]]:
    side = "system = $1" if table != "judgments" else "(system_a = $1 OR system_b = $1)"
    names = [column.name for column in schema.columns(table)]
    present = set(arena.sql(f'SELECT * FROM "{table}" LIMIT 0').column_names)  # noqa: S608  # a table's name
    chosen = ", ".join(
        f'"{name}"' if name in present and name not in _SECRET else f'NULL AS "{name}"' for name in names
    )
    order = ", ".join(f'"{name}"' for name in schema.key(table))
    rows = arena.sql(f'SELECT {chosen} FROM "{table}" WHERE {side} ORDER BY {order}', [system])  # noqa: S608  # our own names
    return list(rows.to_pylist())


def _table(table: str, rows: Sequence[Mapping[str, Any]], where: str) -> pa.Table:
    names = {column.name for column in schema.columns(table)}
    for row in rows:
        if set(row) != names:
            raise BadInput(f"a row of {table} has missing or unknown columns", where=where)
    data = schema.from_columns(table, {name: [row[name] for row in rows] for name in names})
    schema.validate(table, data, where=where)
    return data


def _name_on(arena: Arena, system: str, *, again: bool) -> str:
    known = set(_systems(arena))
    if system not in known:
        return system
    if not again:
        raise BadInput(
            f"{system} is already on this board",
            where=arena.address,
            do="add it next to the first with --again; both stay listed",
        )
    number = 2
    while f"{system}~{number}" in known:
        number += 1
    return f"{system}~{number}"


def _check_rows(
    table: str, rows: Sequence[Mapping[str, Any]], system: str, keys: set[tuple[str, str]], known: set[str]
) -> None:
    """Reject rows about other queries or systems than the submission's."""
    for row in rows:
        key = (row["language"], row["query_id"])
        if key not in keys:
            raise BadInput(f"a row of {table} is about a query that is not on the board", where=f"{key[0]} {key[1]}")
        if table != "judgments":
            if row["system"] != system:
                raise BadInput(f"a row of {table} is about another system", where=str(row["system"]))
            continue
        sides = {row["system_a"], row["system_b"]}
        others = sides - {system}
        if system not in sides or not others <= known or len(sides) < 2:
            raise BadInput(
                "a verdict is not between the submitted system and one of the board", where=f"{key[0]} {key[1]}"
            )


def _rename(row: Mapping[str, Any], system: str, name: str) -> dict[str, Any]:
    sides = ("system", "system_a", "system_b")
    return {column: name if column in sides and value == system else value for column, value in row.items()}


def _refuse_overlap(arena: Arena, table: str, new: pa.Table) -> None:
    """Reject rows whose keys the board already has."""
    if table not in arena.tables:
        return
    names = list(schema.key(table))
    have = set(zip(*(arena.read(table, columns=names)[name].to_pylist() for name in names), strict=True))
    for key in zip(*(new[name].to_pylist() for name in names), strict=True):
        if key in have:
            raise BadInput(f"table {table} of the board already has this row", where=", ".join(map(str, key)),
                           do="submit each result once; nothing was added")  # fmt: skip
