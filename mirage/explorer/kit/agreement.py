"""Votes by people on a judge: an agreement badge and the corrected ranking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import pyarrow.compute as pc
import streamlit as st

from mirage.errors import MirageError, NotEnoughData
from mirage.explorer.kit import votes as people
from mirage.explorer.kit.frame import Page
from mirage.explorer.kit.pick import pick_language, pick_segments
from mirage.explorer.kit.states import badge_html, refuse
from mirage.explorer.kit.table import Col, table
from mirage.explorer.kit.text import plain
from mirage.people.votes.agreement import Agreement
from mirage.people.votes.opinions import ENOUGH
from mirage.publish.charts.palette import FORMATS
from mirage.schema import PEOPLE
from mirage.text.languages import name_of
from mirage.text.segmentation import MANY, as_sentence, count_text, join_or_count

if TYPE_CHECKING:
    from mirage.people.votes.stage import CorrectionResult

_OF = (
    Col("system", "System", "system", help="System name."),
    Col("rank", "Rank", "rank", help="Rank by the judge, corrected by people's votes; 1 is best."),
    Col("rank", "Rank 95%", "span", low="rank_low", high="rank_high", help="95% interval of the corrected rank."),
    Col("rating", "Rating", "rating", help="Corrected rating in logits, centred on 0."),
    Col("rating", "95% interval", "interval", low="low", high="high", help="Valid whatever the judge's errors are."),
    Col("uncorrected_rank", "Judge's rank", "rank", help="Rank by the judge alone.", width=90),
    Col("votes", "Votes", "count", help="Votes counted on this system's battles (n)."),
)


def agreement_words(row: Agreement) -> str:
    """Return one row as a line: the agreement, its interval, and its n."""
    if row.raw is None:
        return "no data yet"
    write = FORMATS["rate"].write
    sure = "no interval" if row.raw_low is None else f"95% interval {write(row.raw_low)} to {write(row.raw_high)}"
    return f"{write(row.raw)} ({sure}), n = {row.n:,}"


def explanation(row: Agreement) -> str:
    """Explain the basis of a row, and why it is unreliable if it is."""
    where = "all languages with enough votes" if row.language == "all" else name_of(row.language)
    people = count_text(row.voters, "person")
    sentence = (
        f"{count_text(row.n, 'vote')} of {people} on {count_text(row.queries, 'query')} drawn at random, {where}."
    )
    if not row.enough:
        sentence += f" Not reliable yet: {ENOUGH} queries are needed."
    return f"{sentence} {as_sentence(row.reason)}" if row.reason else sentence


def voted_languages(counts: Mapping[str, int]) -> str:
    """List the languages with random votes and their counts, and those without.

    Args:
        counts: random votes by the codes of the languages shown (`mirage.explorer.judges.data.votes_by_language`).
    """
    have = [f"{name_of(code)} {n:,}" for code, n in counts.items() if n]
    none = [name_of(code) for code, n in counts.items() if not n]
    if not have:
        return "No votes on randomly drawn battles yet."
    words = f"Random votes: {', '.join(have)}."
    if none:
        words += f" No votes in {len(none)} of {len(counts)} languages"
        words += f": {', '.join(none)}." if len(none) <= MANY else "."
    return words


def agreement_badge(row: Agreement) -> None:
    """Show one row as a line, with its basis on hover."""
    subject = "People agree with each other" if row.judge == PEOPLE else f"People agree with {row.judge}"
    color = "green" if row.enough else "gray"
    st.html(badge_html(f"{subject}: {agreement_words(row)}", color, explanation(row)))


def of_judge(page: Page, judge: str, languages: Sequence[str]) -> None:
    """Show the agreement of people with a judge in the languages shown; nothing if no votes are possible.

    Args:
        page: the page; its arena has judgments.
        judge: the judge that is shown.
        languages: codes that are shown.
    """
    try:
        rows = {row.language: row for row in people.agreement_at(page.arena) if row.judge == judge}
    except MirageError as error:
        st.caption(plain(f"People's votes are unavailable: {error.what}."))
        return
    codes = [code for code in rows if code in languages]
    if codes:
        agreement_badge(rows["all"] if len(codes) > 1 else rows[codes[0]])
    elif "answers" in page.arena.tables:
        about = "No votes on randomly drawn battles yet; vote on the Spot check page."
        st.html(badge_html("No votes yet", "gray", about))


def overriding(page: Page) -> tuple[str, int] | None:
    """Offer to replace a judge's verdicts by people's votes on the same battles.

    Returns:
        The version of the votes to use (`people.version`); None if not replaced.
    """
    try:
        if not people.log(page.arena):
            return None
        version = people.version()
    except MirageError:
        return None  # the badge says so
    choice = pick_segments(
        "People's votes",
        ("beside", "override"),
        key="votes",
        kind="use of people's votes",
        help="beside: votes only check the judge. override: the majority vote replaces the judge's verdicts on the "
        "same battles.",
    )
    return version if choice == "override" else None


def show_corrected(page: Page, judge: str, languages: Sequence[str]) -> None:
    """Show a judge's ranking with and without correction by people's votes; nothing without votes.

    Args:
        page: the page; its arena has judgments.
        judge: the judge that is shown.
        languages: codes that are shown.
    """
    try:
        voted = {vote.language for vote in people.log(page.arena) if vote.control or vote.inclusion is not None}
        codes = [code for code in languages if code in voted]
        if not codes:
            return
        st.header("Ranking corrected by people's votes", anchor=False)
        code = codes[0]
        if len(codes) > 1:
            words = "unweighted mean over the languages with enough votes."
            code = pick_language("Language", codes, key="corrected", help=words, width=120)
        result = people.corrected_at(page.arena, judge, tuple(codes) if code == "all" else (code,))
    except MirageError:
        return
    if isinstance(result, NotEnoughData):
        st.caption(plain(f"Not yet. {as_sentence(result.where)} {as_sentence(result.do)}"))
    elif isinstance(result, MirageError):
        refuse(result)
    elif result is not None:
        _ranking(result)


def _ranking(ranking: CorrectionResult) -> None:
    """Return the ranking over all languages, or of the only language."""
    code = "all" if "all" in ranking.languages else next(iter(ranking.languages))
    correction = ranking.languages[code]
    ratings = ranking.table().filter(pc.field("language") == code)
    names = join_or_count([name_of(name) for name in correction.languages or (code,)], "language")
    refusals = [f"Not included: {error.what}." for error in ranking.refused.values()]
    table(ratings, _OF, key="corrected_ratings")
    st.caption(plain(" ".join([f"{names}. {correction.method}.", *refusals])))
