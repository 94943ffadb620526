"""From the files of the public data sets to tables."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mirage import schema, store
from mirage.errors import BadInput, UnknownName
from mirage.languages import LANGUAGES, language
from mirage.sources.mirage_bench.columns import (
    ANSWERS,
    FEATURES,
    JUDGMENT,
    QUESTION,
    VERDICTS,
    ids,
    need,
    number,
    parts,
    text,
)
from mirage.sources.mirage_bench.prompt import split_prompt

if TYPE_CHECKING:
    import pyarrow as pa

NO_PROMPT = "the prompt was not published"
"""Reason beside the text of a question whose prompt is null."""
NO_VALUE = "no value at the source"
"""Reason of a feature that is null, not a number or not given for a system."""
NO_REPLY = "no reply at the source"
"""Reason of an answer of a system that answered other questions of the language."""
TEMPLATE = "rag"

_Row = Mapping[str, Any]


@dataclass
class _Found:
    """What has been read so far."""

    columns: dict[str, dict[str, list[Any]]] = field(
        default_factory=lambda: {
            table: {c.name: [] for c in schema.columns(table)}
            for table in ("queries", "passages", "answers", "features", "judgments")
        }
    )
    seen: dict[tuple[str, ...], str] = field(default_factory=dict)
    """Keys and where they stand."""
    notes: Counter[str] = field(default_factory=Counter)
    """What a reader must know, and how often."""

    def add(self, table: str, *values: Any) -> None:
        """Add a row; the columns after the given ones, which these sets do not have, are null."""
        columns = list(self.columns[table].values())
        for column, value in zip(columns, [*values, *[None] * (len(columns) - len(values))], strict=True):
            column.append(value)

    def once(self, where: str, table: str, *key: str) -> None:
        """Refuse a key that has been before."""
        before = self.seen.setdefault((table, *key), where)
        if before != where:
            raise BadInput(
                f"this repeats {before}: {', '.join(key)}", where=where, do=f"keep one of the {table}, or one folder"
            )


def read(path: Path, *, progress: Callable[[int, int], None] | None = None) -> tuple[dict[str, pa.Table], list[str]]:
    """Read whichever of the data sets are there.

    Args:
        path: a file, or a folder with files at any depth, `.parquet` or `.jsonl` (`.gz` after that if compressed). A
            file's language is the code or lower-case English name that its name or one of its folders begins with, or
            is; else every row has a column `language`.
        progress: called with the number of files read and the number there are.

    Returns:
        The tables `queries` and `passages`, `answers` and `features`, `judgments`, as far as their sets are there; and
        what a reader must know of them. A feature without a value is null with a reason.

    Raises:
        UnknownName: if a language is unknown.
        BadInput: naming file and line (or row), if a column is missing or a value not as published.
    """
    files = bench_files(path)
    found = _Found()
    for done, (file, code) in enumerate(files.items()):
        if progress:
            progress(done, len(files))
        _read(file, code, found)
    if progress:
        progress(len(files), len(files))
    tables = {name: schema.from_columns(name, data) for name, data in found.columns.items() if data["language"]}
    if "queries" in tables and "passages" not in tables:
        tables["passages"] = schema.arrow_schema("passages").empty_table()
    _refuse_strays(found)
    return tables, [f"{note} ({n:,} times)" if n > 1 else note for note, n in sorted(found.notes.items())]


def bench_files(path: Path) -> dict[Path, str | None]:
    """The files that `read` reads, with their language where name or folder say it.

    Raises:
        BadInput: if there is none.
    """
    if store.ending(path):
        return {path: _language(path, path.parent.parent)}
    files = [one for one in store.list_files(path, "**/*") if store.ending(one) in (".parquet", ".jsonl")]
    if not files:
        raise BadInput(
            f"{path} holds no .parquet or .jsonl file",
            do="give the folder that mirage pull mirage-bench filled, or files of the data sets",
        )
    return {one: _language(one, path.parent) for one in files}


def _language(path: Path, above: Path) -> str | None:
    """The language that a file's name begins with, or the nearest folder is named by."""
    names = [
        re.split(r"[._-]", path.name)[0],
        *(folder.name for folder in path.parents if folder.is_relative_to(above)),
    ]
    for name in names:
        if name in LANGUAGES or name in {one.nomiracl_name for one in LANGUAGES.values()}:
            return language(name).code
    return None


def _read(path: Path, code: str | None, found: _Found) -> None:
    """Add the rows of one file."""
    rows = list(_rows(path, code))
    if not rows:
        raise BadInput("this file is empty", where=str(path), do="fetch or copy the file again")
    held = parts(list(rows[0][0]), str(path))
    for row, lang, where in rows if "questions" in held else ():
        need(row, QUESTION, where)
        _question(row, lang, where, found)
    if "answers" in held:
        _answers(rows, found, str(path))
    for row, lang, where in rows if "judgments" in held else ():
        need(row, JUDGMENT, where)
        _judgment(row, lang, where, found)


def _rows(path: Path, code: str | None) -> Iterator[tuple[_Row, str, str]]:
    """The rows of a file with language and place."""
    for line in store.records(path):
        if code is not None:
            yield line.value, code, line.where
            continue
        if "language" not in line.value:
            raise BadInput(
                "nothing says which language this is",
                where=line.where,
                do="name the file or its folder by the language's code, or give a column language",
            )
        yield line.value, language(str(line.value["language"]), where=line.where).code, line.where


