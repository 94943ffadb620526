"""Page Judges: agreement of each judge with people, other judges and itself."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import streamlit as st

from mirage.battles.judge import judge_facts
from mirage.battles.verdict_rows import OF_PROGRAMS
from mirage.errors import MirageError
from mirage.explorer.judges import charts
from mirage.explorer.kit import votes as people
from mirage.explorer.kit.chart import chart
from mirage.explorer.kit.frame import Page, link_row, none_selected, show, show_page_link
from mirage.explorer.kit.pick import pick, pick_many, pickers_popover
from mirage.explorer.kit.scores_section import scores_section
from mirage.explorer.kit.states import first_time
from mirage.explorer.kit.table import Col, band, column, mode, table
from mirage.explorer.kit.text import note, plain
from mirage.people.exam import Measure
from mirage.schema import OVERALL, PEOPLE
from mirage.stages.judge.passport import PassportRow
from mirage.text.languages import in_language, name_of
from mirage.text.segmentation import count_text
from mirage.views import exam as views
from mirage.views.exam import ExamChoice, ExamView

PAIRS = "pairs"
"""The figure of pairwise agreement in the URL, besides the names of measures."""
FIRST = ("agree", "known", "kappa", "flip", "first", "length")
"""Measures in the table by default: the first `MOST` of these with values."""
MOST = 5
"""Number of measures in the table by default."""
EXAMPLE = "sample"
"""A bundled arena with known answers."""


def main(page: Page) -> None:
    """Show how reliable the arena's judges are."""
    if "judgments" in page.arena.tables or "scores" not in page.arena.tables:
        _judges(page)
    else:
        page.summary("No judge verdicts yet; scores that came with the data are below.")
    scores_section(page)


def _deciders(view: ExamView) -> str:
    """Count the judges, and name the people among the deciders."""
    judges = count_text(len(view.judges), "judge")
    return f"{judges} and human annotators ({', '.join(view.annotators)})" if view.annotators else judges


def _judges(page: Page) -> None:
    """Show every measure of the judges, and their pairwise agreement."""
    page.need("judgments")
    have = page.arena.languages("judgments")
    codes = page.languages("judgments")
    if not codes:
        none_selected(page, "verdicts")
        return
    choice = ExamChoice(codes if len(codes) < len(have) else ())
    votes, told = views.NO_VOTES, True
    with first_time("Measuring the judges ...", page.arena):
        try:
            votes = people.votes_at(page.arena)
        except MirageError as error:
            st.caption(plain(f"People's votes are unavailable: {error.what}. {error.do}."))
            told = False
        view = views.exam_view(page.arena, choice, votes)
    verdicts, languages = count_text(page.arena.rows("judgments"), "verdict"), count_text(len(have), "language")
    if choice.languages:
        verdicts, languages = f"{view.n:,} of {verdicts}", f"{len(codes)} of {languages}"
    page.summary(f"{verdicts}, {_deciders(view)}, {languages}.", conclusion=view.conclusion)
    above, below = st.container(), st.container()
    with below:
        if all(row.measures[name].value is None for row in view.rows for name in views.TRUST if name in row.measures):
            _nothing_known(page, view)
        name, columns = _pick_figure(view)
    if views.LENGTH in (name, *columns) and not view.fitted:
        with above, first_time("Fitting the length slopes ...", page.arena):
            choice = replace(choice, lengths=True)
            view = views.exam_view(page.arena, choice, votes)
    with above:
        _table(page, view, columns, " ".join(view.remarks) if told else "")
    with below:
        if name == PAIRS:
            _pairs(views.pairs_view(page.arena, choice, votes), view.where)
        elif name is not None:
            _figure(view, next(measure for measure in view.measures if measure.name == name))
        passport_section(page, view)
    page.download(
        "judges",
        view.exam_table if view.exams else view.table,
        about={"languages": [*codes, "all"], "measures": {m.name: m.meaning for m in view.measures}},
    )


