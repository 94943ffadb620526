"""Build the bundled arenas: `python data/build/bundle.py SOURCE [INTO]`, or `make data`.

SOURCE has the folders `nomiracl/` (the published outputs), `judged/` (verdicts of people and models on battles of
Chatbot Arena) and `published/` (the papers' figures). The arenas hold numbers and figures, and no texts.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import get_args

import pyarrow as pa
import pyarrow.compute as pc
from derivation import derive, provenance
from published_figures import FIGURES, read_published

from mirage import schema
from mirage.io.imports.public import outputs_summary, prints
from mirage.io.sources.nomiracl.origin import ORIGIN
from mirage.io.sources.nomiracl.outputs import output_files, read_outputs
from mirage.ranking.surrogate.regressors import CHEAP
from mirage.stages.features.families import FEATURES
from mirage.store import writing
from mirage.store.arena import Arena
from mirage.store.files import Line, csv_rows
from mirage.store.writing import Provenance

TEXTS = {"passages", "answers"}
"""Tables with texts, which are not bundled."""

FILE = "chatbot_arena_verdicts.csv.gz"
"""Name of the file."""
NAME = "Chatbot Arena battles with verdicts of people and three models (Networks-Learning/prediction-powered-ranking)"
URL = "https://github.com/Networks-Learning/prediction-powered-ranking"
LICENCE = "MIT"
HUMAN = "human"
"""Column of people's verdicts."""
_OF_ROW = ("num", "question_id", "model_a", "model_b")
_VERDICTS: dict[str, schema.Verdict] = {"model_a": "A", "model_b": "B", "tie": "tie", "tie (bothbad)": "both_bad"}


def read_judged(path: Path) -> tuple[pa.Table, int]:
    """Return the verdicts on every battle in one order each, and the number of rows left out.

    People's verdicts are those of the judge `people`, marked as a person's, as in an import of LMArena's votes. Queries
    are numbered from 00001, in the order of the first system, the second system and the file: the file's own ids are 32
    random digits each, three times the size of everything else. A row that repeats a battle is left out: it may be a
    second vote of the same person, and would count as another's.
    """
    lines = list(csv_rows(path))
    lines.sort(key=lambda line: (line.value["model_a"], line.value["model_b"]))
    battles = {
        (line.value["question_id"], line.value["model_a"], line.value["model_b"]): line for line in reversed(lines)
    }
    first = [*reversed(battles.values())]
    table = schema.from_rows("judgments", _judgments(first))
    return schema.sort("judgments", table), len(lines) - len(first)


def _judgments(lines: list[Line]) -> Iterator[schema.Judgment]:
    numbers: dict[str, str] = {}
    for line in lines:
        row = line.value
        query_id = numbers.setdefault(row["question_id"], f"{len(numbers) + 1:05}")
        for judge, word in row.items():
            if judge in _OF_ROW:
                continue
            person = judge == HUMAN
            yield schema.Judgment(
                language="en",
                query_id=query_id,
                judge=schema.PEOPLE if person else judge,
                system_a=row["model_a"],
                system_b=row["model_b"],
                verdict=_VERDICTS[word],
                rationale=None,
                reason=None,
                call=None,
                person=True if person else None,
            )


def bundle(source: Path, into: Path, *, regressors: Sequence[str] = CHEAP, weigh: bool = True) -> list[Arena]:
    """Build the bundled arenas from a folder with the published outputs, the verdicts and the papers' figures.

    `weigh`: measure the importances of the features too, which takes most of the time.

    They are `nomiracl`, the numbers computed from the published outputs without their texts; `people`, the verdicts of
    people and models on the same battles; and `published`, the papers' figures.
    """
    tables: dict[str, pa.Table] = dict(read_outputs(source / "nomiracl"))
    free = [name for name, spec in FEATURES.items() if set(spec.needs) <= {*tables, "outcomes"}]
    tables = derive(
        tables,
        {
            "outcomes": {},
            "features": {"only": free},
            "ratings by relevance": {},
            "predictions by relevance": {
                "skills": get_args(schema.Skill),
                "regressors": regressors,
                "weigh": weigh,
            },
        },
    )
    queries = tables["queries"]
    absent = pc.coalesce(queries["reason"], pa.scalar(schema.TEXTS_ABSENT))
    query_columns = {name: queries[name] for name in ("language", "query_id", "subset")}
    numbers = {"queries": schema.from_columns("queries", query_columns | {"reason": absent})}
    numbers |= {name: tables[name] for name in schema.TABLES if name in tables and name not in TEXTS | {"queries"}}
    origin = ORIGIN["outputs"]
    answers = writing.write(
        into / "nomiracl",
        numbers,
        title="NoMIRACL: replies of 11 systems in 17 languages",
        label="real replies",
        about=outputs_summary(tables) + " Numbers computed from the replies; the texts are not bundled.",
        licence="Apache-2.0",
        made_by=provenance(
            Provenance(
                "make data",
                labels="people",
                sources=[
                    {"name": origin.name, "url": origin.url, "licence": origin.licence},
                    *prints(source / "nomiracl", output_files(source / "nomiracl")),
                ],
                notes=[schema.TEXTS_ABSENT],
            ),
            numbers,
        ),
    )
    tables_of = source / "published"
    figures = writing.write(
        into / "published",
        {"published": read_published(tables_of)},
        title="Figures printed in the NoMIRACL and MIRAGE-Bench papers",
        label="published figures",
        about="Every figure as printed, with its table and paper; nothing was recomputed.",
        licence="facts; the papers are cited on every row",
        made_by=Provenance(
            "make data",
            sources=prints(tables_of, [tables_of / f"{figure.file}.csv" for figure in FIGURES]),
        ),
    )
    return [answers, bundle_people(source / "judged", into), figures]


def bundle_people(source: Path, into: Path) -> Arena:
    """Build the arena `people` from the folder of the verdicts."""
    judgments, repeated = read_judged(source / FILE)
    battles = judgments.filter(judgments["person"])
    systems = {name for side in ("system_a", "system_b") for name in battles[side].unique().to_pylist()}
    models = sorted(set(judgments["judge"].unique().to_pylist()) - {schema.PEOPLE})
    return writing.write(
        into / "people",
        {"judgments": judgments},
        title="People and three LLM judges on the same battles of Chatbot Arena",
        label="published verdicts",
        about=f"{len(battles):,} battles of {len(systems)} systems in English, each decided by a person and by "
        f"{', '.join(models)}, in one order; {repeated} rows that repeat a battle are left out. No text of a question "
        "or an answer is in the source.",
        licence=LICENCE,
        made_by=Provenance(
            "make data",
            sources=[
                {"name": NAME, "url": URL, "licence": LICENCE},
                *prints(source, [source / FILE]),
            ],
            notes=[
                f"people's verdicts are those of the judge {schema.PEOPLE}, marked as a person's",
                "queries are numbered in the order of the two systems, then of the file",
            ],
        ),
    )


if __name__ == "__main__":
    into = Path(sys.argv[2]) if sys.argv[2:] else Path(__file__).parents[1]
    for built in bundle(Path(sys.argv[1]), into):
        print(f"{built.address}: {', '.join(f'{built.rows(name):,} {name}' for name in built.tables)}")
