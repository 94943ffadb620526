"""Corpora to search, one language at a time: files, or the passages of an arena."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from mirage import schema
from mirage.errors import BadInput, NotEnoughData
from mirage.store import records
from mirage.store.files import Line, list_files
from mirage.text.languages import language as language_of
from mirage.text.languages import language_of_file

ID_FIELDS = ("_id", "docid", "doc_id", "pid", "id")
"""Field names of a document's id in a corpus."""
TEXT_FIELDS = ("text", "contents", "segment", "body")
"""Field names of its text."""
COLUMNS = ("passage_id", "title", "text")
_CHUNK = 16_384
"""Passages held as Python objects before conversion to Arrow, which takes a third of the memory."""
_FILES = ("*.jsonl", "*.jsonl.gz", "*.jsonl.zst", "*.csv", "*.csv.gz", "*.csv.zst", "*.parquet")


@dataclass(frozen=True, slots=True)
class Corpus:
    """The passages to search."""

    passages: pa.Table
    """Columns passage_id, title and text; ids are distinct, and no text is null."""

    def texts(self) -> Iterator[str]:
        """Yield the searched text of each passage: its title and text."""
        for batch in self.passages.select(["title", "text"]).to_batches():
            for title, text in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                yield f"{title} {text}" if title else text


def read_corpus(path: Path, language: str) -> Corpus:
    """Read the passages of one language.

    Args:
        path: JSON Lines, CSV or Parquet, compressed or not, or a folder of such files: `docid` (or another common
            name), `title` and `text`. The language is given by a field `language`, or else a file name like
            `corpus.fi.jsonl`; a file without either is used for any language.
        language: code of the language.

    Raises:
        BadInput: naming file and line, if a passage has no id or no text, or a duplicate id; if there is no file.
        NotEnoughData: if no passage is in the language.
    """
    ids: set[str] = set()
    parts: list[pa.Table] = []
    rows: list[dict[str, Any]] = []
    files = list_files(path, *_FILES) if path.is_dir() else [path]
    for named, line in ((language_of_file(file.name), line) for file in files for line in records.records(file)):
        field = line.value.get("language")
        if (language_of(str(field), where=line.where).code if field else named) not in (None, language):
            continue
        row = read_passage(line)
        if row["passage_id"] in ids:
            raise BadInput(
                f"the corpus has two passages {row['passage_id']}",
                where=line.where,
                do="remove one, or give it its own id",
            )
        ids.add(row["passage_id"])
        rows.append(row)
        if len(rows) == _CHUNK:
            parts.append(_table(rows))
            rows = []
    if not ids:
        raise NotEnoughData(
            f"the corpus has no passage in {language}",
            where=str(path),
            do="add a field language, name the file like corpus.fi.jsonl, or choose other --languages",
        )

    return Corpus(pa.concat_tables([*parts, _table(rows)]))


def arena_corpus(passages: pa.Table, language: str) -> Corpus:
    """Return the distinct passages of an arena with a text in one language.

    Args:
        passages: `schema.Passage` rows; of several with one id the first by query is used.
        language: code of the language.

    Raises:
        NotEnoughData: if none has a text.
    """
    own = passages.filter(pc.and_(pc.equal(passages["language"], language), pc.is_valid(passages["text"])))
    first = schema.sort("passages", own).group_by("passage_id", use_threads=False)
    table = first.aggregate([("title", "first"), ("text", "first")]).rename_columns(list(COLUMNS))
    if not len(table):
        raise NotEnoughData(
            f"the arena has no passage text in {language}", do="add a corpus with --corpus, or choose other --languages"
        )
    return Corpus(table.sort_by("passage_id"))


def read_passage(line: Line) -> dict[str, Any]:
    """Return id, title and text of a record, by `COLUMNS`; a null title if it has none.

    Raises:
        BadInput: if it has no id or no text.
    """
    value = line.value
    passage_id = next((value[name] for name in ("passage_id", *ID_FIELDS) if value.get(name) not in (None, "")), None)
    text = next((value[name] for name in TEXT_FIELDS if value.get(name) is not None), None)
    if passage_id is None or not isinstance(text, str):
        raise BadInput("this passage has no id or no text", where=line.where, do="write docid, title and text")
    title = value.get("title")
    return {"passage_id": str(passage_id), "title": str(title) if title else None, "text": text}


def _table(rows: list[dict[str, Any]]) -> pa.Table:

    return pa.Table.from_pylist(rows, pa.schema([(name, pa.string()) for name in COLUMNS]))
