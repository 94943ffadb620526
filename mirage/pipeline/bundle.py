"""Bundled arenas: numbers and printed figures, without texts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from mirage import schema, store
from mirage.io.imports.public import outputs_summary, prints
from mirage.io.sources import nomiracl, published
from mirage.pipeline.stages import derive
from mirage.stages import features
from mirage.stages.stage import Progress

if TYPE_CHECKING:
    import pyarrow as pa

TEXTS = {"passages", "answers"}
"""Tables with texts, which are not bundled."""


def bundle(
    source: Path, into: Path, *, regressors: Sequence[str] | None = None, progress: Progress | None = None
) -> list[store.Arena]:
    """Build the bundled arenas.

    They are `nomiracl`, the numbers computed from the published outputs without their texts, and `published`, the
    papers' figures.

    Args:
        source: a folder with `nomiracl/` (the published outputs) and `published/` (the figures).
        into: the folder of the arenas.
        regressors: regressors whose predictions to store; None for all.
        progress: called while features are measured.

    Raises:
        BadInput: if a source file is missing or malformed.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    tables: dict[str, pa.Table] = dict(nomiracl.read_outputs(source / "nomiracl"))
    free = [name for name, spec in features.FEATURES.items() if set(spec.needs) <= {*tables, "outcomes"}]
    tables = derive(
        tables,
        {
            "outcomes": {},
            "features": {"only": free, "progress": progress},
            "ratings by relevance": {},
            "predictions by relevance": {"skills": get_args(schema.Skill), "regressors": regressors},
        },
    )
    queries = tables["queries"]
    absent = pc.coalesce(queries["reason"], pa.scalar(schema.TEXTS_ABSENT))
    query_columns = {name: queries[name] for name in ("language", "query_id", "subset")}
    numbers = {"queries": schema.from_columns("queries", query_columns | {"reason": absent})}
    numbers |= {name: tables[name] for name in schema.TABLES if name in tables and name not in TEXTS | {"queries"}}
    origin = nomiracl.ORIGIN["outputs"]
    answers = store.write(
        into / "nomiracl",
        numbers,
        title="NoMIRACL: replies of 11 systems in 17 languages",
        label="real replies",
        about=outputs_summary(tables) + " Numbers computed from the replies; the texts are not bundled.",
        licence="Apache-2.0",
        made_by=store.Provenance(
            "mirage paper bundle",
            sources=[
                {"name": origin.name, "url": origin.url, "licence": origin.licence},
                *prints(source / "nomiracl", nomiracl.output_files(source / "nomiracl")),
            ],
            notes=[schema.TEXTS_ABSENT],
        ),
    )
    tables_of = source / "published"
    figures = store.write(
        into / "published",
        {"published": published.read_published(tables_of)},
        title="Figures printed in the NoMIRACL and MIRAGE-Bench papers",
        label="published figures",
        about="Every figure as printed, with its table and paper; nothing was recomputed.",
        licence="facts; the papers are cited on every row",
        made_by=store.Provenance(
            "mirage paper bundle",
            sources=prints(tables_of, [tables_of / f"{figure.file}.csv" for figure in published.FIGURES]),
        ),
    )
    return [answers, figures]
