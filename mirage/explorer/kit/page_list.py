"""The pages of the explorer: names, order, and the question each answers."""

from dataclasses import dataclass
from pathlib import Path

from mirage.store.arena import Arena
from mirage.store.bundled import shipped_folder

HOME = "leaderboard"
"""The page at the root URL."""


@dataclass(frozen=True, slots=True)
class PageEntry:
    """Page of the explorer. Its file is `pages/<name>.py`, and its name is its address."""

    name: str
    group: str
    """Heading of the page in the navigation."""
    title: str
    question: str
    """The one question the page answers, shown under its title."""

    needs: tuple[str, ...] = ()
    """Tables; the page needs any one of them. Empty if it needs none."""
    by_query: bool = True
    """Whether it reads single queries, so that selected tags filter it; otherwise it shows results over all queries."""

    def is_offered(self, arena: Arena) -> bool:
        """Return whether the page has something to show of an arena."""
        return not self.needs or not set(self.needs).isdisjoint(arena.whole.tables)

    @property
    def file(self) -> Path:
        """The page's script."""
        return shipped_folder() / "pages" / f"{self.name}.py"


RESULTS, EVIDENCE, TOOLS = "Results", "Evidence", "Tools"
PAGES = (
    PageEntry(HOME, RESULTS, "Leaderboard", "Which system is best in my languages?"),
    PageEntry(
        *("hallucination", RESULTS, "Hallucination", "Who makes things up, and who gives up?"),
        needs=("outcomes", "published", "retrieved"),
    ),
    PageEntry("compare", RESULTS, "Compare", "Is A better than B?", ("outcomes", "judgments", "features")),
    PageEntry("battle", EVIDENCE, "Battle", "Why did A beat B?", ("answers", "outcomes", "judgments")),
    PageEntry("answers", EVIDENCE, "Answers", "What did each system say?", ("answers", "outcomes")),
    PageEntry("features", EVIDENCE, "Features", "What makes an answer good, and who lacks it?", ("features",)),
    PageEntry("judges", EVIDENCE, "Judges", "Can I trust this judge in this language?", ("judgments", "scores")),
    PageEntry("spot_check", EVIDENCE, "Spot check", "Do I agree with the judge?", ("answers",)),
    PageEntry("your_model", TOOLS, "Your system", "How does my system rank?", ("queries",), by_query=False),
    PageEntry(
        *("surrogate", TOOLS, "Surrogate", "How well do cheap features predict the judge?"),
        needs=("predictions",),
        by_query=False,
    ),
    PageEntry("methods", TOOLS, "Methods", "What does this number mean?", by_query=False),
)
"""All pages, by group, in the order of the navigation; those without a file, or that an arena cannot fill, are left
out."""
