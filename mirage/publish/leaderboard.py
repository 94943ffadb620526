"""Printable rankings: LaTeX for a paper, Markdown for a README.

The systems tied with the best are bold, and the caption states the method. Names are escaped, so
that no name can end a cell, a row or the table.
"""

from collections.abc import Iterator, Sequence

from mirage.ranking.board import leaderboard
from mirage.ranking.bootstrap import RankingReport
from mirage.ranking.records import JOINT
from mirage.text.printing import latex_frame, latex_text, markdown_frame, markdown_text
from mirage.text.segmentation import as_sentence, count_text

HEAD = ("Rank", "System", "Rating", "95% interval", "Rank, 95%", "Best", "Queries", "Battles")
"""Columns of the printed table."""
_ALIGN = "rlrrrrrr"
_RANKS = (
    "Ranks: behind all significantly better systems, before all significantly worse ones (paired tests over queries, "
    "adjusted for all pairs, 5%). Systems tied with the best are bold."
)


def to_latex(ranking: RankingReport, language: str | None = None, *, notes: Sequence[str] = ()) -> str:
    r"""Return the ranking of one language as a LaTeX table with the rules of `booktabs`.

    Args:
        ranking: the ranking.
        language: code, or `all`; None for the last, which is `all` if there are several.
        notes: sentences at the end of the caption; plain text.

    Returns:
        A `table` environment. Names in non-Latin scripts need XeLaTeX or LuaLaTeX and a suitable font.

    Raises:
        UnknownName: if the language is not ranked.
    """
    lines = []
    for (rank, system, rating, low, high, *rest), bold in _rows(ranking, language):
        name = rf"\textbf{{{latex_text(system)}}}" if bold else latex_text(system)
        interval = f"[${low}$, ${high}$]".replace("∞", r"\infty")
        lines.append([rank, name, f"${rating}$", interval, *rest])
    return latex_frame(
        [latex_text(name) for name in HEAD],
        lines,
        sides=_ALIGN,
        caption=latex_text(_caption(ranking, language, notes)),
        label="leaderboard",
    )


def to_markdown(ranking: RankingReport, language: str | None = None, *, notes: Sequence[str] = ()) -> str:
    """Return the ranking of one language as a GitHub Markdown table, with the caption below.

    Args and errors: as for `to_latex`.
    """
    lines = []
    for (rank, system, rating, low, high, *rest), bold in _rows(ranking, language):
        name = markdown_text(system)
        lines.append([rank, f"**{name}**" if bold and name else name, rating, f"{low} to {high}", *rest])
    words = markdown_text(_caption(ranking, language, notes))
    return markdown_frame(HEAD, lines, sides=_ALIGN, caption=words)


def _caption(ranking: RankingReport, language: str | None, notes: Sequence[str]) -> str:
    """Return the caption of a printed table: judge, extent, method, and the meaning of the ranks."""
    code = _code(ranking, language)
    row = ranking.languages[code]
    codes = [other for other in ranking.languages if other != JOINT] if code == JOINT else [code]
    where = "" if codes == ["und"] else f" in {count_text(len(codes), 'language')} ({', '.join(codes)})"
    skill = "" if ranking.skill == "both" else f", skill {ranking.skill}"
    counts = f"{count_text(len(row.systems), 'system')}, {count_text(row.n_queries, 'query')}"
    lines = f"{counts}{where}, judge {ranking.judge}{skill}.", f"Ratings in logits: {ranking.method}.", _RANKS
    return " ".join([*lines, *(note if note.endswith(".") else as_sentence(note) for note in notes)])


def _code(ranking: RankingReport, language: str | None) -> str:
    return list(ranking.languages)[-1] if language is None else language


def _rows(ranking: RankingReport, language: str | None) -> Iterator[tuple[list[str], bool]]:
    """Yield the systems of one language, best first: the cells of `HEAD` as plain texts, with both ends of the rating's
    interval, and whether the system is tied with the best and not all are.
    """
    code = _code(ranking, language)
    rows = leaderboard(ranking, code).to_pylist()
    several = any(row["best"] is None for row in rows)
    for row in rows:
        low = "-∞" if row["low"] is None else f"{row['low']:+.2f}"
        high = "+∞" if row["high"] is None else f"{row['high']:+.2f}"
        rank, rating, best = str(row["rank"]), f"{row['rating']:+.2f}", row["best"] or ""
        first, last = row["rank_low"], row["rank_high"]
        ranks = str(first) if first == last else f"{first} to {last}"
        counts = f"{row['n']:,}", f"{row['battles']:,}"
        yield [rank, row["system"], rating, low, high, ranks, best, *counts], several and best != ""
