"""The passages that a retriever searches, one language at a time: a file of them, or those of an arena."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mirage import schema, store
from mirage.errors import BadInput, NotEnoughData
from mirage.formats.trec import IDS, TEXTS, language_of_file
from mirage.languages import language as language_of

if TYPE_CHECKING:
    import pyarrow as pa

COLUMNS = ("passage_id", "title", "text")
_CHUNK = 16_384
"""Passages that are kept as Python objects until they go into an Arrow table, which takes a third of the memory."""
_FILES = ("*.jsonl", "*.jsonl.gz", "*.jsonl.zst", "*.csv", "*.csv.gz", "*.csv.zst", "*.parquet")


@dataclass(frozen=True, slots=True)
class Corpus:
    """The passages of one language that are searched."""

    language: str
    """Code of the language."""
    passages: pa.Table
    """Columns passage_id, title and text; ids are distinct, and no text is null."""

    def texts(self) -> Iterator[str]:
        """What is searched of each passage: its title and its text."""
        for batch in self.passages.select(["title", "text"]).to_batches():
            for title, text in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                yield f"{title} {text}" if title else text


def read_corpus(path: Path, language: str) -> Corpus:
    """Read the passages of one language.

    Args:
        path: JSON Lines, CSV or Parquet, packed or not, or a folder of such files: `docid` (or another name that data
            sets have for it), `title` and `text`. A field `language`, or else a name like `corpus.fi.jsonl`, says the
            language; a file that says none is taken for any.
        language: code of the language.

    Raises:
        BadInput: naming file and line, if a passage has no id or no text, or an id occurs twice; if there is no file.
        NotEnoughData: if no passage is in the language.
    """
    ids: set[str] = set()
    parts: list[pa.Table] = []
    rows: list[dict[str, Any]] = []
    for line in _lines(path, language):
        row = _passage(line)
        if row["passage_id"] in ids:
            raise BadInput(
                f"the corpus has two passages {row['passage_id']}",
                where=line.where,
                do="keep one, or give it its own id",
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
            do="give a field language, name the file like corpus.fi.jsonl, or choose other --languages",
        )
    import pyarrow as pa

    return Corpus(language, pa.concat_tables([*parts, _table(rows)]))


def arena_corpus(passages: pa.Table, language: str) -> Corpus:
    """The passages of an arena in one language, each once; those without text are left out.

    Args:
        passages: `schema.Passage` rows; of two with one id the first by query stays.
        language: code of the language.

    Raises:
        NotEnoughData: if none has a text.
    """
    import pyarrow.compute as pc

    own = passages.filter(pc.and_(pc.equal(passages["language"], language), pc.is_valid(passages["text"])))
    first = schema.sort("passages", own).group_by("passage_id", use_threads=False)
    table = first.aggregate([("title", "first"), ("text", "first")]).rename_columns(list(COLUMNS))
    if not len(table):
        raise NotEnoughData(
            f"the arena has no text of a passage in {language}", do="give a corpus with --corpus, or other --languages"
        )
    return Corpus(language, table.sort_by("passage_id"))


def _lines(path: Path, language: str) -> Iterator[store.Line]:
    files: Iterable[Path] = store.list_files(path, *_FILES) if path.is_dir() else [path]
    for file in files:
        named = language_of_file(file.name)
        for line in store.records(file):
            field = line.value.get("language")
            code = language_of(str(field), where=line.where).code if field else named
            if code in (None, language):
                yield line


def _passage(line: store.Line) -> dict[str, Any]:
    value = line.value
    passage_id = next((value[name] for name in ("passage_id", *IDS) if value.get(name) not in (None, "")), None)
    text = next((value[name] for name in TEXTS if value.get(name) is not None), None)
    if passage_id is None or not isinstance(text, str):
        raise BadInput("this passage has no id or no text", where=line.where, do="give docid, title and text")
    title = value.get("title")
    return {"passage_id": str(passage_id), "title": str(title) if title else None, "text": text}


def _table(rows: list[dict[str, Any]]) -> pa.Table:
    import pyarrow as pa

    return pa.Table.from_pylist(rows, pa.schema([(name, pa.string()) for name in COLUMNS]))
