"""An arena's retrievers measured, and where each of its answers went wrong: tables in, rows out.

measured(arena)            # by_query of every retriever, `given` among them
attributions(arena)        # the cause of each answer
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from mirage.errors import NotEnoughData
from mirage.retrieval.causes import CAUSED_BY, AnswerCause, causes
from mirage.retrieval.grades import RELEVANT_FROM, grades
from mirage.retrieval.measures import MEASURES, by_query, measure
from mirage.shown import contexts
from mirage.store import Arena

if TYPE_CHECKING:
    import pyarrow as pa


def measured(
    arena: Arena,
    *,
    measures: Sequence[str] = MEASURES,
    languages: Iterable[str] | None = None,
    relevant_from: int = RELEVANT_FROM,
) -> pa.Table:
    """Measure what every retriever of an arena brought for its labelled queries. `given` is among them, unless the
    passages are pooled from labels and runs, in an order in which no retriever brought them.

    Args:
        arena: with passages that people have labelled.
        measures: names of measures. judged@k comes beside each measure at k, wanted or not.
        languages: codes; None for all.
        relevant_from: the least grade that counts as relevant.

    Returns:
        As `measures.by_query`.

    Raises:
        NotEnoughData: if no passage has a label, or no retriever brought anything.
        UnknownName: if there is no such measure or language.
    """
    import pyarrow.compute as pc

    wanted = list(dict.fromkeys([*measures, *(f"judged@{measure(name)[1]}" for name in measures)]))
    passages, labels = _labelled(arena, languages)
    brought = passages.filter(pc.invert(pc.fill_null(passages["pooled"], False)))
    runs = contexts(brought, arena.read_optional("retrieved", languages=languages))
    if not len(runs):
        raise NotEnoughData("no retriever brought anything", where=arena.address, do=arena.command("retrieved"))
    rank = runs.column_names.index("position")
    runs = runs.rename_columns(["rank" if k == rank else name for k, name in enumerate(runs.column_names)])
    return by_query(runs, labels, measures=wanted, relevant_from=relevant_from)


def attributions(
    arena: Arena, *, languages: Iterable[str] | None = None, relevant_from: int = RELEVANT_FROM, parser: str = "strict"
) -> list[AnswerCause]:
    """The cause of each answer that has an outcome: whether the retriever or the model failed.

    Args:
        arena: with outcomes; and answers and labelled passages, or queries with a subset.
        languages: codes; None for all.
        relevant_from: the least grade that counts as relevant.
        parser: whose outcomes.

    Raises:
        TableMissing: if it lacks outcomes.
    """
    arena.need("outcomes")
    codes = None if languages is None else list(languages)
    tables = {name: arena.read(name, languages=codes) for name in CAUSED_BY if name in arena.tables}
    return causes(tables, parser=parser, relevant_from=relevant_from)


def _labelled(arena: Arena, languages: Iterable[str] | None) -> tuple[pa.Table, pa.Table]:
    """The passages and their grades."""
    codes = None if languages is None else list(languages)
    passages = arena.read("passages", languages=codes)
    labels = grades(passages, arena.read_optional("documents", languages=codes))
    if not len(labels):
        raise NotEnoughData(
            "no passage has a label by people, so that nothing is known to be relevant",
            where=arena.address,
            do="bring labels: mirage import trec QRELS --into DIR",
        )
    return passages, labels