def _question(row: _Row, code: str, where: str, found: _Found) -> None:
    query_id = text(row, "query_id", where)
    found.once(where, "queries", code, query_id)
    labels = dict.fromkeys(ids(row, "negative_ids", where), False)
    for one in ids(row, "positive_ids", where):
        if one in labels:
            raise BadInput(
                f"passage {one} of query {query_id} is in positive_ids and in negative_ids",
                where=where,
                do="leave it in one of them",
            )
        labels[one] = True
    question: str | None = None
    shown: dict[str, str] = {}
    if row["prompt"] is not None:
        prompt = text(row, "prompt", where)
        question, shown = split_prompt(prompt, list(labels), query_id=query_id, where=where)
        if not question:
            raise BadInput(f"the prompt of query {query_id} asks nothing", where=where, do="take that row out")
        if hidden := len(labels) - len(shown):
            found.notes[f"{code}: a labelled passage is not in the prompt, and has no text"] += hidden
    found.add("queries", code, query_id, None, question, None if question else NO_PROMPT)
    order = [*shown, *sorted(set(labels) - set(shown))]
    for position, one in enumerate(order, start=1):
        found.add("passages", code, query_id, one, position, None, shown.get(one), labels[one])


def _answers(rows: list[tuple[_Row, str, str]], found: _Found, path: str) -> None:
    """Answers and features; a system that answered any question of a language has a row for each."""
    given: dict[str, list[tuple[_Row, str, dict[str, str | None]]]] = {}
    for row, code, where in rows:
        need(row, ANSWERS, where)
        given.setdefault(code, []).append((row, where, _outputs(row, where)))
    for code, of_language in given.items():
        systems = sorted({system for _, _, outputs in of_language for system in outputs})
        columns = {name for row, _, _ in of_language for name in row}
        named = {ours: next((one for one in theirs if one in columns), None) for ours, theirs in FEATURES.items()}
        if any(named.values()):
            for ours, theirs in named.items():
                if theirs is None:
                    found.notes[f"{code}: {path} has no column {FEATURES[ours][0]}"] += 1
        strays: set[str] = set()
        for row, where, outputs in of_language:
            query_id = text(row, "query_id", where)
            for system in systems:
                found.once(where, "answers", code, query_id, system)
                reply = outputs.get(system)
                status = "missing" if reply is None else "ok" if reply.strip() else "empty"
                reason = NO_REPLY if reply is None else None
                found.add("answers", code, query_id, system, reply, status, TEMPLATE, reason, None)
            for ours, theirs in named.items() if any(named.values()) else ():
                values = _values(row, theirs, where)
                strays.update(system for system, value in values.items() if value is not None)
                for system in systems:
                    value = number(values.get(system), f"{theirs} of {system}", where)
                    why = None if value is not None else NO_VALUE if theirs else f"no column {FEATURES[ours][0]}"
                    found.add("features", code, query_id, system, ours, value, why)
        for system in strays - set(systems):
            found.notes[f"{code}: {system} has features, but no answer; they are left out"] += 1


def _outputs(row: _Row, where: str) -> dict[str, str | None]:
    """Replies by system."""
    outputs: dict[str, str | None] = {}
    if not isinstance(row["outputs"], list):
        raise BadInput("outputs is no list", where=where, do="write a list of objects with model and output")
    for one in row["outputs"]:
        if not isinstance(one, Mapping):
            raise BadInput(f"an output is {one!r}, not an object", where=where, do="give it model and output")
        need(one, ("model", "output"), where)
        system, reply = text(one, "model", where), one["output"]
        if not isinstance(reply, str | None):
            raise BadInput(f"the output of {system} is {reply!r}, not a text", where=where, do="write a text or null")
        if system in outputs:
            raise BadInput(f"there are two outputs of {system}", where=where, do="keep one of them")
        outputs[system] = reply
    return outputs


def _values(row: _Row, name: str | None, where: str) -> Mapping[str, Any]:
    """A feature's values by system."""
    values = row.get(name) if name else None
    if not isinstance(values, Mapping | None):
        raise BadInput(f"{name} is {values!r}, not an object", where=where, do="write an object of values by system")
    return values or {}


def _judgment(row: _Row, code: str, where: str, found: _Found) -> None:
    query_id, judge, first, second = (text(row, name, where) for name in JUDGMENT[:4])
    if first == second:
        raise BadInput(f"{first} is compared with itself", where=where, do="take that row out")
    found.once(where, "judgments", code, query_id, judge, first, second)
    said, rationale = row["verdict"], row.get("output")
    if not isinstance(rationale, str | None):
        raise BadInput(f"output is {rationale!r}, not a text", where=where, do="write a text or null")
    verdict = VERDICTS.get(str(said).strip().casefold(), "unparsed")
    reason = None if verdict != "unparsed" else f"the source says {said!r}" if said else "the source has no verdict"
    if reason:
        found.notes[f"{code}: a verdict that is none of A, B and Tie is unparsed"] += 1
    found.add("judgments", code, query_id, judge, first, second, verdict, rationale, reason, None)


def _refuse_strays(found: _Found) -> None:
    """Refuse answers and judgments of questions that are not there, where any questions of their language are."""
    asked: dict[str, set[str]] = {}
    for table, code, query_id, *_ in found.seen:
        if table == "queries":
            asked.setdefault(code, set()).add(query_id)
    for (table, code, query_id, *_), where in found.seen.items():
        if code in asked and query_id not in asked[code]:
            raise UnknownName(f"question in {code} for these {table}", query_id, asked[code], where=where)
