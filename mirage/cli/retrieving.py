"""Commands for retrieval: `mirage retrieve`, `mirage retrievers`, `mirage failures`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

import typer

from mirage.cli.common import ArenaDir, How, Languages, app, codes, local_path
from mirage.cli.connection import Connection, tell
from mirage.cli.output import note, progress, show
from mirage.cli.settings import expand_settings
from mirage.errors import BadInput

if TYPE_CHECKING:
    from mirage import store
    from mirage.stages.retrieve.stage import Kind, RetrieveSettings

MADE_BY = "mirage retrieve"
RETRIEVED = ("language", "queries", "with_passages", "passages", "with_text")
"""Columns of `retrieve`."""


MEASURED = ("language", "retriever", "measure", "mean", "mean_low", "mean_high", "n", "total")
"""Columns of `retrieval`."""
CAUSES = ("language", "system", "cause", "k", "n", "share", "share_low", "share_high")
"""Columns of `attribution`."""
OF_PAIRS = ("query_language", "passage_language", "retriever", "measure", "mean", "mean_low", "mean_high", "n")
"""Columns of `retrieval` by language pair."""
By = Annotated[
    Literal["all", "language"], typer.Option(help="all: only the mean over languages; language: also each language.")
]
Threshold = Annotated[int, typer.Option(min=1, help="Lowest grade that counts as relevant.")]


@app.command()
def retrievers(
    dir_: ArenaDir,
    measures: Annotated[
        str | None,
        typer.Option(metavar="NAME,..", help="nDCG@10, R@10, R@100, RR@10, AP@100, judged@10, or other cutoffs."),
    ] = None,
    by: Annotated[
        Literal["all", "language", "language-pair"],
        typer.Option(
            help="all: only the mean over languages; language: also each language; language-pair: the languages of"
            " query and passage, where only passages in one language count as relevant."
        ),
    ] = "all",
    languages: Languages = None,
    relevant_from: Threshold = 1,
    output_format: How = "table",
) -> None:
    """Evaluate each retriever by human labels, with 95% intervals over queries.

    Reads the tables passages, documents (for grades) and retrieved; `given` is the passages supplied with the queries.
    Unlabelled passages count as not relevant: judged@k, printed with every measure at k, is the labelled share. Writes
    nothing.
    """
    from mirage import api, store

    names = None if measures is None else [name.strip() for name in measures.split(",")]
    arena = store.open_arena(dir_)
    measured = partial(
        api.retrieval_measures, arena, measures=names, languages=codes(languages), relevant_from=relevant_from
    )
    if by == "language-pair":
        pairs = measured(by=by)
        show([{**row, "mean_low": row["low"], "mean_high": row["high"]} for row in pairs], OF_PAIRS, output_format)
        return
    rows = list(measured())
    show(_by(rows, by, "mean"), MEASURED, output_format)
    few = [row for row in _by(rows, "all", "mean") if row["measure"].startswith("judged@") and (row["mean"] or 0) < 1]
    for row in few:
        share = 1 - (row["mean"] or 0)
        note(f"{row['retriever']}: {share:.0%} of the top {row['measure'].partition('@')[2]} passages are unlabelled.")


@app.command()
def failures(
    dir_: ArenaDir,
    by: By = "all",
    languages: Languages = None,
    relevant_from: Threshold = 1,
    answers: Annotated[bool, typer.Option("--answers", help="One row per answer, with its evidence.")] = False,
    output_format: How = "table",
) -> None:
    """Attribute failures to the retriever or the model: right, not_retrieved, ignored, unsupported, right_refusal.

    Where passages are in other languages than their query, also other_language (found in another language only) and
    unused_language (shown in a language that the system does not use). Reads the tables answers, outcomes, passages,
    documents and retrieved. The cause of an answer follows from the human labels of passages, the passages shown to its
    system, and its outcome and citations. `right` and `right_refusal` are correct decisions, to answer and to abstain:
    the labels do not say whether an answer is true. Shares have 95% intervals over queries. Writes nothing.
    """
    from mirage import api, store

    arena = store.open_arena(dir_)
    rows = list(api.attribution(arena, languages=codes(languages), relevant_from=relevant_from, answers=answers))
    if answers:
        show(rows, ("language", "query_id", "system", "cause", "evidence"), output_format)
        return
    show(_by(rows, by, "share"), CAUSES, output_format)


def _by(rows: Sequence[Mapping[str, Any]], by: str, value: str) -> list[dict[str, Any]]:
    """Return the rows over all languages, or with `language` every row, with interval columns named after the value."""
    return [
        {**row, f"{value}_low": row["low"], f"{value}_high": row["high"]}
        for row in rows
        if by == "language" or row["language"] == "all"
    ]


@app.command()
@expand_settings
def retrieve(
    dir_: ArenaDir,
    retriever: Annotated[
        Literal["bm25", "dense", "rrf", "rerank", "given"],
        typer.Option(
            help="bm25: by words; dense: by an embedding model; rrf: fuse other lists; rerank: reorder"
            " another list. `given` is reserved for passages supplied with the queries."
        ),
    ],
    connection: Connection,
    name: Annotated[
        str | None, typer.Option("--name", metavar="NAME", help="Name of the retriever; by default its kind and model.")
    ] = None,
    corpus: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH",
            parser=local_path,
            help="Corpus: JSON Lines, CSV or Parquet; by default the arena's passages.",
        ),
    ] = None,
    of: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="rrf, rerank: retrievers whose lists to use. Repeatable.")
    ] = None,
    depth: Annotated[int, typer.Option(min=1, help="Maximum passages per query.")] = 100,
    query_prefix: Annotated[str, typer.Option(help="dense: prefix that the model expects before a query.")] = "",
    passage_prefix: Annotated[str, typer.Option(help="dense: prefix that the model expects before a passage.")] = "",
    reranker: Annotated[
        str | None, typer.Option(metavar="MODEL", help="rerank: a model name on the Hub or a folder (extra `local`).")
    ] = None,
    device: Annotated[
        str | None, typer.Option(help="rerank: torch device; by default the GPU if there is one.")
    ] = None,
    across: Annotated[
        str | None,
        typer.Option(
            metavar="all|LANG,..",
            help="bm25, dense: search the passages of all or these languages, not only the query's.",
        ),
    ] = None,
    languages: Languages = None,
    output_format: How = "table",
) -> None:
    """Retrieve passages for the queries of an arena: the first half of an end-to-end system.

    Reads the tables queries, passages and retrieved, and the corpus: `docid`, `title`, `text`, and `language` unless
    the file name gives it (corpus.fi.jsonl). Vectors of `dense` come from the service of --model and are cached: rerun
    the command to resume; no call is paid for twice. Writes the table retrieved, keeping the lists of other retrievers.
    `mirage generate --retriever NAME` shows the passages to a model. `bm25` needs the extra `retrieval`. Prints the
    number of queries with passages.
    """
    from mirage.stages.retrieve.lists import refuse_name
    from mirage.stages.retrieve.stage import RetrieveSettings

    refuse_name(retriever)
    kind = cast("Kind", retriever)
    model = reranker if kind == "rerank" else connection.model
    options = RetrieveSettings(
        kind,
        name or _name_of(kind, model),
        depth,
        corpus,
        tuple(of or ()),
        codes(languages),
        about=f"model {model}" if model and kind in ("dense", "rerank") else "",
        across=None if across is None else () if across.strip().lower() == "all" else codes(across, option="--across"),
    )
    if kind == "dense":
        _by_vectors(dir_, options, connection, query_prefix, passage_prefix)
        if connection.dry_run:
            return
    elif kind == "rerank":
        _in_new_order(dir_, options, connection, reranker, device)
    else:
        with progress("Retrieving") as update:
            executor = connection.executor(models=False)
            bring(dir_, options, made_by=MADE_BY, progress=update, executor=executor)
    _tell(dir_, options.name, output_format)


def _name_of(kind: Kind, model: str | None) -> str:
    """Return the default name of a retriever."""
    if kind == "dense" and model:
        return model
    return kind if kind != "rerank" or not model else f"rerank/{Path(model).name}"


def _by_vectors(
    path: Path, options: RetrieveSettings, connection: Connection, query_prefix: str, passage_prefix: str
) -> None:
    """Search by a service's embeddings, or report the planned cost."""
    from mirage import llm
    from mirage.stages.retrieve.dense import DenseSearch
    from mirage.stages.retrieve.stage import searched_texts

    model = connection.chat_model().settings.model
    executor = connection.executor(models=False)
    if connection.batch:
        raise BadInput("vectors are not requested in batches", do="omit --batch")
    if connection.engine == "ray":
        raise BadInput("vectors are cached and compared on this machine", do="use --engine processes, or omit --engine")
    with progress("Asking for vectors") as update:
        search = DenseSearch(
            path, connection.endpoint(), model, connection.limits(), query_prefix, passage_prefix, progress=update
        )
        if connection.dry_run:
            costs = [
                search.plan([*(passage_prefix + text for text in corpus.texts()), *(query_prefix + q for q in queries)])
                for corpus, queries in searched_texts(path, options)
            ]
        else:
            if executor is not None:
                # Make the calls here: several processes do not speed up a service.
                for corpus, queries in searched_texts(path, options):
                    search.fetch(corpus, queries)
            here = search if executor is None else search.cached_search()
            bring(path, options, made_by=MADE_BY, search=here, executor=executor)
            costs = search.costs
    tell(llm.total(costs), planned=connection.dry_run)


