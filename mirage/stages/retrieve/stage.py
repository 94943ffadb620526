"""Retrieval stage: a retriever's passages for each query of an arena, beside those of other retrievers.

    retrieve(Path("arena"), RetrieveSettings("bm25", "bm25", depth=100, corpus=Path("corpus.jsonl")), made_by="...")

The passages come from a corpus, from the arena (`arena_corpus`), or from other retrievers whose lists are fused or
reranked. Searches can be split by language, operations on lists by query.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

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
from mirage.stages.retrieve.fusion import fuse
from mirage.stages.retrieve.lists import refuse_changed, refuse_name
from mirage.stages.shown import GIVEN, contexts, retrievers
from mirage.stages.stage import Progress, Stage, Tables, run

if TYPE_CHECKING:
    import pyarrow as pa

Kind = Literal["bm25", "dense", "rrf", "rerank"]
"""`bm25`: words; `dense`: embeddings; `rrf`: fused lists of other retrievers; `rerank`: a reranked list of another."""
LISTS: tuple[Kind, ...] = ("rrf", "rerank")
"""Kinds that read lists of other retrievers instead of a corpus."""
Search = Callable[[Corpus, Sequence[str], int], Sequence[Sequence[Hit]]]
"""`search(corpus, queries, depth)`: the best passages for each query, best first."""
Reorder = Callable[[Sequence[tuple[str, str]]], Sequence[float]]
"""Scores query-passage pairs; higher is better."""
_KEY = ("language", "query_id", "retriever")


@dataclass(frozen=True, slots=True)
class RetrieveSettings:
    """Options for retrieving passages."""

    kind: Kind
    """Kind of retriever."""
    name: str
    """The retriever's name in the table."""
    depth: int = 100
    """Maximum passages per query."""
    corpus: Path | None = None
    """Location of the passages (`read_corpus`); None for those of the arena."""
    of: tuple[str, ...] = ()
    """Retrievers whose lists to fuse, by default all others but `given`; or whose list to rerank."""
    languages: Sequence[str] | None = None
    """Codes; None for all."""
    about: str = ""
    """Further note for the manifest, such as a model."""
    across: Sequence[str] | None = None
    """Passage languages that every query searches; empty for all, None for the query's own. All their passages are in
    one index, so that scores are comparable.
    """

    def __post_init__(self) -> None:
        refuse_name(self.name)
        if self.depth < 1:
            raise BadInput(f"the depth is {self.depth}", do="use 1 or more")
        if self.kind == "rerank" and len(self.of) != 1:
            raise BadInput("rerank needs exactly one list", do="name its retriever with --of")
        if self.name in self.of:
            raise BadInput(f"{self.name} cannot be made from itself", do="use another name for the new list")
        if self.corpus is not None and self.kind in LISTS:
            raise BadInput(f"{self.kind} reads lists, not a corpus", do="omit --corpus")
        if self.across is not None and self.kind in LISTS:
            raise BadInput(f"{self.kind} reads lists, whose languages are fixed", do="omit --across")

    def note(self) -> str:
        """Describe how the lists were made, for the manifest."""
        of = f" of {', '.join(self.of)}" if self.of else ""
        searched = "" if self.kind in LISTS else f" over {self.corpus.name if self.corpus else 'the arena'}"
        if self.across is not None:
            searched += f" across {', '.join(self.across) or 'all languages'}"
        return f"{self.name}: {self.kind}{of}{searched}, depth {self.depth}{self.about and f', {self.about}'}"


def retrieve(
    path: Path,
    options: RetrieveSettings,
    *,
    made_by: str,
    search: Search = search_bm25,
    reorder: Reorder | None = None,
    progress: Progress | None = None,
    executor: Executor | None = None,
    step: str | None = None,
) -> store.Arena:
    """Retrieve passages for the queries of an arena, replacing the retriever's earlier lists.

    Args:
        path: the arena's folder.
        options: retriever and options.
        made_by: the command, for the manifest.
        search: searches a corpus.
        reorder: scores the passages of a list to rerank.
        progress: called with the number of finished languages, or parts, and the total.
        executor: runs languages, or queries for kinds that read lists, in parallel; `search` and `reorder` must then be
            picklable. None to run here.
        step: the pipeline step (`store.upsert`).

    Raises:
        ArenaError: if the arena lacks queries or cannot be written, or lists would change from which answers were
            generated.
        UnknownName: if there is no such language or retriever.
        BadInput: if a corpus cannot be read.
        NotEnoughData: if there is nothing to search or to fuse.
    """
    arena = store.open_arena(path)
    arena.need("queries")
    for code in options.languages or ():
        if code not in arena.languages("queries"):
            raise UnknownName("language", code, arena.languages("queries"), where=arena.address)
    names = [name for name in retrievers(arena) if name != options.name]
    known = [*names, *([GIVEN] if "passages" in arena.tables else [])]
    for name in options.of:
        if name not in known:
            raise UnknownName("retriever", name, known, where=arena.address)
    if options.kind == "rrf" and len(options.of or names) < 2:
        raise BadInput(
            "there are fewer than two retrievers to fuse", where=arena.address, do=arena.command("retrieved")
        )
    return run(
        FROM_LISTS if options.kind in LISTS else RETRIEVE if options.across is None else ACROSS,
        path,
        made_by=made_by,
        part="retriever",
        notes=[options.note()],
        step=step,
        executor=executor,
        check=lambda now, tables: refuse_changed(now, tables["retrieved"]),
        options=options,
        search=search,
        reorder=reorder,
        progress=progress,
    )


