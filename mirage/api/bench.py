"""Clients and evaluators under the names of the MIRAGE-Bench package."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from mirage.api.models import chat_model, load_model
from mirage.errors import UnknownName
from mirage.llm.generator import Generator
from mirage.schema import Code
from mirage.text.languages import UNDETERMINED, language

_Answers = Mapping[str, str]
_Documents = Mapping[str, Mapping[str, str]]

_PROVIDERS = {
    "anyscale": "anyscale",
    "azure_openai": "azure",
    "claude": "anthropic",
    "cohere": "cohere",
    "gemini": "gemini",
    "openai": "openai",
    "vllm": "vllm",
}
"""Our providers by the package's names of clients."""


class _Client(Generator):
    """A model under the name of its client in the MIRAGE-Bench package.

    Args:
        model_name_or_path: name of the model; at Azure, of the deployment.
        options: further arguments of `mirage.load_model`, whose environment variables hold address and key.
    """

    client = ""

    def __init__(self, model_name_or_path: str, **options: Any) -> None:
        defaults = {"temperature": 0.1, "top_p": None, "max_new_tokens": 1024}
        loaded = load_model(_PROVIDERS[self.client], model_name_or_path, **(defaults | options))
        super().__init__(loaded.technique, loaded.model)


class AnyScaleAPIClient(_Client):
    """A model at Anyscale; `batch_call(prompts)` returns its replies."""

    client = "anyscale"


class AzureOpenAIClient(_Client):
    """A deployment at Azure; `batch_call(prompts)` returns its replies."""

    client = "azure_openai"


class ClaudeAPIClient(_Client):
    """A model at Anthropic; `batch_call(prompts)` returns its replies."""

    client = "claude"


class CohereAPIClient(_Client):
    """A model at Cohere; `batch_call(prompts)` returns its replies."""

    client = "cohere"


class GeminiAPIClient(_Client):
    """A model at Google; `batch_call(prompts)` returns its replies."""

    client = "gemini"


class OpenAIClient(_Client):
    """A model at OpenAI, or at `base_url`; `batch_call(prompts)` returns its replies."""

    client = "openai"


class VLLMClient(_Client):
    """A model that vLLM loads on this machine; `batch_call(prompts)` returns its replies."""

    client = "vllm"


class RougeBleuEvaluator:
    """Measures the overlap of answers with a reference system's: our features `answer_bleu` and `answer_rougeL`.

    Args:
        language_code: code of the language of the queries.
    """

    def __init__(self, language_code: str) -> None:
        self.language = language(language_code).code

    def evaluate(
        self, predictions: _Answers, reference_predictions: _Answers, documents: _Documents
    ) -> dict[str, dict[str, float | None]]:
        """Return the values by query and feature; None where answer or reference is missing or has no answer part.

        Args:
            predictions: the answers, by query.
            reference_predictions: the reference system's answers, by query.
            documents: the passages shown, by query and id.
        """
        if not documents:
            return {}
        from mirage.stages.features.spec import Tools
        from mirage.stages.features.table import compute

        only = ("answer_bleu", "answer_rougeL")
        answers = {"prediction": predictions, "reference": reference_predictions}
        tables = _tables(self.language, answers, documents)
        rows = compute(None, tables["passages"], tables["answers"], only=only, tools=Tools(reference="reference"))
        scores: dict[str, dict[str, float | None]] = {}
        for row in rows.to_pylist():
            if row["system"] == "prediction":
                scores.setdefault(row["query_id"], {})[row["feature"]] = row["value"]
        return scores


class PairwiseLLMJudgeEvaluator:
    """Judges pairs of answers by a model, with our prompt; `mirage.judge` judges an arena, and caches replies.

    Args:
        client: anyscale, azure_openai, claude, cohere, gemini, openai, or vllm for a vLLM server.
        model_name_or_path: the judge's name at the service.
        options: further arguments of `mirage.chat_model`.

    Raises:
        UnknownName: if there is no such client.
        BadInput: if the service's key or address is missing or invalid.
    """

    def __init__(self, client: str, model_name_or_path: str, **options: Any) -> None:
        if client not in _PROVIDERS:
            raise UnknownName("client", client, _PROVIDERS)
        self.model = chat_model(model_name_or_path, provider=_PROVIDERS[client], **options)

    def evaluate(
        self,
        predictions: Mapping[str, _Answers],
        all_model_names: Sequence[str],
        documents: _Documents,
        queries: _Answers,
        temperature: float | None = 0.1,
        max_tokens: int = 1024,
        sample_max: int = 1,
    ) -> list[dict[str, str | None]]:
        """Return the verdicts on all pairs of these systems, each in both orders.

        Args:
            predictions: answers by system and query.
            all_model_names: the systems.
            documents: the passages shown, by query and id.
            queries: their texts.
            temperature: sampling temperature; None for the service's default.
            max_tokens: maximum new tokens per reply.
            sample_max: number of queries to sample.

        Returns:
            Rows of query_id, judge, model_A, model_B, output and verdict: A, B, Tie, or None if unparsed. A failed
            call has no row.

        Raises:
            UnknownName: if a system has no answers.
            NotEnoughData: if no query has a text, passages, and answers of two systems.
            Unreachable: if the service rejects every call.
        """
        from mirage.llm.asking import ask
        from mirage.stages.judge.pairs import choose_pairs
        from mirage.stages.judge.prompt import Prompts, judgeable
        from mirage.stages.judge.verdict import read_verdicts
        from mirage.store.ledger import scratch_ledger

        if strange := [name for name in all_model_names if name not in predictions]:
            raise UnknownName("system", strange[0], list(predictions))
        answers = {name: predictions[name] for name in all_model_names}
        tables = _tables(UNDETERMINED, answers, documents, queries)
        among = judgeable(tables["queries"], tables["passages"])
        battles = choose_pairs(tables["answers"], queries=sample_max, among=among)
        prompts = Prompts(battles, **tables)
        settings = replace(self.model.settings, temperature=temperature, max_tokens=max_tokens)
        with scratch_ledger() as ledger:
            replies = ask(prompts, replace(self.model, settings=settings), ledger)
        replies.need_any()
        verdicts = read_verdicts(battles, prompts, replies, settings.model)
        names = {"query_id": "query_id", "judge": "judge", "model_A": "system_a", "model_B": "system_b"}
        return [
            {
                **{theirs: getattr(row, ours) for theirs, ours in names.items()},
                "output": row.rationale,
                "verdict": {"tie": "Tie", "unparsed": None}.get(row.verdict, row.verdict),
            }
            for row in verdicts
        ]


def _tables(
    code: Code, answers: Mapping[str, _Answers], documents: _Documents, queries: _Answers | None = None
) -> dict[str, pa.Table]:
    """Return the tables of answers by system and query, with the queries and the passages shown."""
    from mirage.io.columns import Columns

    columns = Columns("queries", "passages", "answers")
    for query_id, passages in documents.items():
        key = code, query_id
        columns.add("queries", key, text=None if queries is None else queries.get(query_id))
        for position, (passage_id, text) in enumerate(passages.items(), start=1):
            columns.add("passages", key, passage_id=passage_id, position=position, text=text)
        for system, texts in answers.items():
            answer = texts.get(query_id)
            status = "missing" if answer is None else "ok" if answer.strip() else "empty"
            columns.add("answers", key, system=system, status=status, template="rag", text=answer)
    return columns.tables()
