"""Retrieval stage: a retriever's passages for each query of an arena, beside those of other retrievers.

    retrieve(Path("arena"), RetrieveSettings("bm25", depth=100, corpus=Path("corpus.jsonl")), made_by="...")

The passages come from a corpus, or from the arena (`arena_corpus`).
"""

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from mirage import schema
from mirage.errors import BadInput
from mirage.schema import QueryKey, Tables
from mirage.stages.retrieve.bm25 import Hit, search_bm25
from mirage.stages.retrieve.corpus import Corpus, arena_corpus, read_corpus
from mirage.stages.shown import refuse_changed, refuse_name
from mirage.stages.stage import Progress, Stage, run
from mirage.stats.rows import read_rows
from mirage.store.arena import Arena, open_arena


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

    def __post_init__(self) -> None:
        refuse_name(self.name)
        if self.depth < 1:
            raise BadInput(f"the depth is {self.depth}", do="use 1 or more")

    def made_with(self) -> dict[str, str | int]:
        """Return how the lists are made, for the manifest."""
        return {"method": "bm25", "corpus": self.corpus.name if self.corpus else "arena", "depth": self.depth}


def retrieve(
    path: Path,
    options: RetrieveSettings,
    *,
    made_by: str,
    progress: Progress | None = None,
) -> Arena:
    """Retrieve passages for the queries of an arena, replacing the retriever's earlier lists.

    Args:
        path: the arena's folder.
        options: retriever and options.
        made_by: the command, for the manifest.
        progress: called with the number of finished languages and the total.

    Raises:
        ArenaError: if the arena lacks queries or cannot be written, or lists would change from which answers were
            generated.
        UnknownName: if there is no such language.
        BadInput: if a corpus cannot be read.
        NotEnoughData: if there is nothing to search.
    """
    arena = open_arena(path)
    arena.need("queries")
    arena.known_languages("queries", options.languages)
    return run(
        RETRIEVE,
        path,
        made_by=made_by,
        part="retriever",
        settings=options.made_with(),
        check=lambda now, tables: refuse_changed(now, tables["retrieved"]),
        options=options,
        progress=progress,
    )


def _retrieve(tables: Tables, *, options: RetrieveSettings, progress: Progress | None = None) -> dict[str, pa.Table]:

    empty = schema.arrow_schema("retrieved").empty_table()
    queries, retrieved = tables["queries"], tables.get("retrieved", empty)
    passages = tables.get("passages", schema.arrow_schema("passages").empty_table())
    codes = sorted(set(queries["language"].to_pylist()))
    chosen = [code for code in codes if options.languages is None or code in options.languages]
    own = retrieved.filter(pc.equal(retrieved["retriever"], options.name))
    others = pc.invert(pc.is_in(own["language"], value_set=pa.array(chosen, pa.string())))
    parts = [own.filter(others).cast(empty.schema)]
    with_text = passages.filter(pc.is_valid(passages["text"]))
    known = set(read_rows(with_text, *schema.key("passages")))
    queries = schema.sort("queries", queries.filter(pc.is_valid(queries["text"])))
    for number, code in enumerate(chosen, start=1):
        corpus = arena_corpus(passages, code) if options.corpus is None else read_corpus(options.corpus, code)
        asked = queries.filter(pc.equal(queries["language"], code))
        found = search_bm25(corpus, asked["text"].to_pylist(), options.depth)
        rows = [
            row
            for key, best in zip(read_rows(asked, *schema.key("queries")), found, strict=True)
            for row in ranked_passages(key, options.name, corpus, best, known)
        ]
        parts.append(schema.from_rows("retrieved", rows))
        if progress is not None:
            progress(number, len(chosen))
    return {"retrieved": schema.sort("retrieved", pa.concat_tables(parts))}


RETRIEVE = Stage("retrieve", ("queries",), ("retrieved",), _retrieve, uses=("passages", "retrieved"))
"""Its option is `options`."""


def ranked_passages(
    key: QueryKey, retriever: str, corpus: Corpus, best: Sequence[Hit], known: Container[object]
) -> Iterator[schema.Retrieved]:
    """Yield the passages of one query, best first, with the texts that the arena lacks.

    Args:
        key: language and id of the query.
        retriever: name of the retriever.
        corpus: the passages searched.
        best: what was found, best first.
        known: language, query and id of the passages whose texts the arena has.
    """
    passages = corpus.passages.take(pa.array([row for row, _ in best], pa.int64())).to_pylist()
    for rank, (passage, (_, score)) in enumerate(zip(passages, best, strict=True), start=1):
        name = passage["passage_id"]
        title, text = (None, None) if (*key, name) in known else (passage["title"], passage["text"])
        yield schema.Retrieved(*key, retriever, name, rank, score, title, text, None)
