"""Command that creates a training set: `mirage export sft`."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated

import typer

from mirage.cli.common import ArenaDir, How, Languages, Seed, codes, local_path
from mirage.cli.exporting import export
from mirage.cli.output import note, show
from mirage.stages.sft import Mix

STATS = (
    *(
        "teacher",
        "language",
        "n_queries",
        "avg_query_tokens",
        "avg_rel_passages_per_q",
        "avg_nonrel_passages_per_q",
    ),
    *("avg_teacher_context_tokens", "avg_teacher_answer_tokens"),
)
"""Columns of `sft`."""


@export.command("sft")
def sft(
    dir_: ArenaDir,
    out: Annotated[
        Path,
        typer.Option("--out", metavar="FILE", parser=local_path, help="Output file for the conversations, .jsonl."),
    ],
    system: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A teacher; by default the system `reference`, or the only one. Repeatable."),
    ] = None,
    mix: Annotated[
        Mix,
        typer.Option(
            help="With several teachers: all: every good answer; one: a random one per query; first: the "
            "first teacher's answer."
        ),
    ] = "all",
    languages: Languages = None,
    seed: Seed = 0,
    output_format: How = "table",
) -> None:
    """Create a training set from a system's answers, mixing in passages that are not relevant.

    The teacher should have answered from the relevant passages only (`mirage generate --relevant-only`). Reads the
    tables queries, passages and answers. Selects the answers that cite only relevant passages. Writes FILE (chat, JSON
    Lines, each with its teacher as `system`). Prints the statistics of the paper's Table 1; rows without a teacher are
    over all teachers.
    """
    from mirage.stages.sft import training

    result = training.write_training_set(
        dir_,
        out,
        systems=system,
        mix=mix,
        languages=codes(languages),
        seed=seed,
        tokenizer="estimate",
    )
    show([dataclasses.asdict(row) for row in result.stats], STATS, output_format)
    for (teacher, reason), n in sorted(result.training.left_out.items(), key=lambda item: -item[1]):
        note(f"{n:,} answers of {teacher} excluded: {reason}")
    note(f"tokens counted by: {result.tokens}")
    note(f"{len(result.training.examples):,} conversations are in {out}")
