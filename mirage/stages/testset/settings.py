"""Options of a test set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import get_args

from mirage.errors import BadInput, UnknownName
from mirage.schema import QuestionType

TYPES: tuple[QuestionType, ...] = get_args(QuestionType)
"""Every type of question."""


@dataclass(frozen=True, slots=True)
class CorpusPassage:
    """One passage of a corpus."""

    passage_id: str
    """Id, unique in the corpus."""
    title: str | None
    """Title of its document and section; None if unknown."""
    text: str
    """The text."""
    language: str | None
    """Code of its language, given or detected; None if undecided."""
    file: str
    """Name of its source file."""

    @property
    def searched(self) -> str:
        """Title and text, for search."""
        return f"{self.title} {self.text}" if self.title else self.text


@dataclass(frozen=True, slots=True)
class TestsetSettings:
    """Options of a test set."""

    __test__ = False  # pytest would collect the class by its name

    languages: Sequence[str]
    """Language codes of the questions."""
    n: int = 200
    """Questions per language."""
    types: Sequence[QuestionType] = TYPES
    """Types of question, in equal shares."""
    unanswerable: float = 0.5
    """Share of the questions to make unanswerable."""
    depth: int = 10
    """Passages given with each query."""
    seed: int = 0
    """Seed of the passages, the types and the unanswerable questions."""
    across: bool = False
    """Whether to write questions from passages in any language, even if the corpus has passages in the question's
    language.
    """

    def __post_init__(self) -> None:
        """Check the options.

        Raises:
            BadInput: if a value is out of range.
            UnknownName: if there is no such type.
        """
        for name in self.types:
            if name not in TYPES:
                raise UnknownName("type of question", name, TYPES)
        if not self.types or not self.languages:
            raise BadInput("a test set needs a language and a type of question", do="give at least one of each")
        if self.n < 1 or self.depth < 2 or not 0 <= self.unanswerable <= 1:
            raise BadInput(
                f"n is {self.n}, depth {self.depth}, the unanswerable share {self.unanswerable}",
                do="use n from 1, depth from 2, and a share from 0 to 1",
            )

    def note(self) -> str:
        """Describe the options, for the manifest."""
        return (
            f"testset: {self.n} questions in each of {', '.join(self.languages)}; types {', '.join(self.types)};"
            f" {self.unanswerable:g} unanswerable; {self.depth} passages; seed {self.seed}"
            + ("; passages in any language" if self.across else "")
        )