def _in_new_order(
    path: Path, options: RetrieveSettings, connection: Connection, model: str | None, device: str | None
) -> None:
    """Rerank a list with a local model: in this process, or one per worker of a cluster."""
    from mirage import store
    from mirage.stages.features import reranker
    from mirage.stages.features.measuring import SCORES
    from mirage.stages.features.pairs import PairModel, PairModelLater
    from mirage.stages.retrieve.rerank import ModelOrder

    store.open_arena(path)  # opening a ledger would create the folder
    name, executor = model or reranker.MODEL, connection.executor()
    with progress("Scoring") as update:
        if executor is not None:
            if not executor.loads_models:
                raise BadInput("one model already uses all cores of this machine", do="omit --engine, or use ray")
            order = ModelOrder(PairModelLater(name, reranker.MAX_TOKENS, device))
            bring(path, options, made_by=MADE_BY, reorder=order, progress=update, executor=executor)
            return
        with store.Ledger(path / SCORES) as ledger:
            scorer = PairModel(name, max_tokens=reranker.MAX_TOKENS, ledger=ledger, device=device, progress=update)
            bring(path, options, made_by=MADE_BY, reorder=ModelOrder(scorer))


def bring(path: Path, options: RetrieveSettings, **how: Any) -> store.Arena:
    """Call `mirage.stages.retrieve.stage.retrieve`, importing its libraries only then."""
    from mirage.stages.retrieve.stage import retrieve as retrieve_for

    return retrieve_for(path, options, **how)


def _tell(path: Path, name: str, output_format: How) -> None:
    """Print a retriever's results by language."""
    from mirage import store
    from mirage.stages.shown import contexts

    arena = store.open_arena(path)
    tables = {name: arena.read(name) for name in ("passages", "retrieved") if name in arena.tables}
    queries = arena.read("queries", columns=["language", "query_id"])["language"].to_pylist()
    own = [row for row in contexts(tables.get("passages"), tables["retrieved"]).to_pylist() if row["retriever"] == name]
    rows = []
    for code, n in sorted(Counter(queries).items()):
        part = [row for row in own if row["language"] == code]
        counts = len({row["query_id"] for row in part}), len(part), sum(row["text"] is not None for row in part)
        rows.append(dict(zip(RETRIEVED, (code, n, *counts), strict=True)))
    show(rows, RETRIEVED, output_format)
    note(f"Next, to generate answers: mirage generate {path} --retriever {name} --depth 10 --model MODEL")
