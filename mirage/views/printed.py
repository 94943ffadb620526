"""View of the figures printed in the papers, beside an arena's own."""

from collections import Counter
from dataclasses import asdict, dataclass
from functools import lru_cache

import pyarrow as pa
import pyarrow.compute as pc

from mirage.errors import UnknownName
from mirage.io.sources.nomiracl.origin import BASELINES
from mirage.papers import printed as papers
from mirage.store.arena import Arena
from mirage.text.languages import in_order
from mirage.text.segmentation import count_text
from mirage.views.cache import cached_view, memoize
from mirage.views.rates import SOURCE


@dataclass(frozen=True, slots=True)
class PrintedChoice:
    """Choices of the printed figures."""

    source: str | None = None
    """The paper; None for both."""
    item: str | None = None
    """The table or figure, as `Table 3`; None for all."""
    names: tuple[tuple[str, str], ...] = ()
    """A system as printed and that of the arena, where the names do not match."""


EVERYTHING = PrintedChoice()
"""All figures of both papers."""
OPENING = "Table 3"
"""The table that a page opens with where an arena has none of the figures: rates by prompt."""


def paper_tables(figures: Arena) -> tuple[str, ...]:
    """Return NoMIRACL's tables among the printed figures, except the rates, which have their own page."""
    return tuple(sorted({item for item, _ in _nomiracl(figures)} - {BASELINES}))


@lru_cache(maxsize=8)
def _nomiracl(figures: Arena) -> frozenset[tuple[str, str]]:
    """Return item and language of NoMIRACL's figures."""
    rows = figures.read("published", columns=("source", "item", "language")).to_pylist()
    return frozenset((row["item"], row["language"]) for row in rows if row["source"] == SOURCE)


@lru_cache(maxsize=8)
def opening_table(figures: Arena, arena: Arena | None) -> str:
    """Return the table that a page opens with: that with the most figures of the arena, else `OPENING`."""
    beside = figures_view(figures, arena, PrintedChoice(SOURCE)) if arena is not None else ()
    counts = Counter(figure.item for figure in beside if figure.ours is not None)
    return max(paper_tables(figures), key=lambda item: (counts[item], item == OPENING))


def table_languages(figures: Arena, item: str) -> tuple[str, ...]:
    """Return the languages of a table; `all` is first if the paper prints a mean or total."""
    codes = in_order({code for own, code in _nomiracl(figures) if own == item})
    return tuple(sorted(codes, key=lambda code: code != "all"))


@memoize
def printed_beside_ours(figures: Arena, arena: Arena | None, item: str, language: str) -> pa.Table:
    """Return the figures of one table in one language with the arena's own: rows of `reproduce.printed.PrintedFigure`,
    those without a figure of the arena last.
    """
    table_figures = figures_view(figures, arena, PrintedChoice(SOURCE, item))
    rows = [asdict(figure) for figure in table_figures if figure.language == language]
    for row in rows:
        row["metric"] = row["metric"].removeprefix("share of replies: ")
    rows.sort(key=lambda row: row["ours"] is None)
    names = ("printed", "ours", "difference", "ours_low", "ours_high")
    kinds = dict.fromkeys(names, pa.float64()) | {"n": pa.int64()}
    fields = [pa.field(name, kinds.get(name, pa.string())) for name in rows[0]]
    return pa.Table.from_pylist(rows, schema=pa.schema(fields))


@cached_view
def figures_view(
    figures: Arena, arena: Arena | None = None, choice: PrintedChoice = EVERYTHING
) -> tuple[papers.PrintedFigure, ...]:
    """Return printed figures, each with the arena's value, as the command and the page show them.

    Raises:
        UnknownName: if there is no such paper, item, language, or system of the arena.
    """
    names = dict(choice.names)
    return tuple(
        papers.printed_figures(figures.read("published"), arena, source=choice.source, item=choice.item, names=names)
    )


_FIGURE = """
    SELECT language, system, CAST(max(value) FILTER (NOT contains(lower(setting), 'surrogate')) AS BIGINT) AS judge,
           CAST(max(value) FILTER (contains(lower(setting), 'surrogate')) AS BIGINT) AS surrogate,
           min(reference) AS reference
    FROM published
    WHERE source = 'MIRAGE-Bench' AND item = 'Figure 4' AND unit = 'rank' AND language NOT IN ('all', '')
    GROUP BY language, system ORDER BY language, system
"""
"""The printed ranks, one row per language and system."""


@dataclass(frozen=True, eq=False)
class PublishedRanks:
    """The ranks that Figure 4 of the MIRAGE-Bench paper prints."""

    rows: pa.Table
    """system, judge and surrogate (mean rank over the languages shown), `difference` (surrogate - judge), best and
    worst rank by the judge, number of languages; best mean rank by the judge first."""
    ranks: pa.Table
    """language, system, judge, surrogate: the printed ranks."""
    languages: tuple[str, ...]
    reference: str
    """Source of the figures."""

    @property
    def conclusion(self) -> str:
        """Sentence that names the system with the best mean rank by the judge; empty without a printed rank."""
        if not (rows := self.rows.to_pylist()):
            return ""
        best = [row["system"] for row in rows if row["judge"] == rows[0]["judge"]]
        mean = f"mean rank {rows[0]['judge']:.1f} in {count_text(len(self.languages), 'language')}"
        return f"As printed, {' and '.join(best)} rank{'s' * (len(best) == 1)} best by the GPT-4o judge ({mean})."

    @property
    def about(self) -> str:
        """Source and size of the printed ranks, and why they have no intervals."""
        return (
            f"MIRAGE-Bench, Figure 4: ranks of {self.rows.num_rows} systems in "
            f"{count_text(len(self.languages), 'language')} by the GPT-4o judge and by the surrogate judge, as "
            "printed. No intervals: the paper does not print the underlying ratings."
        )

    @property
    def everything(self) -> pa.Table:
        """Return the page's data as one table; language `all` has mean ranks."""
        means = self.rows.select(("system", "judge", "surrogate")).to_pylist()
        return pa.Table.from_pylist([*({"language": "all", **row} for row in means), *self.ranks.to_pylist()])


@memoize
def published_ranks(arena: Arena, languages: tuple[str, ...]) -> PublishedRanks:
    """Return the printed ranks by the judge and by the surrogate.

    Raises:
        TableMissing: if the arena has no published figures.
        UnknownName: if these languages are not among them.
    """
    arena.need("published")
    ranks = arena.sql(_FIGURE)
    codes = sorted(set(ranks["language"].to_pylist()))
    chosen = tuple(code for code in codes if not languages or code in languages)
    if not chosen:
        raise UnknownName("language", ", ".join(languages), codes, where="MIRAGE-Bench, Figure 4")
    reference = ranks["reference"][0].as_py()
    ranks = ranks.filter(pc.is_in(ranks["language"], value_set=pa.array(chosen))).drop_columns("reference")
    over = [("judge", "mean"), ("surrogate", "mean"), ("judge", "min"), ("judge", "max"), ("judge", "count")]
    means = ranks.group_by("system").aggregate(over).sort_by([("judge_mean", "ascending"), ("system", "ascending")])
    columns = {"system": means["system"], "judge": means["judge_mean"], "surrogate": means["surrogate_mean"]}
    columns |= {"difference": pc.subtract(means["surrogate_mean"], means["judge_mean"])}
    columns |= {"best": means["judge_min"], "worst": means["judge_max"], "languages": means["judge_count"]}
    return PublishedRanks(pa.table(columns), ranks, chosen, reference)
