"""Answer generation from queries and passages, by a model or by baselines without one.

    settings = GenerateSettings("my-model", template, llm.Settings("gpt-4o-mini"))
    prompts = prepare(queries, passages, settings)
    table = generate(queries, passages, settings, complete=complete)     # schema.Answer rows

`settings.py` has the settings, `prepare.py` builds the prompts and reads the replies, `baselines.py` defines the
baselines, `stage.py` answers the queries of an arena.
"""

from mirage.stages.generate.prepare import (
    SOUND,
    Complete,
    PreparedPrompts,
    Prompt,
    choose_queries,
    generate,
    prepare,
    shuffle,
)
from mirage.stages.generate.settings import GenerateSettings

__all__ = [
    "SOUND",
    "Complete",
    "GenerateSettings",
    "PreparedPrompts",
    "Prompt",
    "choose_queries",
    "generate",
    "prepare",
    "shuffle",
]