def _table(page: Page, view: ExamView, columns: Sequence[str], voted: str) -> None:
    """Show a row per judge and a column per measure."""
    rows = [row for row in view.rows if row.language == view.scope]
    if not rows:
        note(f"Not enough data for a mean in any language. {voted}")
        return
    prices = st.session_state.get("price_in"), st.session_state.get("price_out")
    facts = judge_facts(page.arena)
    of_row = [facts.get(row.judge) for row in rows]
    lines = view.table().filter(pc.field("language") == view.scope)
    more = {
        "criterion": [about and about.criterion for about in of_row],
        "repeats": [about and about.repeats for about in of_row],
        "cost": pa.array([row.cost(*prices) for row in rows], pa.float64()),
    }
    for name, values in more.items():
        lines = lines.append_column(name, pa.array(values))
    cols = [Col("judge", "Judge", "system", "Judge; people: agreement among people, for comparison.")]
    if any(about is not None and about.criterion != OVERALL for about in of_row):
        cols.append(Col("criterion", "Criterion", "text", "Criterion of the judge; overall: the better answer."))
    if any(about is not None and about.repeats > 1 for about in of_row):
        cols.append(Col("repeats", "Repeats", "count", "Maximum verdicts on one battle in one order."))
    measures = [measure for name in columns for measure in view.measures if measure.name == name]
    for measure in measures:
        # One judge alone would fill the whole scale.
        ends = (0.0, 1.0) if measure.written == "rate" and len(rows) == 1 else None
        fair = measure.fair or 0.0
        cols.append(band(measure.name, measure.title, measure.meaning, measure.written, zero=fair, ends=ends))
    cols.append(Col("n", "n", "count", "Verdicts; for people, battles decided by at least two people."))
    if lines["cost"].null_count < len(lines):
        what = "battles in agreement with people" if "agree" in rows[0].measures else "verdicts"
        cols.append(Col("cost", "Cost per 1,000", "mean", f"Cost per 1,000 {what} at the prices entered."))
    picked = table(lines, cols, key="judges", select=True)
    if picked is not None:
        _show_links((rows[picked].judge, view.scope))
    where = f"Mean {view.where}, weighted equally" if view.scope == "all" else name_of(view.scope)
    unsure = [
        f"{measure.title}, {row.judge}: {mark.reason}"
        for measure in measures
        for row in rows
        if (mark := row.measures[measure.name]).value is not None and mark.low is None and mark.reason
    ]
    none = f"No interval: {'; '.join(unsure)}. " if unsure else ""
    note(f"{where}. {none}Click a judge to read its battles. {voted}")


def _options(view: ExamView, known: Mapping[str, Measure]) -> list[str]:
    """Pick the measures in the table, and ask for token prices, kept while the panel is closed."""
    valued = [name for name in known if any(row.measures[name].value is not None for row in view.rows)]
    order = (view.lead, *FIRST)
    first = sorted(valued, key=lambda name: order.index(name) if name in order else len(order))[:MOST]
    with pickers_popover(
        "Options", ("judge_columns",), "Columns of the table, and prices for the cost per 1,000 verdicts."
    ):
        chosen = pick_many(
            "Columns",
            tuple(known),
            key="judge_columns",
            kind="measure",
            named=lambda name: known[name].title,
            placeholder=f"{len(first)} of {len(known)} measures",
        )
        for kind, key in (("input", "price_in"), ("output", "price_out")):
            st.number_input(
                f"Price per million {kind} tokens",
                min_value=0.0,
                value=None,
                placeholder="unknown",
                key=key,
                persist_state="session",
            )
        note(" ".join(f"Not shown: {', '.join(titles)} ({reason})." for reason, titles in view.missing.items()))
    return chosen or first


def _pick_figure(view: ExamView) -> tuple[str | None, list[str]]:
    """Draw the row above the figure; return the figure's choice, None if there is nothing to show, and the measures in
    the table.
    """
    known = {
        measure.name: measure
        for measure in view.measures
        if (measure.name == views.LENGTH and not view.fitted)
        or any(row.measures[measure.name].value is not None for row in view.rows)
    }
    # In a single language a figure by language would repeat the table.
    options = list(known) if len(view.languages) > 1 else []
    options += [PAIRS] if len({row.judge for row in view.rows}) > 1 else []
    name = None
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        if options:
            name = pick(
                "Figure",
                options,
                key="measure",
                kind="figure",
                default=view.lead if view.lead in options else options[0],
                named=lambda name: "Pairwise agreement" if name == PAIRS else known[name].title,
                width=240,
            )
        columns = _options(view, known)
        show_page_link("spot_check", "Vote yourself")
    return name, columns


