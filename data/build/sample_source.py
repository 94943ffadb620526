"""The written sources of the sample arenas: questions, passages, nuggets and sentences, one JSON file a language.

`fi.json` has ten questions with eight labelled passages each and a reference answer; `nuggets/fi.json` the facts that a
good answer holds, each true by the passage it names; `answers/fi.json` a sentence in other words for each nugget, in
their order, an unsupported claim and the facts asked for in English for each question, and four sentences that say
nothing. All are CC0-1.0 and reviewed by hand; the builders trust them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from mirage import schema
from mirage.schema import REFERENCE
from mirage.store.files import list_files
from mirage.text.answers import compose_answer

LICENCE = "CC0-1.0"
NUGGETS, ANSWERS = "nuggets", "answers"
"""Folders of the nuggets and of the sentences, beside the questions."""
AUTHOR = "sample"
"""Author of the nuggets in table `nuggets`."""


@dataclass(frozen=True, slots=True)
class SampleNugget:
    """One fact that a good answer to a question holds."""

    language: str
    query_id: str
    nugget_id: str
    importance: schema.NuggetImportance
    passage_id: str
    text: str


@dataclass(frozen=True, slots=True)
class WrittenAnswer:
    """The sentences about one question."""

    facts: tuple[str, ...]
    """One sentence for each nugget of the question, in their order."""
    unsupported: str
    """An answer that is wrong, or that no passage states."""
    english: str
    """The vital facts in English; without any, the unsupported answer."""
    padding: tuple[str, ...]
    """Sentences of the language that fit every question and say nothing."""


def source_files(folder: Path) -> list[Path]:
    """Return the files of the questions, the nuggets and the sentences."""
    return [path for part in ("", NUGGETS, ANSWERS) for path in list_files(folder / part, "*.json")]


def read_sample(folder: Path) -> dict[str, pa.Table]:
    """Return the tables `queries`, `passages` (labelled, in the order of the file) and `answers` (of the reference)."""
    rows: dict[str, list[Any]] = {"queries": [], "passages": [], "answers": []}
    for code, query in _entries(folder, "questions"):
        key = code, query["query_id"]
        answerable = any(passage["relevant"] for passage in query["passages"])
        rows["queries"].append(
            schema.Query(*key, "relevant" if answerable else "non_relevant", query["question"], None)
        )
        text = compose_answer(query["reason"], query["answer"])
        rows["answers"].append(schema.Answer(*key, REFERENCE, text, "ok", "rag", None, None))
        for place, passage in enumerate(query["passages"], start=1):
            content = passage["title"], passage["text"], passage["relevant"]
            rows["passages"].append(schema.Passage(*key, passage["passage_id"], place, *content))
    return {name: schema.from_rows(name, records) for name, records in rows.items()}


def english_questions(folder: Path) -> dict[str, str]:
    """Return the English translation of each question, by its id."""
    return {query["query_id"]: query["question_en"] for _, query in _entries(folder, "questions")}


def read_nuggets(folder: Path) -> tuple[SampleNugget, ...]:
    """Return the nuggets, by language code, in the order of the files."""
    return tuple(SampleNugget(code, **row) for code, row in _entries(folder / NUGGETS, "nuggets"))


def nugget_table(nuggets: tuple[SampleNugget, ...]) -> pa.Table:
    """Return nuggets as the table `nuggets`."""
    rows = [
        schema.Nugget(n.language, n.query_id, n.nugget_id, n.text, n.importance, n.passage_id, AUTHOR) for n in nuggets
    ]
    return schema.sort("nuggets", schema.from_rows("nuggets", rows))


def read_written(folder: Path) -> Mapping[tuple[str, str], WrittenAnswer]:
    """Return the sentences by language and question."""
    padding = {path.stem: tuple(_load(path)["padding"]) for path in list_files(folder / ANSWERS, "*.json")}
    return {
        (code, row["query_id"]): WrittenAnswer(tuple(row["facts"]), row["unsupported"], row["english"], padding[code])
        for code, row in _entries(folder / ANSWERS, "answers")
    }


def _entries(folder: Path, name: str) -> list[tuple[str, dict[str, Any]]]:
    return [(path.stem, entry) for path in list_files(folder, "*.json") for entry in _load(path)[name]]


def _load(path: Path) -> dict[str, Any]:
    return dict(json.loads(path.read_text(encoding="utf-8")))
