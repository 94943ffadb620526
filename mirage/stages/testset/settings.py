"""Options of a test set."""

from collections.abc import Sequence
from dataclasses import dataclass

from mirage.errors import BadInput


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
    unanswerable: float = 0.5
    """Share of the questions to make unanswerable."""
    depth: int = 10
    """Passages given with each query."""
    seed: int = 0
    """Seed of the passages, the types and the unanswerable questions."""

    def __post_init__(self) -> None:
        """Check the options.

        Raises:
            BadInput: if a value is out of range.
        """
        if not self.languages:
            raise BadInput("a test set needs a language", do="give at least one")
        if self.n < 1 or self.depth < 2 or not 0 <= self.unanswerable <= 1:
            raise BadInput(
                f"n is {self.n}, depth {self.depth}, the unanswerable share {self.unanswerable}",
                do="use n from 1, depth from 2, and a share from 0 to 1",
            )

    def note(self) -> str:
        """Describe the options, for the manifest."""
        return (
            f"testset: {self.n} questions in each of {', '.join(self.languages)}; {self.unanswerable:g} unanswerable;"
            f" {self.depth} passages; seed {self.seed}"
        )
