"""What people's votes say of a judge: a badge that is grey where too few have voted, and its ranking corrected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import pyarrow.compute as pc
import streamlit as st

from mirage.errors import MirageError, NotEnoughData
from mirage.explorer.kit import corrected_chart as charts
from mirage.explorer.kit import votes as people
from mirage.explorer.kit.chart import chart
from mirage.explorer.kit.columns import Col
from mirage.explorer.kit.frame import Page
from mirage.explorer.kit.pick import pick, pick_language
from mirage.explorer.kit.states import badge_html, refuse
from mirage.explorer.kit.table import mode, table
from mirage.explorer.kit.text import plain
from mirage.people import votes
from mirage.publish.charts.palette import FORMATS
from mirage.schema import from_rows
from mirage.text.languages import in_order, name_of
from mirage.text.segmentation import MANY, counted, listed

if TYPE_CHECKING:
    from mirage.people.votes.stage import CorrectionResult

_OF = (
    Col("system", "System", "system", help="The system rated."),
    Col("rank", "Rank", "rank", help="Its rank by the judge, corrected by people. 1 is best."),
    Col("rank", "Rank 95%", "span", low="rank_low", high="rank_high", help="95% interval of the corrected rank."),
    Col("rating", "Rating", "rating", help="Corrected strength in logits, centred on 0."),
    Col("rating", "95% interval", "interval", low="low", high="high", help="Holds whatever the judge's errors are."),
    Col("uncorrected_rank", "Judge's rank", "rank", help="Its rank by the judge alone.", width=90),
    Col("uncorrected", "Judge's rating", "rating", help="Its strength by the judge alone.", width=96),
    Col(
        "uncorrected",
        "95% interval",
        "interval",
        low="uncorrected_low",
        high="uncorrected_high",
        help="Of the judge's rating; knows of chance alone, and nothing of the judge's errors.",
    ),
    Col(
        "width",
        "Width",
        "probability",
        help="Width of the interval over that of the same votes without the judge: near 1 the judge adds nothing.",
    ),
    Col("votes", "Votes", "count", help="Votes that count, on battles of this system (n)."),
    Col("battles", "Battles", "count", help="Battles of this system that the judge decided."),
)


_CITED = (
    Col("system", "System", "system", help="The system; all: every system of the language together."),
    Col("language", "Language", "text", help="Language of the queries.", width=80),
    Col("supported", "Supported", "rate", help="Share of the citations whose passage supports the sentence."),
    Col(
        "supported",
        "95% interval",
        "interval",
        low="supported_low",
        high="supported_high",
        help="Wilson's interval with the answer as the cluster: citations of one answer are alike.",
    ),
    Col("citations", "Citations", "count", help="Citations on which people are clear (n)."),
    Col(
        "answers",
        "Answers",
        "count",
        help=f"Answers they are in; below {votes.ENOUGH_ANSWERS} unsure.",
    ),
    Col("unclear", "Unclear", "count", help="Citations on which most said unclear, or opinions are even: left out."),
    Col("voters", "People", "count", help="People who voted."),
    Col("agree", "Agree", "rate", help="Share of the pairs of people on one citation who say the same."),
    Col("pairs", "Pairs", "count", help="These pairs (n)."),
)


def agreement_words(row: votes.Agreement) -> str:
    """One row in a line: what agrees how often, how sure that is, and on how much it rests."""
    if row.raw is None:
        return "not known yet"
    write = FORMATS["rate"].write
    sure = "no interval" if row.raw_low is None else f"95% interval {write(row.raw_low)} to {write(row.raw_high)}"
    return f"{write(row.raw)} ({sure}), n = {row.n:,}"


def explanation(row: votes.Agreement) -> str:
    """What a row is of, and why it cannot be relied on where that is so."""
    where = "all languages with enough votes" if row.language == "all" else name_of(row.language)
    people = counted(row.voters, "person")
    sentence = f"{counted(row.n, 'vote')} of {people} on {counted(row.queries, 'query')} drawn at random, {where}."
    if not row.enough:
        sentence += f" Too few to rely on: it takes {votes.ENOUGH} queries."
    return f"{sentence} {row.reason[:1].upper()}{row.reason[1:]}." if row.reason else sentence


def voted_languages(counts: Mapping[str, int]) -> str:
    """Which languages have random votes, how many, and which have none.

    Args:
        counts: random votes by the codes of the languages shown (`mirage.explorer.judges.agreement.voted`).
    """
    have = [f"{name_of(code)} {n:,}" for code, n in counts.items() if n]
    none = [name_of(code) for code, n in counts.items() if not n]
    if not have:
        return "No votes on randomly drawn battles yet. A vote takes one key."
    words = f"Random votes: {', '.join(have)}."
    if none:
        words += f" No votes in {len(none)} of {len(counts)} languages"
        words += f": {', '.join(none)}." if len(none) <= MANY else "."
    return words


def agreement_badge(row: votes.Agreement, *, where: bool = False) -> None:
    """Show one row in a line, with what it rests on one hover away.

    Args:
        row: the row.
        where: whether the line names the row's language.
    """
    subject = "People agree with each other" if row.referee == votes.PEOPLE else f"People agree with {row.referee}"
    if where and row.language != "all":
        subject += f" in {name_of(row.language)}"
    color = "green" if row.enough else "gray"
    st.html(badge_html(f"{subject}: {agreement_words(row)}", color, explanation(row)))


def of_judge(page: Page, judge: str, languages: Sequence[str]) -> None:
    """Show how far people agree with a judge in the languages shown; nothing where nobody can vote.

    Args:
        page: the page; its arena has judgments.
        judge: the judge that is shown.
        languages: codes that are shown.
    """
    try:
        rows = {row.language: row for row in people.agreement_at(page.arena) if row.referee == judge}
    except MirageError as error:
        st.caption(plain(f"People's votes cannot be read now: {error.what}."))
        return
    codes = [code for code in rows if code in languages]
    if codes:
        agreement_badge(rows["all"] if len(codes) > 1 else rows[codes[0]])
    elif "answers" in page.arena.tables:
        about = "Nobody has voted on a battle drawn at random; see Spot check."
        st.html(badge_html("People: no votes yet", "gray", about))


def show_citations(page: Page, languages: Sequence[str]) -> None:
    """Show how people see the citations; nothing where nobody has voted on one.

    Args:
        page: the page.
        languages: codes that are shown.
    """
    try:
        rows = [row for row in people.citations_at(page.arena) if row.language in languages]
    except MirageError as error:
        st.caption(plain(f"People's votes cannot be read now: {error.what}."))
        return
    if not rows:
        return
    st.header("Do the citations support what is said? By people", anchor=False)
    table(from_rows(votes.CitationSupport, rows), _CITED, key="citations_supported")
    few = in_order(row.language for row in rows if row.system == votes.EVERYBODY and not row.enough)
    few_names = listed([name_of(code) for code in few], "language")
    st.caption(
        plain(
            "Votes on the Spot check page, on answers drawn at random; several people on one citation count as what "
            "most of them say." + (f" Too few answers to rely on yet: {few_names}." if few else "")
        )
    )


def overriding(page: Page) -> tuple[str, int] | None:
    """Let people's votes stand in for a judge's verdicts on the same battles, where there are votes.

    Returns:
        The version of the votes that do (`people.version`); None where they do not.
    """
    try:
        if not people.log(page.arena):
            return None
        version = people.version()
    except MirageError:
        return None  # the badge says so
    choice = pick(
        "Votes",
        ("beside", "override"),
        key="votes",
        kind="use of people's votes",
        segments=True,
        help="beside: people's votes only check the judge. override: they replace its verdicts on the same battles; "
        "what most people say counts, as one verdict.",
    )
    return version if choice == "override" else None


def show_corrected(page: Page, judge: str, languages: Sequence[str]) -> None:
    """Show a judge's ranking corrected by people beside the uncorrected one; nothing where nobody has voted.

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
        st.header("Corrected by people's votes", anchor=False)
        code = codes[0]
        if len(codes) > 1:
            words = "the mean over the languages with enough votes, each weighing the same."
            code = pick_language("Corrected in", codes, key="corrected", help=words, width=120)
        result = people.corrected_at(page.arena, judge, tuple(codes) if code == "all" else (code,))
    except MirageError:
        return
    if isinstance(result, NotEnoughData):
        st.caption(
            plain(f"Not yet. {result.where[:1].upper()}{result.where[1:]}. {result.do[:1].upper()}{result.do[1:]}.")
        )
    elif isinstance(result, MirageError):
        refuse(result)
    elif result is not None:
        _ranking(result)


def _ranking(ranking: CorrectionResult) -> None:
    """The ranking of all languages together, or of the only one."""
    code = "all" if "all" in ranking.languages else next(iter(ranking.languages))
    correction = ranking.languages[code]
    ratings = ranking.table().filter(pc.field("language") == code)
    names = listed([name_of(name) for name in correction.languages or (code,)], "language")
    refusals = [f"Not in it: {error.what}." for error in ranking.refused.values()]
    left, right = st.columns([13, 8], gap="small")
    with left:
        table(ratings, _OF, key="corrected_ratings")
        st.caption(plain(" ".join([f"{names}. {correction.method}.", *refusals])))
    with right:
        chart(
            charts.correction_figure(ratings.to_pylist(), mode=mode()),
            key="corrected_chart",
            alt="Rating of every system by the judge corrected by people, and by the judge alone, with 95% intervals.",
        )
