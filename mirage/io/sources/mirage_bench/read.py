"""Read the files of the public data sets into tables."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mirage import schema
from mirage.errors import BadInput, UnknownName
from mirage.io.columns import Columns
from mirage.io.sources.checks import TEXT, TEXT_OR_NULL, Fields, check_fields
from mirage.io.sources.mirage_bench.prompt import split_bench_prompt
from mirage.store import records
from mirage.store.files import list_files
from mirage.text.data import load_words
from mirage.text.languages import LANGUAGES, language

if TYPE_CHECKING:
    import pyarrow as pa

FEATURES: dict[str, str] = load_words("features", "mirage.io.sources.mirage_bench")
"""The eleven features: our name, also the column of `mirage-bench-output`, and that of `mirage-eval-rag-output`."""
_ID = ((str, int), "a text")
_IDS = ((list, type(None)), "a list of ids")
QUESTION: Fields = {"query_id": _ID, "prompt": TEXT_OR_NULL, "positive_ids": _IDS, "negative_ids": _IDS}
"""Columns of a query, in both generations."""
ANSWERS: Fields = {"query_id": _ID, "outputs": ((list,), "a list of objects with model and output")}
"""Columns of the answers to a query, besides one for each feature."""
_OUTPUT: Fields = {"model": _ID, "output": TEXT_OR_NULL}
_BY_SYSTEM = ((dict, type(None)), "an object of values by system")
_NUMBERS = (int, float, type(None))
_BATTLE = ("query_id", "judge", "model_A", "model_B")
JUDGMENT: Fields = {
    **dict.fromkeys(_BATTLE, _ID),
    "verdict": ((str, int, type(None)), "a verdict"),
    "output": TEXT_OR_NULL,
}
"""Columns of a verdict; `output`, the rationale, may be absent."""

VERDICTS = {"a": "A", "b": "B", "tie": "tie", "c": "tie"}
"""Our verdict by theirs in lower case. The prompt uses `C` for a tie."""
NO_PROMPT = "the prompt was not published"
"""Reason for the text of a query whose prompt is null."""
NO_VALUE = "no value at the source"
"""Reason of a feature that is null, not a number or not given for a system."""
NO_ANSWER = "no answer at the source"
"""Reason of an answer of a system that answered other queries of the language."""
TEMPLATE = "rag"

_Row = Mapping[str, Any]


@dataclass
class _Found:
    """Rows, keys and notes collected so far."""

    columns: Columns = field(default_factory=Columns)
    seen: dict[tuple[str, ...], str] = field(default_factory=dict)
    """Keys and their locations."""
    notes: Counter[str] = field(default_factory=Counter)
    """Notes for the reader, with their counts."""

    def once(self, where: str, table: str, *key: str) -> None:
        """Reject a key that has occurred before."""
        before = self.seen.setdefault((table, *key), where)
        if before != where:
            raise BadInput(
                f"this repeats {before}: {', '.join(key)}", where=where, do=f"keep one of the {table}, or one folder"
            )


def read_bench(
    path: Path, *, progress: Callable[[int, int], None] | None = None
) -> tuple[dict[str, pa.Table], list[str]]:
    """Read all data sets of a folder.

    Args:
        path: a file, or a folder with files at any depth, `.parquet` or `.jsonl` (with `.gz` if compressed). A file's
            language is the code or lower-case English name at the start of its name or of one of its folders;
            otherwise every row has a column `language`.
        progress: called with the number of files read and the total.

    Returns:
        The tables `queries` and `passages`, `answers` and `features`, `judgments`, if their sets are present; and notes
        for the reader. A feature without a value is null with a reason.

    Raises:
        UnknownName: if a language is unknown.
        BadInput: naming file and line (or row), if a column is missing or a value differs from the published form.
    """
    files = bench_files(path)
    collected = _Found()
    for position, (file, code) in enumerate(files.items()):
        if progress:
            progress(position, len(files))
        _read(file, code, collected)
    if progress:
        progress(len(files), len(files))
    tables = collected.columns.tables()
    if "queries" in tables and "passages" not in tables:
        tables["passages"] = schema.arrow_schema("passages").empty_table()
    _refuse_strays(collected)
    return tables, [f"{note} ({n:,} times)" if n > 1 else note for note, n in sorted(collected.notes.items())]


def bench_files(path: Path) -> dict[Path, str | None]:
    """Return the files that `read_bench` reads, with their language if name or folder contain it.

    Raises:
        BadInput: if there is none.
    """
    if records.ending(path):
        return {path: _language(path, path.parent.parent)}
    files = [file for file in list_files(path, "**/*") if records.ending(file) in (".parquet", ".jsonl")]
    if not files:
        raise BadInput(
            f"{path} holds no .parquet or .jsonl file",
            do="give the folder that mirage pull mirage-bench filled, or files of the data sets",
        )
    return {file: _language(file, path.parent) for file in files}


def _language(path: Path, top_folder: Path) -> str | None:
    """Return the language at the start of a file's name, or in the name of the nearest folder."""
    names = [
        re.split(r"[._-]", path.name)[0],
        *(folder.name for folder in path.parents if folder.is_relative_to(top_folder)),
    ]
    for name in names:
        if name in LANGUAGES or name in {entry.nomiracl_name for entry in LANGUAGES.values()}:
            return language(name).code
    return None


