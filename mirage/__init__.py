"""mirage: which system to trust with retrieval-augmented generation in your language, and how far.

    import mirage

    arena = mirage.open_arena("nomiracl")     # a bundled arena, or a folder
    mirage.rates(arena, languages=["sw"])     # hallucination and error rates, with intervals
    mirage.rank(battles)                      # a data frame of battles to ratings, with intervals and tests
    mirage.evaluate("answers.jsonl")          # a file to a ranking: import, measure, judge, rank

`api.py` holds these functions. The data flows through these packages:

    io              -> queries, passages, answers    files and public sources
    stages.outcomes -> outcomes                      did it answer, did it abstain, was that correct?
    stages.features -> features                      measures of an answer that need no judge
    stages.judge    -> judgments                     which of two answers is better?
    ranking         -> ratings                       Bradley-Terry ratings with intervals

`schema.py` has every table and column, `pipeline/` the order of the stages, `store/` how tables are kept; `explorer/`
and `pages/` show them. Importing this package loads nothing heavy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mirage.api import (
        Arena,
        BadInput,
        Difference,
        Evaluation,
        MirageError,
        NoMIRACLDataLoader,
        NotEnoughData,
        Ranking,
        Rows,
        SystemComparison,
        UnknownName,
        VanillaTemplate,
        agreement,
        attribution,
        chat_model,
        compare,
        correct,
        evaluate,
        features,
        generate,
        import_file,
        judge,
        judge_exam,
        judge_passport,
        levels,
        load_data_sample,
        load_model,
        load_prompt_template,
        nugget_scores,
        open_arena,
        rag_service,
        rank,
        rates,
        retrieval_measures,
        risk_coverage,
        testset,
        variance,
    )

__version__ = "0.1.0"

__all__ = [
    "Arena",
    "BadInput",
    "Difference",
    "Evaluation",
    "MirageError",
    "NoMIRACLDataLoader",
    "NotEnoughData",
    "Ranking",
    "Rows",
    "SystemComparison",
    "UnknownName",
    "VanillaTemplate",
    "agreement",
    "attribution",
    "chat_model",
    "compare",
    "correct",
    "evaluate",
    "features",
    "generate",
    "import_file",
    "judge",
    "judge_exam",
    "judge_passport",
    "levels",
    "load_data_sample",
    "load_model",
    "load_prompt_template",
    "nugget_scores",
    "open_arena",
    "rag_service",
    "rank",
    "rates",
    "retrieval_measures",
    "risk_coverage",
    "testset",
    "variance",
]


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used."""
    if name in __all__:
        value = getattr(import_module("mirage.api"), name)
        return globals().setdefault(name, value)
    raise AttributeError(f"module 'mirage' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