def _nothing_known(page: Page, view: ExamView) -> None:
    """Show how to find out whether to trust these judges; scores decide no further pairs."""
    with st.container(border=True):
        st.markdown("**These judges have not been validated.**")
        st.caption("Agreement with people needs votes: vote on Spot check, or import verdicts by people.")
        if view.judges and all(name.startswith(OF_PROGRAMS) for name in view.judges):
            return
        st.caption("Known-answer pairs need no people, only relevance labels (table outcomes).")
        if command := page.arena.fill("mirage judge DIR --judge NAME --model MODEL --known --pairs 100"):
            st.code(command, language=None)
        if page.arena.name != EXAMPLE:
            st.caption(f"The arena {EXAMPLE} has a judge with known answers.")


def _show_links(clicked: Any) -> None:
    """Link from a judge in a language to its battles and its ranking."""
    if not clicked or clicked[0] == PEOPLE:
        return
    judge, code = clicked
    languages = () if code == "all" else (code,)
    with link_row(judge, f" {'in all languages' if code == 'all' else in_language(code)}"):
        show_page_link("battle", "Read its battles", languages=languages, judge=judge)
        show_page_link("leaderboard", "Show its ranking", languages=languages, judge=judge)


def _pairs(pairs: Sequence[views.JudgePair], where: str) -> None:
    """Show pairwise agreement."""
    if not pairs:
        st.caption("No battle was decided by two judges.")
        return
    note(f"Pairwise agreement: share of battles with the same decision (%), {where}.")
    chart(
        charts.agreement_matrix(pairs),
        key="pairs",
        alt="Pairwise agreement of judges and people as a heatmap.",
        wide=True,
    )


def _figure(view: ExamView, measure: Measure) -> None:
    """Show one measure by language."""
    marks = [row.measures[measure.name] for row in view.rows if row.language in view.languages]
    hollow = any(mark.value is not None and mark.low is None for mark in marks)
    unsure = " Hollow: no interval, too few queries." if hollow else ""
    note(f"{measure.meaning.partition(': ')[0].rstrip('.')}.{unsure}")
    if all(mark.value is None for mark in marks):
        st.caption(plain(next((mark.reason for mark in marks if mark.reason), "not measured")))
        return
    clicked = chart(
        charts.measure_figure(view, measure, mode()),
        key=f"by_language_{measure.name}",
        alt=f"{measure.title} of every judge in every language with 95% intervals.",
        select=True,
    )
    _show_links(clicked)


def passport_section(page: Page, view: ExamView) -> None:
    """Show the passport of a judge, if the arena has planted faults."""
    judges = views.passport_judges(page.arena)
    if not judges:
        return
    st.header("Passport", anchor=False)
    about = "Judges tested on answers paired with faulty copies (mirage judge passport DIR --judge NAME)."
    judge = pick("Judge", judges, key="passport", width=280, help=about)
    try:
        passport = views.passport_view(page.arena, judge)
    except MirageError:
        st.caption("This judge has no verdicts on planted faults in both orders.")
        return
    known = {row.language for row in passport}
    language = view.scope if view.scope in known.intersection(view.languages) else "all"
    where = count_text(len(known - {"all"}), "language") if language == "all" else name_of(language)
    rows = [asdict(row) for row in passport if row.language == language]
    for row in rows:
        row |= {"detected_low": row["low"], "detected_high": row["high"]}
        row["fault"] = row["fault"].replace("-", " ").capitalize()
    note(
        f"Detected: share of items in which the original beats its faulty copy ({sum(row['n'] for row in rows):,} "
        f"items, {where}). Chance level: 50%."
    )
    about = "Original wins in both orders; a split or a tie counts half."
    columns = [
        Col("fault", "Fault", "text"),
        band("detected", "Detected", about, zero=0.5, ends=(0.0, 1.0)),
        column(PassportRow, "n"),
        column(PassportRow, "unread"),
        column(PassportRow, "unmade", "No item"),
    ]
    table(pa.Table.from_pylist(rows), columns, key="passport_table")
    reasons = [f"{row['fault']}: {row['reason']}" for row in rows if row["reason"]]
    if reasons:
        with st.expander("Missing items and intervals"):
            st.markdown("\n".join(f"- {plain(reason)}." for reason in reasons))


show("judges", main)