def _read(path: Path, code: str | None, collected: _Found) -> None:
    """Add the rows of one file."""
    rows = list(_rows(path, code))
    if not rows:
        raise BadInput("this file is empty", where=str(path), do="fetch or copy the file again")
    contents = content_kinds(list(rows[0][0]), str(path))
    for row, row_language, where in rows if "questions" in contents else ():
        check_fields(row, QUESTION, where)
        _query(row, row_language, where, collected)
    if "answers" in contents:
        _answers(rows, collected, str(path))
    for row, row_language, where in rows if "judgments" in contents else ():
        check_fields({"output": None, **row}, JUDGMENT, where)
        _judgment(row, row_language, where, collected)


def _rows(path: Path, code: str | None) -> Iterator[tuple[_Row, str, str]]:
    """Yield the rows of a file with language and location."""
    for line in records.records(path):
        if code is not None:
            yield line.value, code, line.where
            continue
        if "language" not in line.value:
            raise BadInput(
                "the language is not given",
                where=line.where,
                do="name the file or its folder by the language's code, or give a column language",
            )
        yield line.value, language(str(line.value["language"]), where=line.where).code, line.where


def _query(row: _Row, code: str, where: str, collected: _Found) -> None:
    query_id = str(row["query_id"])
    collected.once(where, "queries", code, query_id)
    labels: dict[str, bool] = {}
    for name, label in (("negative_ids", False), ("positive_ids", True)):
        for passage_id in row[name] or ():
            check_fields({f"an id of {name}": passage_id}, {f"an id of {name}": TEXT}, where)
            if passage_id in labels:
                what = f"passage {passage_id} of query {query_id} is named twice in positive_ids and negative_ids"
                raise BadInput(what, where=where, do="name every passage once")
            labels[passage_id] = label
    query: str | None = None
    texts: dict[str, str] = {}
    if row["prompt"] is not None:
        query, texts = split_bench_prompt(row["prompt"], list(labels), query_id=query_id, where=where)
        if not query:
            raise BadInput(f"the prompt of query {query_id} asks nothing", where=where, do="take that row out")
        if hidden := len(labels) - len(texts):
            collected.notes[f"{code}: a labelled passage is not in the prompt, and has no text"] += hidden
    key = code, query_id
    collected.columns.add("queries", key, text=query, reason=None if query else NO_PROMPT)
    order = [*texts, *sorted(set(labels) - set(texts))]
    for position, passage_id in enumerate(order, start=1):
        about = {"passage_id": passage_id, "position": position, "relevant": labels[passage_id]}
        collected.columns.add("passages", key, **about, text=texts.get(passage_id))


