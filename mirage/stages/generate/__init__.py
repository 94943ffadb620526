"""Answer generation from queries and passages, by a model or by baselines without one.

    prompts = prepare(queries, passages, system="my-model", template=template, settings=settings)
    table = generate(queries, passages, system="my-model", ..., complete=complete)     # schema.Answer rows

`prepare.py` builds the prompts and reads the replies, `baselines.py` defines the baselines, `stage.py` answers the
queries of an arena.
"""

from mirage.stages.generate.prepare import (
    SOUND,
    Complete,
    PreparedPrompts,
    Prompt,
    chosen_queries,
    generate,
    prepare,
    shuffle,
)

__all__ = ["SOUND", "Complete", "PreparedPrompts", "Prompt", "chosen_queries", "generate", "prepare", "shuffle"]
