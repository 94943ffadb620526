"""Retrieval stage: a retriever's passages for each query of an arena, beside those of other retrievers.

    retrieve(Path("arena"), RetrieveSettings("bm25", depth=100, corpus=Path("corpus.jsonl")), made_by="...")

The passages come from a corpus, or from the arena (`arena_corpus`). Searches can be split by language.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from mirage import schema, store
from mirage.errors import BadInput, UnknownName
from mirage.llm.engines.tasks import Executor
from mirage.stages.retrieve.bm25 import Hit, search_bm25
from mirage.stages.retrieve.corpus import Corpus, arena_corpus, corpus_languages, join_corpora, read_corpus
from mirage.stages.shown import refuse_changed, refuse_name
from mirage.stages.stage import Progress, Stage, Tables, run

if TYPE_CHECKING:
    import pyarrow as pa

Search = Callable[[Corpus, Sequence[str], int], Sequence[Sequence[Hit]]]
"""`search(corpus, queries, depth)`: the best passages for each query, best first."""


@dataclass(frozen=True, slots=True)
class RetrieveSettings:
    """Options for retrieving passages by BM25."""

    name: str = "bm25"
    """The retriever's name in the table."""
    depth: int = 100
    """Maximum passages per query."""
    corpus: Path | None = None
    """Location of the passages (`read_corpus`); None for those of the arena."""
    languages: Sequence[str] | None = None
    """Codes; None for all."""
    across: Sequence[str] | None = None
    """Passage languages that every query searches; empty for all, None for the query's own. All their passages are in
    one index, so that scores are comparable.
    """

    def __post_init__(self) -> None:
        refuse_name(self.name)
        if self.depth < 1:
            raise BadInput(f"the depth is {self.depth}", do="use 1 or more")

    def note(self) -> str:
        """Describe how the lists were made, for the manifest."""
        searched = f" over {self.corpus.name if self.corpus else 'the arena'}"
        if self.across is not None:
            searched += f" across {', '.join(self.across) or 'all languages'}"
        return f"{self.name}: bm25{searched}, depth {self.depth}"


def retrieve(
    path: Path,
    options: RetrieveSettings,
    *,
    made_by: str,
    search: Search = search_bm25,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> store.Arena:
    """Retrieve passages for the queries of an arena, replacing the retriever's earlier lists.

    Args:
        path: the arena's folder.
        options: retriever and options.
        made_by: the command, for the manifest.
        search: searches a corpus.
        progress: called with the number of finished languages, or parts, and the total.
        executor: runs languages in parallel; `search` must then be picklable. None to run here.

    Raises:
        ArenaError: if the arena lacks queries or cannot be written, or lists would change from which answers were
            generated.
        UnknownName: if there is no such language.
        BadInput: if a corpus cannot be read.
        NotEnoughData: if there is nothing to search.
    """
    arena = store.open_arena(path)
    arena.need("queries")
    for code in options.languages or ():
        if code not in arena.languages("queries"):
            raise UnknownName("language", code, arena.languages("queries"), where=arena.address)
    return run(
        RETRIEVE if options.across is None else ACROSS,
        path,
        made_by=made_by,
        part="retriever",
        notes=[options.note()],
        executor=executor,
        check=lambda now, tables: refuse_changed(now, tables["retrieved"]),
        options=options,
        search=search,
        progress=progress,
    )


def _retrieve(
    tables: Tables,
    *,
    options: RetrieveSettings,
    search: Search,
    progress: Progress | None = None,
) -> dict[str, pa.Table]:
    import pyarrow as pa
    import pyarrow.compute as pc

    empty = schema.arrow_schema("retrieved").empty_table()
    queries, retrieved = tables["queries"], tables.get("retrieved", empty)
    passages = tables.get("passages", schema.arrow_schema("passages").empty_table())
    codes = sorted(set(queries["language"].to_pylist()))
    chosen = [code for code in codes if options.languages is None or code in options.languages]
    own = retrieved.filter(pc.equal(retrieved["retriever"], options.name))
    parts = [own.filter(pc.invert(_of(own, chosen))).cast(empty.schema)]
    with_text = passages.filter(pc.is_valid(passages["text"]))
    known = set(zip(*(with_text[name].to_pylist() for name in schema.key("passages")), strict=True))
    queries = schema.sort("queries", queries.filter(pc.is_valid(queries["text"])))
    # Across languages, one index serves all queries.
    groups = [[code] for code in chosen] if options.across is None else [chosen]
    for number, group in enumerate(groups, start=1):
        corpus = _corpus(passages, group, options)
        asked = queries.filter(_of(queries, group))
        keys = zip(*(asked[name].to_pylist() for name in ("language", "query_id")), strict=True)
        found = search(corpus, asked["text"].to_pylist(), options.depth)
        rows = [row for key, best in zip(keys, found, strict=True) for row in _list(key, corpus, best, options, known)]
        parts.append(schema.from_rows("retrieved", rows))
        if progress is not None:
            progress(number, len(groups))
    return {"retrieved": schema.sort("retrieved", pa.concat_tables(parts))}


RETRIEVE = Stage("retrieve", ("queries",), ("retrieved",), _retrieve, uses=("passages", "retrieved"), by=("language",))
"""Its options are `options` and the search function."""
ACROSS = replace(RETRIEVE, by=())
"""Variant that searches the passages of several languages at once, and cannot be split."""


def _of(table: pa.Table, codes: Sequence[str]) -> pa.ChunkedArray:
    """Return whether each row's language is one of these."""
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.is_in(table["language"], value_set=pa.array(codes, pa.string()))


def _corpus(passages: pa.Table, codes: Sequence[str], options: RetrieveSettings) -> Corpus:
    """Return the passages to search for queries in some languages: in one language, or across several.

    Raises:
        UnknownName: if no passage is in a language to search.
    """
    import pyarrow.compute as pc

    if options.across is not None:
        place = passages.column_names.index("language")
        own = pc.coalesce(passages["passage_language"], passages["language"])
        passages = passages.set_column(place, "language", own)

    def read(code: str) -> Corpus:
        return arena_corpus(passages, code) if options.corpus is None else read_corpus(options.corpus, code)

    if options.across is None:
        return read(codes[0])
    known = sorted(set(own.to_pylist())) if options.corpus is None else corpus_languages(options.corpus)
    for code in options.across:
        if code not in known:
            raise UnknownName("language of passages", code, known)
    return join_corpora([read(code) for code in sorted(set(options.across or known))])


def _list(
    key: tuple[str, str], corpus: Corpus, best: Sequence[Hit], options: RetrieveSettings, known: Container[object]
) -> Iterator[schema.Retrieved]:
    """Yield the passages of one query, best first, with the texts that the arena lacks."""
    import pyarrow as pa

    passages = corpus.passages.take(pa.array([row for row, _ in best], pa.int64())).to_pylist()
    for rank, (passage, (_, score)) in enumerate(zip(passages, best, strict=True), start=1):
        name, code = passage["passage_id"], passage.get("passage_language")
        title, text = (None, None) if (*key, name) in known else (passage["title"], passage["text"])
        yield schema.Retrieved(*key, options.name, name, rank, score, title, text, code)