def _answers(rows: list[tuple[_Row, str, str]], collected: _Found, path: str) -> None:
    """Add answers and features; a system with any answer of a language gets a row for each query."""
    by_language: dict[str, list[tuple[_Row, str, dict[str, str | None]]]] = {}
    for row, code, where in rows:
        check_fields(row, ANSWERS, where)
        by_language.setdefault(code, []).append((row, where, _outputs(row, where)))
    for code, of_language in by_language.items():
        systems = sorted({system for _, _, outputs in of_language for system in outputs})
        columns = {name for row, _, _ in of_language for name in row}
        column_of = {
            feature: next((column for column in (feature, older) if column in columns), "")
            for feature, older in FEATURES.items()
        }
        if not any(column_of.values()):
            column_of = {}
        collected.notes.update(f"{code}: {path} has no column {name}" for name in column_of if not column_of[name])
        strays: set[str] = set()
        for row, where, outputs in of_language:
            query_id = str(row["query_id"])
            check_fields(row, {column: _BY_SYSTEM for column in column_of.values() if column in row}, where)
            for system in systems:
                collected.once(where, "answers", code, query_id, system)
                answer = outputs.get(system)
                status = "missing" if answer is None else "ok" if answer.strip() else "empty"
                reason = NO_ANSWER if answer is None else None
                about: dict[str, Any] = {"system": system, "status": status, "template": TEMPLATE, "reason": reason}
                collected.columns.add("answers", (code, query_id), **about, text=answer)
            for feature, column in column_of.items():
                given = row.get(column) or {}
                check_fields(given, dict.fromkeys(given, (_NUMBERS, f"a number, in {column}")), where)
                strays.update(system for system, value in given.items() if value is not None)
                for system in systems:
                    value = given.get(system)
                    value = value if value is not None and math.isfinite(value) else None
                    why = None if value is not None else NO_VALUE if column else f"no column {feature}"
                    about = {"system": system, "feature": feature, "value": value, "reason": why}
                    collected.columns.add("features", (code, query_id), **about)
        for system in strays - set(systems):
            collected.notes[f"{code}: {system} has features, but no answer; they are left out"] += 1


def _outputs(row: _Row, where: str) -> dict[str, str | None]:
    """Return answers by system."""
    outputs: dict[str, str | None] = {}
    for output in row["outputs"]:
        check_fields(output, _OUTPUT, where)
        system = str(output["model"])
        if system in outputs:
            raise BadInput(f"there are two outputs of {system}", where=where, do="keep one of them")
        outputs[system] = output["output"]
    return outputs


def _judgment(row: _Row, code: str, where: str, collected: _Found) -> None:
    query_id, judge, first, second = (str(row[name]) for name in _BATTLE)
    if first == second:
        raise BadInput(f"{first} is compared with itself", where=where, do="take that row out")
    collected.once(where, "judgments", code, query_id, judge, first, second)
    source_verdict, rationale = row["verdict"], row.get("output")
    verdict = VERDICTS.get(str(source_verdict).strip().casefold(), "unparsed")
    reason = (
        None
        if verdict != "unparsed"
        else f"the source says {source_verdict!r}"
        if source_verdict
        else "the source has no verdict"
    )
    if reason:
        collected.notes[f"{code}: a verdict that is none of A, B and Tie is unparsed"] += 1
    battle = {"judge": judge, "system_a": first, "system_b": second}
    collected.columns.add("judgments", (code, query_id), **battle, verdict=verdict, rationale=rationale, reason=reason)


def content_kinds(columns: Collection[str], where: str) -> set[str]:
    """Return the content of a file by its columns: `questions`, `answers`, `judgments`; older sets have the first two.

    Raises:
        BadInput: if it has none of these.
    """
    kinds = set()
    if "outputs" in columns:
        kinds.add("answers")
    if "prompt" in columns and not ("outputs" in columns and not {"positive_ids", "negative_ids"} & set(columns)):
        kinds.add("questions")
    if {"verdict", "model_A", "model_B"} & set(columns):
        kinds.add("judgments")
    if not kinds:
        raise BadInput(
            "this is none of the data sets of MIRAGE-Bench: there are " + (", ".join(columns) or "no columns"),
            where=where,
            do="queries have prompt, answers have outputs, judgments have verdict",
        )
    return kinds


def _refuse_strays(collected: _Found) -> None:
    """Reject answers and judgments of unknown queries, if any queries of their language are present."""
    query_ids: dict[str, set[str]] = {}
    for table, code, query_id, *_ in collected.seen:
        if table == "queries":
            query_ids.setdefault(code, set()).add(query_id)
    for (table, code, query_id, *_), where in collected.seen.items():
        if code in query_ids and query_id not in query_ids[code]:
            raise UnknownName(f"query in {code} for these {table}", query_id, query_ids[code], where=where)
