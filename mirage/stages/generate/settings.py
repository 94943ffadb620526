"""Settings for generating answers."""

from collections.abc import Sequence
from dataclasses import dataclass

from mirage.llm.calls import Settings
from mirage.llm.completion import Messages
from mirage.llm.prompts import Template
from mirage.llm.tokens import Tokens
from mirage.schema import QueryKey


@dataclass(frozen=True, slots=True)
class GenerateSettings:
    """Settings for generating the answers of one system."""

    system: str
    """Name of the system."""
    template: Template | None
    """The prompt template; None for a RAG service, which retrieves and prompts by itself."""
    model: Settings
    """Model name and sampling parameters; those of a RAG service are `RagService.model`'s."""
    tokens: Tokens | None = None
    """Token counter for truncating passages; None for the estimate. In an arena None is the estimate if the system's
    answers so far used it, else the model's tokenizer if available, else the estimate.
    """
    seed: int = 0
    """Seed of the passage order."""
    languages: Sequence[str] | None = None
    """Codes; None for all."""
    limit: int | None = None
    """Maximum queries per language, the first by id; None for all."""
    queries: frozenset[QueryKey] | None = None
    """Language and id of the queries to send; None for all."""
    relevant_only: bool = False
    """Whether prompts show only the relevant passages, for the teacher of a training set; queries without any are
    skipped.
    """
    retriever: str | None = None
    """Retriever of the passages in the prompts; None for those given with the queries."""
    depth: int | None = None
    """Number of the retriever's top passages to show; None for all."""
    replace: bool = False
    """Whether to generate the system's answers to these queries again, ignoring existing answers and the ledger. An
    interrupted replacement resumes without repeating calls.
    """

    @property
    def own_retriever(self) -> str | None:
        """Retriever of the passages that the system has seen: a RAG service is its own."""
        return self.retriever if self.template is not None else self.system

    def conversation(self, language: str, query_id: str, text: str) -> Messages:
        """Return a prompt as a conversation, or a question to a RAG service."""
        message = {"role": "user", "content": text}
        if self.template is None:
            message |= {"language": language, "query_id": query_id}
        return [message]
