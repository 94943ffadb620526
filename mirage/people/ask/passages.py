"""Passages for a question: BM25 over the passages of an arena, in the question's language."""

from __future__ import annotations

import threading
from functools import lru_cache
from typing import TYPE_CHECKING

from mirage import schema
from mirage.errors import NotEnoughData
from mirage.stages.retrieve.bm25 import Bm25
from mirage.stages.retrieve.corpus import COLUMNS, Corpus, arena_corpus

if TYPE_CHECKING:
    from mirage.store import Arena

_SEARCHING = threading.Lock()


def find_passages(arena: Arena, query_id: str, text: str, language: str, depth: int) -> tuple[schema.Passage, ...]:
    """Return the passages that match a question best, as rows of table `passages`.

    If the arena has no passages in the language, all languages are searched: names and numbers may match.

    Args:
        arena: the arena whose passages are searched.
        query_id: id of the question.
        text: the question.
        language: its language.
        depth: maximum number of passages.

    Raises:
        TableMissing: if the arena has no passages.
        BadInput: if the extra `retrieval` is not installed.
        NotEnoughData: if no passage shares a word with the question.
    """
    arena.need("passages")
    # The index is built once and reuses its own arrays.
    with _SEARCHING:
        corpus, index = _index(arena, language if language in arena.languages("passages") else None)
        hits = index.search(text, depth)
    if not hits:
        raise NotEnoughData(
            "no passage of this arena shares a word with the question", do="ask about a topic of its passages"
        )
    rows = corpus.passages.take([row for row, _ in hits]).to_pylist()
    return tuple(
        schema.Passage(language, query_id, row["passage_id"], place, row["title"], row["text"], None)
        for place, row in enumerate(rows, 1)
    )


def corpus_languages(arena: Arena) -> list[str]:
    """Return the languages of the arena's passages; empty without any."""
    return list(arena.languages("passages")) if "passages" in arena.tables else []


@lru_cache(maxsize=24)
def _index(arena: Arena, language: str | None) -> tuple[Corpus, Bm25]:
    columns = ("language", "query_id", *COLUMNS)
    if language is not None:
        corpus = arena_corpus(arena.read("passages", languages=[language], columns=columns), language)
    else:
        import pyarrow as pa

        parts = []
        for code in arena.languages("passages"):
            try:
                parts.append(arena_corpus(arena.read("passages", languages=[code], columns=columns), code).passages)
            except NotEnoughData:
                continue
        if not parts:
            raise NotEnoughData("the arena has no passage with a text", do="import passages with texts")
        corpus = Corpus("", pa.concat_tables(parts))
    return corpus, Bm25(corpus.texts())