def _retrieve(
    tables: Tables,
    *,
    options: RetrieveSettings,
    search: Search,
    reorder: Reorder | None = None,
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
        if options.across is not None:
            rows = across[code]
        elif options.kind in LISTS:
            rows = _from_lists(of_language, options, reorder)
        else:
            rows = _search_language(of_language, code, options, search)
        parts.append(schema.from_columns("retrieved", _columns(rows)))
        if progress is not None:
            progress(number, len(chosen))
    return {"retrieved": schema.sort("retrieved", pa.concat_tables(parts))}


RETRIEVE = Stage("retrieve", ("queries",), ("retrieved",), _retrieve, uses=("passages", "retrieved"), by=("language",))
"""Its options are `options` and the search functions."""
FROM_LISTS = replace(RETRIEVE, by=("language", "query_id"))
"""Variant for kinds that read lists of other retrievers, which can be split by query."""

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


def searched_texts(path: Path, options: RetrieveSettings) -> Iterator[tuple[Corpus, list[str]]]:
    """Yield the corpus and queries of each language.

    Raises:
        ArenaError: if the arena lacks queries.
        BadInput: if a corpus cannot be read.
    """
    arena = store.open_arena(path)
    if options.across is not None:
        every = {name: table for name in ("queries", "passages") if (table := arena.read_optional(name)) is not None}
        texts = arena.read("queries", languages=options.languages)["text"].drop_null().to_pylist()
        yield _corpus_across(every, options), texts
        return
    for code in options.languages or arena.languages("queries"):
        tables = {name: arena.read_optional(name, languages=[code]) for name in ("queries", "passages")}
        corpus, _, texts = _corpus_and_queries({n: t for n, t in tables.items() if t is not None}, code, options)
        yield corpus, texts


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


def _from_lists(tables: Tables, options: RetrieveSettings, reorder: Reorder | None) -> list[_Row]:
    """Fuse or rerank the lists of the queries of one language."""
    given = tables.get("passages", schema.arrow_schema("passages").empty_table())
    known = _known_texts(given)
    queries = dict(zip(*(tables["queries"][name].to_pylist() for name in ("query_id", "text")), strict=True))
    lists: dict[str, dict[str, list[_Row]]] = {}
    for row in contexts(given, tables.get("retrieved")).sort_by("position").to_pylist():
        if row["retriever"] in (options.of or {row["retriever"]} - {options.name, GIVEN}):
            lists.setdefault(row["query_id"], {}).setdefault(row["retriever"], []).append(row)
    code = next(iter(tables["queries"]["language"].to_pylist()), "")
    rows = []
    for query_id, by_retriever in sorted(lists.items()):
        by_id = {row["passage_id"]: row for name in sorted(by_retriever) for row in by_retriever[name]}
        if options.kind == "rrf":
            ids = {name: [row["passage_id"] for row in part] for name, part in by_retriever.items()}
            order: Sequence[tuple[str, float | None]] = fuse(ids, options.depth)
        else:
            (part,) = by_retriever.values()
            order = _rerank(queries.get(query_id), part[: options.depth], reorder)
        key = code, query_id, options.name
        rows += [_row(key, by_id[name], rank, score, known) for rank, (name, score) in enumerate(order, start=1)]
    return rows


def _rerank(query: str | None, rows: Sequence[_Row], reorder: Reorder | None) -> list[tuple[str, float | None]]:
    """Return passages by a new score; those without text, or all if the query has none, come last in the old order."""
    if reorder is None:
        raise TypeError("reranking needs a model")
    scored = [row for row in rows if row["text"] is not None and query is not None]
    pairs = [(str(query), f"{row['title']}: {row['text']}" if row["title"] else row["text"]) for row in scored]
    scores = dict(zip((row["passage_id"] for row in scored), reorder(pairs), strict=True))
    order = sorted(rows, key=lambda row: (row["passage_id"] not in scores, -scores.get(row["passage_id"], 0.0)))
    return [(row["passage_id"], scores.get(row["passage_id"])) for row in order]


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
