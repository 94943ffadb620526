"""Evaluation of an arena's retrievers, and attribution of its answers.

measure_retrievers(arena)  # by_query of every retriever, including `given`
attributions(arena)        # the cause of each answer
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from mirage.errors import NotEnoughData
from mirage.stages.retrieve.causes import CAUSED_BY, AnswerCause, causes
from mirage.stages.retrieve.grades import RELEVANT_FROM, grades
from mirage.stages.retrieve.measures import MEASURES, by_query, measure
from mirage.stages.shown import contexts
from mirage.store import Arena

if TYPE_CHECKING:
    import pyarrow as pa


def measure_retrievers(
    arena: Arena,
    *,
    measures: Sequence[str] = MEASURES,
    languages: Iterable[str] | None = None,
    relevant_from: int = RELEVANT_FROM,
) -> pa.Table:
    """Evaluate every retriever of an arena on its labelled queries.

    The retriever `given` is included, unless its passages were pooled from labels and runs, in no retriever's order.

    Args:
        arena: with passages labelled by people.
        measures: names of measures; judged@k is added for each measure at k.
        languages: codes; None for all.
        relevant_from: lowest grade that counts as relevant.

    Returns:
        As `measures.by_query`.

    Raises:
        NotEnoughData: if no passage has a label, or no retriever has results.
        UnknownName: if there is no such measure or language.
    """
    wanted = list(dict.fromkeys([*measures, *(f"judged@{measure(name)[1]}" for name in measures)]))
    passages, labels = labelled_passages(arena, languages)
    runs = ranked_lists(arena, passages, languages)
    return by_query(runs, labels, measures=wanted, relevant_from=relevant_from)


def ranked_lists(arena: Arena, passages: pa.Table, languages: Iterable[str] | None = None) -> pa.Table:
    """Return the passages of every retriever as `contexts`, with `rank` for the position.

    Those given with the queries are left out if they were pooled.

    Raises:
        NotEnoughData: if no retriever has results.
    """
    import pyarrow.compute as pc

    brought = passages.filter(pc.invert(pc.fill_null(passages["pooled"], False)))
    runs = contexts(brought, arena.read_optional("retrieved", languages=languages))
    if not len(runs):
        raise NotEnoughData("no retriever has results", where=arena.address, do=arena.command("retrieved"))
    rank = runs.column_names.index("position")
    return runs.rename_columns(["rank" if k == rank else name for k, name in enumerate(runs.column_names)])


def attributions(
    arena: Arena, *, languages: Iterable[str] | None = None, relevant_from: int = RELEVANT_FROM, parser: str = "strict"
) -> list[AnswerCause]:
    """Attribute each answer with an outcome to the retriever or the model.

    Args:
        arena: with outcomes; and answers and labelled passages, or queries with a subset.
        languages: codes; None for all.
        relevant_from: lowest grade that counts as relevant.
        parser: parser whose outcomes count.

    Raises:
        TableMissing: if it lacks outcomes.
    """
    arena.need("outcomes")
    codes = None if languages is None else list(languages)
    tables = {name: arena.read(name, languages=codes) for name in CAUSED_BY if name in arena.tables}
    return causes(tables, parser=parser, relevant_from=relevant_from)


def labelled_passages(arena: Arena, languages: Iterable[str] | None = None) -> tuple[pa.Table, pa.Table]:
    """Return an arena's passages and their grades.

    Raises:
        NotEnoughData: if no passage has a label.
    """
    codes = None if languages is None else list(languages)
    passages = arena.read("passages", languages=codes)
    labels = grades(passages, arena.read_optional("documents", languages=codes))
    if not len(labels):
        raise NotEnoughData(
            "no passage has a human relevance label",
            where=arena.address,
            do="import labels: mirage import QRELS --as trec --into DIR",
        )
    return passages, labels
