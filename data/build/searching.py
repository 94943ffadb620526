"""Retrievers of the sample arenas: passages found for their queries, as rows of the table `retrieved`."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc
import regex

from mirage import schema
from mirage.stages.retrieve.bm25 import Bm25, Hit
from mirage.stages.retrieve.corpus import Corpus, arena_corpus
from mirage.stages.retrieve.stage import ranked_passages
from mirage.text.segmentation import terms

Analyse = Callable[[str], Sequence[str]]
"""Splits a text into terms."""
Search = Callable[[Corpus, Sequence[str]], Sequence[Sequence[Hit]]]
"""Returns the best passages of a corpus for each query, best first."""
DEPTH = 10
"""Passages per query and retriever."""
_UNSPACED = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}ー]"
_RUN = regex.compile(rf"(?:[{_UNSPACED}&&[\p{{L}}\p{{N}}]]\p{{M}}*)+|[[\p{{L}}\p{{M}}\p{{N}}]--{_UNSPACED}]+", regex.V1)


def trigrams(text: str) -> list[str]:
    """Return the character trigrams of the words of a text in order, for search across inflections.

    Each word is padded with a space on both sides; in an unspaced script trigrams span the whole run.
    """
    runs = _RUN.findall(unicodedata.normalize("NFKC", text).casefold())
    return [f" {run} "[k : k + 3] for run in runs for k in range(len(run))]


def search_by(analyse: Analyse = terms) -> Search:
    """Return a search by BM25 with an analyser that does not change with the program's, so that its lists stay."""

    def search(corpus: Corpus, queries: Sequence[str]) -> list[list[Hit]]:
        index = Bm25(corpus.texts(), analyse)
        return [index.search(query, DEPTH) for query in queries]

    return search


def find_passages(tables: Mapping[str, pa.Table], name: str, search: Search, *, across: bool = False) -> pa.Table:
    """Return a retriever's passages for every query: among those of its language, or of all languages at once.

    Args:
        tables: `queries` and `passages`.
        name: the retriever.
        search: searches a corpus.
        across: search all languages, and name that of each passage.
    """
    queries, passages = schema.sort("queries", tables["queries"]), tables["passages"]
    keys = zip(*(passages[column].to_pylist() for column in schema.key("passages")), strict=True)
    known = {key for key, text in zip(keys, passages["text"].to_pylist(), strict=True) if text is not None}
    codes = sorted(set(queries["language"].to_pylist()))
    if across:
        own = pc.coalesce(passages["passage_language"], passages["language"])
        passages = passages.set_column(passages.column_names.index("language"), "language", own)
    parts = {code: arena_corpus(passages, code).passages for code in sorted(set(passages["language"].to_pylist()))}
    groups = [(codes, list(parts))] if across else [([code], [code]) for code in codes]
    rows = []
    for of, among in groups:
        corpus = Corpus(pa.concat_tables([parts[code] for code in among]))
        languages = [code for code in among for _ in range(len(parts[code]))]
        asked = queries.filter(pc.is_in(queries["language"], value_set=pa.array(of, pa.string()))).to_pylist()
        for query, found in zip(asked, search(corpus, [query["text"] for query in asked]), strict=True):
            key = query["language"], query["query_id"]
            for passage, (row, _) in zip(ranked_passages(key, name, corpus, found, known), found, strict=True):
                rows.append(replace(passage, passage_language=languages[row] if across else None))
    return schema.sort("retrieved", schema.from_rows("retrieved", rows))
