"""A ranking as a table to print: LaTeX for a paper, Markdown for a README.

A line stands between two tiers, the systems of the best tier are bold, and the caption says how the numbers came about.
Names are text, whatever is in them: no name can end a cell, a row or the table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from mirage import store
from mirage.errors import BadInput, UnknownName
from mirage.exports.printing import latex_frame, latex_text, markdown_frame, markdown_text
from mirage.rank import Ranking
from mirage.rank.ranking import ordered
from mirage.rank.records import JOINT
from mirage.text import counted

HEAD = ("Rank", "System", "Rating", "95% interval", "Rank, 95%", "Tier", "Queries", "Battles")
"""Columns of the printed table."""
_ALIGN = "rlrrrrrr"


def to_latex(ranking: Ranking, language: str | None = None, *, title: str = "", notes: Sequence[str] = ()) -> str:
    r"""The ranking of one language as a LaTeX table with the rules of `booktabs`.

    Args:
        ranking: the ranking.
        language: code, or `all`; None for the last, which is `all` where there are several.
        title: begins the caption; plain text.
        notes: sentences that end the caption; plain text.

    Returns:
        A `table` environment. Names in other scripts than Latin need XeLaTeX or LuaLaTeX and a font that has them.

    Raises:
        UnknownName: if the language is not ranked here.
    """
    lines, rules = [], []
    for n, row in enumerate(_rows(ranking, language)):
        low = r"-\infty" if row["low"] is None else f"{row['low']:+.2f}"
        high = r"+\infty" if row["high"] is None else f"{row['high']:+.2f}"
        name = latex_text(row["system"])
        name = rf"\textbf{{{name}}}" if row["best"] else name
        rules += [n] * row["begins"]
        lines.append(_cells(row, name, f"${row['rating']:+.2f}$", f"[${low}$, ${high}$]"))
    return latex_frame(
        [latex_text(name) for name in HEAD],
        lines,
        sides=_ALIGN,
        caption=latex_text(caption(ranking, language, title=title, notes=notes)),
        label="leaderboard",
        rules=rules,
    )


def to_markdown(ranking: Ranking, language: str | None = None, *, title: str = "", notes: Sequence[str] = ()) -> str:
    """The ranking of one language as a table of GitHub's Markdown, the caption below it.

    Markdown has no line between rows, so that only the column of tiers tells where one begins. Args and errors: as for
    `to_latex`.
    """
    lines = []
    for row in _rows(ranking, language):
        low = "-∞" if row["low"] is None else f"{row['low']:+.2f}"
        high = "+∞" if row["high"] is None else f"{row['high']:+.2f}"
        name = markdown_text(row["system"])
        name = f"**{name}**" if row["best"] and name else name
        rating = f"{row['rating']:+.2f}"
        lines.append(_cells(row, name, rating, f"{low} to {high}"))
    words = markdown_text(caption(ranking, language, title=title, notes=notes))
    return markdown_frame(HEAD, lines, sides=_ALIGN, caption=words)


def caption(ranking: Ranking, language: str | None = None, *, title: str = "", notes: Sequence[str] = ()) -> str:
    """What a printed table must say of itself: what is ranked, by whom, over how much, how, and what a tier is.

    Args and errors: as for `to_latex`.
    """
    code = _code(ranking, language)
    row = ranking.languages[code]
    codes = [other for other in ranking.languages if other != JOINT] if code == JOINT else [code]
    where = "" if codes == ["und"] else f" in {counted(len(codes), 'language')} ({', '.join(codes)})"
    queries = "query" if row.n_queries == 1 else "queries"
    skill = "" if ranking.skill == "both" else f", skill {ranking.skill}"
    sentences = [
        f"{counted(len(row.systems), 'system')}, {row.n_queries:,} {queries}{where}, referee {ranking.referee}{skill}.",
        f"Ratings in logits: {ranking.method}.",
    ]
    if ranking.battles:
        sentences.append(
            "Two systems of different tiers are separated by a paired test over queries, with Holm's correction over "
            "all pairs, at 5%; where there are several tiers, the systems of the best are bold."
        )
    sentences += [f"{note[:1].upper()}{note[1:].rstrip('.')}." for note in notes]
    return " ".join([f"{title}." if title else "", *sentences]).strip()


def write_leaderboard(ranking: Ranking, out: Path, *, title: str = "", notes: Sequence[str] = ()) -> None:
    """Write a ranking into one file, in the kind that its name says.

    Args:
        ranking: the ranking.
        out: file named .tex or .md (the last row of `languages`, to print), .csv or .json (every language, unrounded);
            replaced if it is there.
        title: what is ranked; plain text.
        notes: what a reader must know.

    Raises:
        BadInput: if the file's name says no known kind, or it cannot be written.
    """
    about = {
        "title": title,
        "referee": ranking.referee,
        "skill": ranking.skill,
        "method": ranking.method,
        "seed": ranking.seed,
        "draws": ranking.n_draws,
        "queries": {code: row.n_queries for code, row in ranking.languages.items()},
        "notes": list(notes),
    }
    kinds: dict[str, Callable[[], str]] = {
        ".tex": lambda: to_latex(ranking, title=title, notes=notes),
        ".md": lambda: to_markdown(ranking, title=title, notes=notes),
        ".csv": lambda: store.to_csv(ordered(ranking)),
        ".json": lambda: store.to_json(ordered(ranking), about),
    }
    if out.suffix not in kinds:
        raise BadInput(f"{out.name} is of no known kind", do=f"name the file {', '.join(kinds)}")
    store.write_whole(out, kinds[out.suffix]().encode("utf-8"))


def _code(ranking: Ranking, language: str | None) -> str:
    code = list(ranking.languages)[-1] if language is None else language
    if code not in ranking.languages:
        raise UnknownName("language", code, ranking.languages)
    return code


def _rows(ranking: Ranking, language: str | None) -> Iterator[dict[str, Any]]:
    """The systems of one language, the best first: `schema.Rating` columns, with `queries`, how many the system battles
    on, `begins`, whether a tier begins with it, other than the first, and `best`, whether it is of the best of several.
    """
    code = _code(ranking, language)
    part = ranking.languages[code]
    queries = dict(zip(part.systems, part.queries_by_system.tolist(), strict=True))
    rows = [row for row in ordered(ranking).to_pylist() if row["language"] == code]
    several = len({row["tier"] for row in rows} - {None}) > 1
    tier: int | None = None
    for row in rows:
        begins = tier is not None and row["tier"] not in (None, tier)
        tier = tier if row["tier"] is None else row["tier"]
        best = several and row["tier"] == 1
        yield row | {"queries": queries[row["system"]], "begins": begins, "best": best}


def _cells(row: dict[str, Any], name: str, rating: str, interval: str) -> list[str]:
    """The cells of a row in the order of `HEAD`, given those that each format writes in its own way."""
    low, high = row["rank_low"], row["rank_high"]
    ranks = str(low) if low == high else f"{low} to {high}"
    tier = "" if row["tier"] is None else str(row["tier"])
    return [str(row["rank"]), name, rating, interval, ranks, tier, f"{row['queries']:,}", f"{row['battles']:,}"]
