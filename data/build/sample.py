"""Build the sample arena from its source files: `python data/build/sample.py [INTO]`, or `make sample`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
from derivation import derive, provenance
from sample_judges import SHARES, judge_with_faults
from sample_source import LICENCE, nugget_table, read_nuggets, read_sample, read_written, source_files
from sample_systems import CHARACTERS, WRITTEN, answer_as_systems, system_cards
from searching import DEPTH, find_passages, search_by, trigrams

from mirage import schema
from mirage.io.imports.public import prints
from mirage.ranking.surrogate.regressors import CHEAP
from mirage.schema import REFERENCE
from mirage.stages.features.spec import Tools
from mirage.stages.generate.baselines import BASELINES, baseline_answers
from mirage.stages.judge.heuristic import HEURISTIC
from mirage.stages.nuggets.terms import TERMS
from mirage.stages.stage import Tables
from mirage.store import writing
from mirage.store.arena import Arena
from mirage.store.writing import Provenance
from mirage.text.segmentation import terms

SEARCHES = {"words": search_by(terms), "trigrams": search_by(trigrams)}
"""Retrievers of the sample by name. They search all passages of a language: those of a query, and those of other
queries as near misses.
"""
SHOWN = 2
"""Top passages shown to the system that answers from a retriever."""


def _retrieve(tables: Tables) -> pa.Table:
    """Return each retriever's passages."""
    lists = [find_passages(tables, name, search) for name, search in SEARCHES.items()]
    return schema.sort("retrieved", pa.concat_tables(lists))


def _add_answers(source: Path, tables: Tables) -> dict[str, pa.Table]:
    """Add nuggets, passages retrieved, answers of all systems and cards of those with a character, and assignments."""
    written_nuggets, sentences = read_nuggets(source), read_written(source)
    tables = {**tables, "nuggets": nugget_table(written_nuggets), "retrieved": _retrieve(tables)}
    made = answer_as_systems(tables, sentences, written_nuggets, retrievers=SEARCHES, depth=SHOWN)
    plain = baseline_answers(tables["queries"], tables["passages"])
    tables["answers"] = pa.concat_tables([tables["answers"], made["answers"], plain])
    tables["systems"] = system_cards(SEARCHES)
    tables = derive(tables, {"outcomes": {}, "nugget assignments by terms": {}})
    assigned = [tables["nugget_assignments"], made["nugget_assignments"], _of_others(tables)]
    return {**tables, "nugget_assignments": schema.sort("nugget_assignments", pa.concat_tables(assigned))}


def _of_others(tables: Tables) -> pa.Table:
    """Return the assignments by shared words of the baselines, as the assigner `written`.

    What they state is not known from how they answer, and without assignments nuggets could not rank them. The
    reference has none: it is what answers are compared with.
    """
    rows = [
        schema.NuggetAssignment(**{**row, "assigner": WRITTEN})
        for row in tables["nugget_assignments"].to_pylist()
        if row["assigner"] == TERMS and row["system"] in BASELINES
    ]
    return schema.from_rows("nugget_assignments", rows)


def build_sample(source: Path, *, regressors: Sequence[str] = CHEAP, weigh: bool = True) -> dict[str, pa.Table]:
    """Build every table of the sample that needs no model, from the folder of its sources (`sample_source`).

    `regressors`: those that predict ratings, which takes long; without any there are no predictions.
    `weigh`: measure the importances of the features too, which takes most of the time.
    """
    tables = _add_answers(source, read_sample(source))
    tools = Tools(reference=REFERENCE)
    measured: dict[str, dict[str, Any]] = {
        "features": {"tools": tools},
        "judgments by the heuristic judge": {},
    }
    tables = derive(tables, measured)
    simulated = judge_with_faults(tables, assigner=WRITTEN)
    judgments = schema.sort("judgments", pa.concat_tables([tables["judgments"], simulated]))
    ranked: dict[str, dict[str, Any]] = {
        "ratings by relevance": {},
        "ratings by a judge": {"judge": HEURISTIC},
    }
    return derive(
        {**tables, "judgments": judgments}, ranked | (predicting(regressors, weigh=weigh) if regressors else {})
    )


def predicting(regressors: Sequence[str], *, weigh: bool) -> dict[str, dict[str, Any]]:
    """Return the stages that predict ratings, with their options."""
    how: dict[str, Any] = {"regressors": regressors, "weigh": weigh}
    return {"predictions by relevance": how, "predictions by a judge": {"judge": HEURISTIC, **how}}


def write_sample(source: Path, into: Path) -> Arena:
    """Build the sample arena; the same files give the same bytes."""
    tables = build_sample(source)
    languages = sorted(set(tables["queries"]["language"].to_pylist()))
    count = {name: len(table) for name, table in tables.items()}
    return writing.write(
        into,
        tables,
        title="Sample: questions, passages and answers to try everything with",
        label="sample",
        about=f"Written for this project: {count['queries']:,} questions in {len(languages)} languages, each with 8 "
        f"passages and a reference answer, {count['nuggets']:,} nuggets, and the sentences that systems answer with. "
        f"Made by rule from these sentences, no model: {len(CHARACTERS)} systems, each with one character "
        f"({', '.join(CHARACTERS)}); and {len(BASELINES)} baselines. Computed: outcomes, features, ratings and the "
        f"heuristic judge's verdicts. Simulated: the judges {' and '.join(SHARES)}, each with a known fault.",
        licence=LICENCE,
        made_by=provenance(
            Provenance(
                "make sample",
                labels="written",
                sources=prints(source, source_files(source)),
                notes=[
                    *(f"{name} {character}" for name, character in CHARACTERS.items()),
                    *(
                        f"{name}: bm25 over the arena, depth {DEPTH}, by BM25 over {name}; {SHOWN} shown"
                        for name in SEARCHES
                    ),
                    *(
                        f"{name} is simulated: it follows its fault in {share:.0%} of battles"
                        for name, share in SHARES.items()
                    ),
                    f"nuggets of {WRITTEN}: known from how an answer was made; of the baselines by shared words",
                ],
            ),
            tables,
        ),
    )


if __name__ == "__main__":
    SAMPLE = Path(__file__).parents[1] / "sample"
    write_sample(SAMPLE / "source", Path(sys.argv[1]) if sys.argv[1:] else SAMPLE)
