"""Queries and their passages to answers: by a model, or by baselines that need none.

    prompts = prepare(queries, passages, system="my-model", template=template, settings=settings)
    table = generate(queries, passages, system="my-model", ..., complete=complete)     # schema.Answer rows

`prepare.py` makes the prompts and reads the replies, `baselines.py` has the baselines, `stage.py` lets a system answer
the queries of an arena.
"""

from mirage.generate.prepare import (
    SOUND,
    Complete,
    PreparedPrompts,
    Prompt,
    chosen_queries,
    generate,
    prepare,
    shuffled,
)

__all__ = ["SOUND", "Complete", "PreparedPrompts", "Prompt", "chosen_queries", "generate", "prepare", "shuffled"]
