"""What leaves an arena as a file: a table, or a judge's preferences."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mirage import generate, llm, prompts, sft, store
from mirage.errors import BadInput, NotEnoughData, UnknownName

if TYPE_CHECKING:
    import pyarrow as pa


def to_csv(rows: pa.Table, *, exact: bool = False) -> str:
    """The rows as CSV with a header; a null is an empty field. `exact`: as for `store.csv_text`."""
    return store.csv_text(rows.column_names, [tuple(row.values()) for row in rows.to_pylist()], exact=exact)


def to_json(rows: pa.Table, about: Mapping[str, Any]) -> str:
    """`{"about": {...}, "rows": [{...}, ...]}`."""
    return json.dumps({"about": dict(about), "rows": rows.to_pylist()}, ensure_ascii=False, indent=1)


def to_jsonl(rows: pa.Table) -> str:
    """The rows as JSON Lines."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows.to_pylist())


def to_parquet(rows: pa.Table) -> bytes:
    """The rows as a Parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    out = pa.BufferOutputStream()
    pq.write_table(rows, out, compression="zstd")
    return bytes(out.getvalue())


_KINDS: dict[str, Callable[[pa.Table], str | bytes]] = {".csv": to_csv, ".jsonl": to_jsonl, ".parquet": to_parquet}


def export_table(
    path: Path, table: str, out: Path, *, languages: Sequence[str] | None = None, exact: bool = False
) -> int:
    """Write a table of an arena into one file, in the kind that its name says.

    Args:
        path: the arena's folder.
        table: name of the table.
        out: file named .csv, .jsonl or .parquet; replaced if it is there.
        languages: codes; None for all.
        exact: CSV: write also those texts as they are that a spreadsheet would compute.

    Returns:
        How many rows it holds.

    Raises:
        TableMissing: if the arena lacks the table.
        BadInput: if the file's name says no known kind, or it cannot be written.
    """
    _refuse_unknown_kind(out)
    arena = store.open_arena(path)
    arena.need(table)
    rows = arena.read(table, languages=languages)
    export_rows(rows, out, exact=exact)
    return len(rows)


def export_rows(rows: pa.Table, out: Path, *, exact: bool = False) -> None:
    """Write rows into one file, in the kind that its name says.

    Args:
        rows: the rows.
        out: file named .csv, .jsonl or .parquet; replaced if it is there.
        exact: as for `export_table`.

    Raises:
        BadInput: if the file's name says no known kind, or it cannot be written.
    """
    _refuse_unknown_kind(out)
    content = to_csv(rows, exact=True) if exact and out.suffix == ".csv" else _KINDS[out.suffix](rows)
    write(out, content if isinstance(content, bytes) else content.encode("utf-8"))


def _refuse_unknown_kind(out: Path) -> None:
    if out.suffix not in _KINDS:
        raise BadInput(f"{out.name} is of no known kind", do=f"name the file {', '.join(_KINDS)}")


def export_preferences(
    path: Path, out: Path, *, judge: str, languages: Sequence[str] | None = None, seed: int = 0
) -> tuple[int, Counter[str]]:
    """Write the pairs of answers between which a judge decided, for preference training.

    Args:
        path: an arena with queries, passages, answers and judgments.
        out: file named .jsonl; replaced if it is there.
        judge: whose verdicts.
        languages: codes; None for all.
        seed: seed of the passages' order in the prompt, as in `mirage generate`.

    Returns:
        How many pairs it holds, and how many others were left out, by reason.

    Raises:
        UnknownName: if the judge has no verdict here.
        NotEnoughData: if no pair is left.
        BadInput: if the file is not named .jsonl, or cannot be written.
    """
    if out.suffix != ".jsonl":
        raise BadInput(f"{out.name} is not named .jsonl", do="name the file of the pairs so")
    arena = store.open_arena(path)
    tables = {n: arena.read(n, languages=languages) for n in ("queries", "passages", "answers", "judgments")}
    judges = sorted(set(tables["judgments"]["judge"].to_pylist()))
    if judge not in judges:
        raise UnknownName("judge", judge, judges, where=str(path))
    prepared = generate.prepare(
        tables["queries"],
        tables["passages"],
        system=judge,
        template=prompts.load("rag"),
        settings=llm.Settings(model=judge),
        seed=seed,
    ).asked
    texts = {(prompt.language, prompt.query_id): prompt.text for prompt in prepared}
    pairs, left_out = sft.preferences(tables["judgments"], tables["answers"], texts, judge=judge)
    if not pairs:
        explanation = "; ".join(f"{n:,} times: {reason}" for reason, n in sorted(left_out.items()))
        raise NotEnoughData(f"{judge} prefers no answer to another", where=explanation, do="name another judge")
    write(out, "".join(pair.line() + "\n" for pair in pairs).encode("utf-8"))
    return len(pairs), left_out


def write(out: Path, data: bytes) -> None:
    """Write a file whole.

    Raises:
        BadInput: if it cannot be written.
    """
    try:
        store.write_bytes(out, data)
    except OSError as error:
        raise BadInput(
            f"{out} cannot be written: {error.strerror or error}", do="free space or check permissions"
        ) from None
