"""Bundled arenas: numbers and printed figures, without texts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from mirage import schema, store
from mirage.io.imports.public import outputs_summary, prints
from mirage.io.sources import judged, nomiracl, published
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

    They are `nomiracl`, the numbers computed from the published outputs without their texts; `people`, the verdicts of
    people and models on the same battles; and `published`, the papers' figures.

    Args:
        source: a folder with `nomiracl/` (the published outputs), `judged/` (the verdicts) and `published/` (the
            figures).
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
    return [answers, bundle_people(source / "judged", into), figures]


def bundle_people(source: Path, into: Path) -> store.Arena:
    """Build the bundled arena `people`: the verdicts of people and models on the same battles.

    Args:
        source: the folder of the verdicts.
        into: the folder of the arenas.

    Raises:
        BadInput: if the file is missing or malformed.
    """
    judgments, repeated = judged.read_judged(source / judged.FILE)
    battles = judgments.filter(judgments["person"])
    systems = {name for side in ("system_a", "system_b") for name in battles[side].unique().to_pylist()}
    models = sorted(set(judgments["judge"].unique().to_pylist()) - {schema.PEOPLE})
    return store.write(
        into / "people",
        {"judgments": judgments},
        title="People and three LLM judges on the same battles of Chatbot Arena",
        label="published verdicts",
        about=f"{len(battles):,} battles of {len(systems)} systems in English, each decided by a person and by "
        f"{', '.join(models)}, in one order; {repeated} rows that repeat a battle are left out. No text of a question "
        "or an answer is in the source.",
        licence=judged.LICENCE,
        made_by=store.Provenance(
            "mirage paper bundle",
            sources=[
                {"name": judged.NAME, "url": judged.URL, "licence": judged.LICENCE},
                *prints(source, [source / judged.FILE]),
            ],
            notes=[
                f"people's verdicts are those of the judge {schema.PEOPLE}, marked as a person's",
                "queries are numbered in the order of the two systems, then of the file",
            ],
        ),
    )
