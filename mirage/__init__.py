"""mirage: find out which system to trust with retrieval-augmented generation in your language, and how far.

    import mirage

    arena = mirage.open_arena("nomiracl")     # a bundled arena, or a folder
    mirage.rates(arena, languages=["sw"])     # hallucination and error rates, with intervals
    mirage.rank(battles)                      # a data frame of battles to ratings, with intervals and tests
    mirage.evaluate("answers.jsonl")          # a file to a ranking: import, measure, judge, rank

`api/` holds these functions. The data flows through these packages:

    io              -> queries, passages, answers    files and public sources
    stages.outcomes -> outcomes                      did it answer, did it abstain, was that correct?
    stages.features -> features                      measures of an answer that need no judge
    stages.judge    -> judgments                     which of two answers is better?
    ranking         -> ratings                       Bradley-Terry ratings with intervals

`schema.py` defines every table and column, `pipeline/` orders the stages, `store/` reads and writes the tables;
`explorer/` and `pages/` show them. Importing this package loads no large library.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mirage.api.arenas import evaluate, import_file, open_arena, testset
    from mirage.api.bench import (
        AnyScaleAPIClient,
        AzureOpenAIClient,
        ClaudeAPIClient,
        CohereAPIClient,
        GeminiAPIClient,
        OpenAIClient,
        PairwiseLLMJudgeEvaluator,
        RougeBleuEvaluator,
        VLLMClient,
    )
    from mirage.api.measures import (
        attribution,
        levels,
        nugget_scores,
        rates,
        retrieval_measures,
        variance,
    )
    from mirage.api.models import chat_model, features, generate, judge, load_model, rag_service
    from mirage.api.ranking import agreement, compare, correct, judge_exam, judge_passport, rank
    from mirage.api.results import Evaluation, Ranking, Rows, SystemComparison
    from mirage.errors import BadInput, MirageError, NotEnoughData, UnknownName
    from mirage.io.sources.mirage_bench.loading import load_documents, load_predictions, load_prompts, load_queries
    from mirage.io.sources.nomiracl.seeded import NoMIRACLDataLoader, load_data_sample
    from mirage.llm.prompts.published import VanillaTemplate, load_prompt_template
    from mirage.ranking.records import Difference
    from mirage.store.arena import Arena

__version__ = "0.1.0"

_MODULES = {
    "mirage.api.arenas": ("evaluate", "import_file", "open_arena", "testset"),
    "mirage.api.bench": (
        "AnyScaleAPIClient",
        "AzureOpenAIClient",
        "ClaudeAPIClient",
        "CohereAPIClient",
        "GeminiAPIClient",
        "OpenAIClient",
        "PairwiseLLMJudgeEvaluator",
        "RougeBleuEvaluator",
        "VLLMClient",
    ),
    "mirage.api.measures": (
        "attribution",
        "levels",
        "nugget_scores",
        "rates",
        "retrieval_measures",
        "variance",
    ),
    "mirage.api.models": ("chat_model", "features", "generate", "judge", "load_model", "rag_service"),
    "mirage.api.ranking": ("agreement", "compare", "correct", "judge_exam", "judge_passport", "rank"),
    "mirage.api.results": ("Evaluation", "Ranking", "Rows", "SystemComparison"),
    "mirage.errors": ("BadInput", "MirageError", "NotEnoughData", "UnknownName"),
    "mirage.io.sources.mirage_bench.loading": ("load_documents", "load_predictions", "load_prompts", "load_queries"),
    "mirage.io.sources.nomiracl.seeded": ("NoMIRACLDataLoader", "load_data_sample"),
    "mirage.llm.prompts.published": ("VanillaTemplate", "load_prompt_template"),
    "mirage.ranking.records": ("Difference",),
    "mirage.store.arena": ("Arena",),
}
"""Public names by the module that defines them, which is imported when a name is first used."""

__all__ = [
    "AnyScaleAPIClient",
    "Arena",
    "AzureOpenAIClient",
    "BadInput",
    "ClaudeAPIClient",
    "CohereAPIClient",
    "Difference",
    "Evaluation",
    "GeminiAPIClient",
    "MirageError",
    "NoMIRACLDataLoader",
    "NotEnoughData",
    "OpenAIClient",
    "PairwiseLLMJudgeEvaluator",
    "Ranking",
    "RougeBleuEvaluator",
    "Rows",
    "SystemComparison",
    "UnknownName",
    "VLLMClient",
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
    "load_documents",
    "load_model",
    "load_predictions",
    "load_prompt_template",
    "load_prompts",
    "load_queries",
    "nugget_scores",
    "open_arena",
    "rag_service",
    "rank",
    "rates",
    "retrieval_measures",
    "testset",
    "variance",
]


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used."""
    for module, names in _MODULES.items():
        if name in names:
            return globals().setdefault(name, getattr(import_module(module), name))
    raise AttributeError(f"module 'mirage' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
