"""Build of the sample arena from its source files, without a key, a GPU or a network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mirage import schema, store
from mirage.io.imports.public import prints
from mirage.io.sources.review import LICENCE
from mirage.io.sources.sample import REFERENCE, read_sample, sample_files
from mirage.io.sources.sample_nuggets import NUGGETS, nugget_files, nugget_table, read_nuggets
from mirage.pipeline.stages import derive
from mirage.stages import features, judge
from mirage.stages.generate import baselines
from mirage.stages.generate.stage import BASELINES_OVER
from mirage.stages.retrieve.bm25 import search_bm25
from mirage.stages.retrieve.stage import RETRIEVE, RetrieveSettings, Search
from mirage.stages.stage import Progress, Tables
from mirage.text.segmentation import terms, trigrams

if TYPE_CHECKING:
    import pyarrow as pa


SEARCHES: Mapping[str, Search] = {
    "words": partial(search_bm25, analyse=terms),
    "trigrams": partial(search_bm25, analyse=trigrams),
}
"""Retrievers of the sample by name, with fixed analysers, so that its answers do not change. They search all passages
of a language: those of a query, and those of other queries as near misses.
"""
DEPTH = 10
"""Passages per query and retriever."""
SHOWN = 5
"""Top passages shown to the systems."""
OVER = "baseline/bm25-3"
"""Baseline that also answers from each retriever."""


REGRESSORS = ("linear", "svr", "ridge")
"""Regressors of the sample's predictions: with 16 systems the others take many minutes, since every pair is left out.
"""


def _retrieve_options(name: str) -> RetrieveSettings:
    return RetrieveSettings("bm25", name, depth=DEPTH)


def with_retrieved(tables: Tables) -> dict[str, pa.Table]:
    """Add each retriever's passages, and the answers of a baseline from them.

    Args:
        tables: queries, passages and answers.

    Raises:
        BadInput: if the extra `retrieval` is not installed.
    """
    import pyarrow as pa

    lists = []
    for name, search in SEARCHES.items():
        lists.append(RETRIEVE.run(tables, options=_retrieve_options(name), search=search)["retrieved"])
    retrieved = schema.sort("retrieved", pa.concat_tables(lists))
    tables = {**tables, "retrieved": retrieved}
    over = (BASELINES_OVER.run(tables, retriever=name, depth=SHOWN, only=[OVER])["answers"] for name in SEARCHES)
    return {**tables, "answers": pa.concat_tables([tables["answers"], *over])}


def build_sample(
    source: Path, *, regressors: Sequence[str] = REGRESSORS, progress: Progress | None = None
) -> dict[str, pa.Table]:
    """Build every table of the sample that needs no model.

    Args:
        source: the folder of the sample files (`mirage.io.sources.sample`).
        regressors: regressors of the predictions.
        progress: called while features are measured.

    Returns:
        Queries and passages; each retriever's passages; answers of the reference, of every baseline, and of one
        baseline over each retriever; their outcomes and features, overlap against the reference; the heuristic judge's
        verdicts on every pair; ratings by both, and predictions of them. With a folder of nuggets beside the sample
        files, also the nuggets and their assignments by shared words.

    Raises:
        BadInput: naming file and line of an error in a sample or nugget file; or if the extra `retrieval` is not
            installed.
    """
    tools = features.Tools(reference=REFERENCE)
    tables = read_sample(source)
    stages: dict[str, dict[str, Any]] = {
        "baselines": {},
        "outcomes": {},
        "features": {"tools": tools, "progress": progress},
        "judgments by the heuristic judge": {},
        "ratings by relevance": {},
        "ratings by a judge": {"judge": judge.HEURISTIC},
        "predictions by relevance": {"regressors": regressors},
        "predictions by a judge": {"referee": judge.HEURISTIC, "regressors": regressors},
    }
    if (source / NUGGETS).is_dir():
        written = read_nuggets(source / NUGGETS, tables["passages"])
        tables = {**tables, "nuggets": nugget_table(written)}
        stages["nugget assignments by terms"] = {}
    return derive(with_retrieved(tables), stages)


def write_sample(
    source: Path, into: Path, *, regressors: Sequence[str] = REGRESSORS, progress: Progress | None = None
) -> store.Arena:
    """Build the sample arena; the same files give the same bytes.

    Args:
        source: the folder of the sample files.
        into: the arena's folder; the files may be in its folder `source`.
        regressors: regressors of the predictions.
        progress: called while features are measured.

    Raises:
        BadInput: naming file and line of an error in a sample or nugget file; or if the extra `retrieval` is not
            installed.
        ArenaError: if the arena cannot be written.
    """
    tables = build_sample(source, regressors=regressors, progress=progress)
    files = sample_files(source) + (nugget_files(source / NUGGETS) if "nuggets" in tables else [])
    count = {name: len(table) for name, table in tables.items()}
    nuggets = f"; {count['nuggets']:,} nuggets" if "nuggets" in tables else ""
    languages = len(tables["queries"]["language"].unique())
    return store.write(
        into,
        tables,
        title="Sample: questions, passages and answers to try everything with",
        label="sample",
        about=f"{count['queries']:,} questions in {languages} languages, each with a reference answer and 8 passages, "
        f"written for this project; answers of {len(baselines.BASELINES)} baselines that need no model, and of "
        f"{OVER} over {len(SEARCHES)} retrievers{nuggets}.",
        licence=LICENCE,
        made_by=store.Provenance(
            "make sample",
            sources=prints(source, files),
            notes=[
                "baselines are made to fail, each in its own way: mirage/stages/generate/baselines.py says how",
                *(f"{_retrieve_options(name).note()}, by BM25 over {name}; {SHOWN} shown" for name in SEARCHES),
            ],
        ),
    )
