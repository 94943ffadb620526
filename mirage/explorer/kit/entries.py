"""The pages of the explorer: their names, their order, the question each answers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from mirage.store.shipped import shipped

HOME = "leaderboard"
"""The page at the root of the site."""


@dataclass(frozen=True, slots=True)
class PageEntry:
    """A page of the explorer: its file is `pages/<name>.py`."""

    name: str
    title: str
    question: str
    """The one question the page answers, shown under its title."""

    by_query: bool = True
    """Whether it reads single queries, so that the tags picked narrow it; else it shows what was computed from all."""

    @property
    def file(self) -> Path:
        """The page's script."""
        return shipped() / "pages" / f"{self.name}.py"


PAGES = (
    PageEntry(HOME, "Leaderboard", "Which system is best in my languages, and how sure is that?"),
    PageEntry(
        "hallucination",
        "Hallucination",
        "Who answers when nothing supports it, who stays silent when something does?",
    ),
    PageEntry("compare", "Compare", "Is A better than B, and would more queries tell?"),
    PageEntry("decide", "Which one?", "Which system do I take, at what price, and how sure is that?"),
    PageEntry("battle", "Battle", "Why did A beat B?"),
    PageEntry("features", "Features", "What makes an answer good, and who lacks it?"),
    PageEntry("answers", "Answers", "What did each system actually say?"),
    PageEntry("judges", "Judges", "Can I believe this judge in this language?"),
    PageEntry("spot_check", "Spot check", "Would I have decided the same?"),
    PageEntry("nuggets", "Nuggets", "Which facts does a good answer state?"),
    PageEntry("surrogate", "Surrogate", "How far do cheap features predict the judge?", by_query=False),
    PageEntry("your_model", "Your model", "Where would mine stand?", by_query=False),
    PageEntry("methods", "Methods", "What exactly does this number mean?", by_query=False),
)
"""All pages in their order; those whose file exists are listed."""
