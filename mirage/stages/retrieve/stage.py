"""Retrieval stage: a retriever's passages for each query of an arena, beside those of other retrievers.

    retrieve(Path("arena"), RetrieveSettings("bm25", depth=100, corpus=Path("corpus.jsonl")), made_by="...")

The passages come from a corpus, or from the arena (`arena_corpus`). Searches can be split by language.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mirage import schema, store
from mirage.errors import BadInput, UnknownName
from mirage.llm.engines.tasks import Executor
from mirage.stages.retrieve.bm25 import Hit, search_bm25
from mirage.stages.retrieve.corpus import (
    Corpus,
    arena_corpus,
    corpus_languages,
    join_corpora,
    own_language,
    read_corpus,
)
from mirage.stages.retrieve.lists import refuse_changed, refuse_name
from mirage.stages.stage import Progress, Stage, Tables, run

if TYPE_CHECKING:
    import pyarrow as pa

Search = Callable[[Corpus, Sequence[str], int], Sequence[Sequence[Hit]]]
"""`search(corpus, queries, depth)`: the best passages for each query, best first."""
_KEY = ("language", "query_id", "retriever")


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

    retrieved = tables.get("retrieved", schema.arrow_schema("retrieved").empty_table())
    codes = sorted(set(tables["queries"]["language"].to_pylist()))
    chosen = [code for code in codes if options.languages is None or code in options.languages]
    own = retrieved.filter(pc.equal(retrieved["retriever"], options.name))
    schema_of = schema.arrow_schema("retrieved")
    parts = [own.filter(pc.invert(pc.is_in(own["language"], value_set=pa.array(chosen, pa.string())))).cast(schema_of)]
    across = {} if options.across is None else _search_across(tables, chosen, options, search)
    for number, code in enumerate(chosen, start=1):
        of_language = {name: table.filter(pc.equal(table["language"], code)) for name, table in tables.items()}
        rows = across[code] if options.across is not None else _search_language(of_language, code, options, search)
        parts.append(schema.from_columns("retrieved", _columns(rows)))
        if progress is not None:
            progress(number, len(chosen))
    return {"retrieved": schema.sort("retrieved", pa.concat_tables(parts))}


RETRIEVE = Stage("retrieve", ("queries",), ("retrieved",), _retrieve, uses=("passages", "retrieved"), by=("language",))
"""Its options are `options` and the search function."""
ACROSS = replace(RETRIEVE, by=())
"""Variant that searches the passages of several languages at once, and cannot be split."""

_Row = dict[str, Any]


def _columns(rows: Sequence[_Row]) -> dict[str, list[Any]]:
    return {column.name: [row[column.name] for row in rows] for column in schema.columns("retrieved")}


def _corpus_and_queries(tables: Tables, code: str, options: RetrieveSettings) -> tuple[Corpus, list[str], list[str]]:
    """Return the corpus in one language, and ids and texts of the queries that have one."""
    import pyarrow.compute as pc

    given = tables.get("passages", schema.arrow_schema("passages").empty_table())
    corpus = arena_corpus(given, code) if options.corpus is None else read_corpus(options.corpus, code)
    queries = schema.sort("queries", tables["queries"].filter(pc.is_valid(tables["queries"]["text"])))
    return corpus, queries["query_id"].to_pylist(), queries["text"].to_pylist()


def _corpus_across(tables: Tables, options: RetrieveSettings) -> Corpus:
    """Return one corpus of the passages in all languages to search."""
    if options.corpus is not None:
        known = corpus_languages(options.corpus)
        return join_corpora([read_corpus(options.corpus, code) for code in _languages_to_search(options, known)])
    passages = own_language(tables.get("passages", schema.arrow_schema("passages").empty_table()))
    known = sorted(set(passages["language"].to_pylist()))
    return join_corpora([arena_corpus(passages, code) for code in _languages_to_search(options, known)])


def _languages_to_search(options: RetrieveSettings, known: Sequence[str]) -> list[str]:
    """Return the languages to search, which must be among those of the passages."""
    for code in options.across or ():
        if code not in known:
            raise UnknownName("language of passages", code, known)
    return sorted(set(options.across or known))


def _search_across(
    tables: Tables, codes: Sequence[str], options: RetrieveSettings, search: Search
) -> dict[str, list[_Row]]:
    """Search one index of several languages for the queries of each language."""
    import pyarrow as pa
    import pyarrow.compute as pc

    corpus = _corpus_across(tables, options)
    queries = tables["queries"].filter(pc.is_valid(tables["queries"]["text"]))
    queries = schema.sort("queries", queries.filter(pc.is_in(queries["language"], value_set=pa.array(codes))))
    rows: dict[str, list[_Row]] = {code: [] for code in codes}
    known = _known_texts(tables["passages"]) if "passages" in tables else set()
    found = search(corpus, queries["text"].to_pylist(), options.depth)
    keys = (queries[name].to_pylist() for name in ("language", "query_id"))
    for code, query_id, best in zip(*keys, found, strict=True):
        rows[code] += _list_rows((code, query_id, options.name), corpus, best, known)
    return rows


def _search_language(tables: Tables, code: str, options: RetrieveSettings, search: Search) -> list[_Row]:
    """Search for the queries of one language."""
    corpus, query_ids, texts = _corpus_and_queries(tables, code, options)
    known = _known_texts(tables["passages"]) if "passages" in tables else set()
    rows = []
    for query_id, best in zip(query_ids, search(corpus, texts, options.depth), strict=True):
        rows += _list_rows((code, query_id, options.name), corpus, best, known)
    return rows


def _list_rows(key: tuple[str, str, str], corpus: Corpus, best: Sequence[Hit], known: Iterable[Any]) -> list[_Row]:
    """Build the rows of one query's list, best first."""
    import pyarrow as pa

    passages = corpus.passages.take(pa.array([row for row, _ in best], pa.int64())).to_pylist()
    return [
        _row(key, passage, rank, score, known)
        for rank, (passage, (_, score)) in enumerate(zip(passages, best, strict=True), start=1)
    ]


def _known_texts(passages: pa.Table) -> set[tuple[str, str, str]]:
    """Return language and id of the query, and id of the passages whose text the arena already has."""
    import pyarrow.compute as pc

    rows = passages.filter(pc.is_valid(passages["text"]))
    return set(zip(*(rows[name].to_pylist() for name in schema.key("passages")), strict=True))


def _row(
    key: tuple[str, str, str], passage: Mapping[str, Any], rank: int, score: float | None, known: Iterable[Any]
) -> _Row:
    """Build a row of `schema.Retrieved`."""
    has_text = (*key[:2], passage["passage_id"]) in known
    texts = {name: None if has_text else passage[name] for name in ("title", "text")}
    about = {"passage_id": passage["passage_id"], "rank": rank, "score": score}
    about["passage_language"] = passage.get("passage_language")
    return {**dict(zip(_KEY, key, strict=True)), **about, **texts}
