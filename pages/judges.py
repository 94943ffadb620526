"""Page Judges: agreement of each judge with people, other judges and itself."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import streamlit as st

from mirage.battles.judge import judge_facts
from mirage.errors import MirageError
from mirage.explorer.judges import agreement as agreements
from mirage.explorer.judges import chart as charts
from mirage.explorer.judges import data as views
from mirage.explorer.judges import exam as exams
from mirage.explorer.judges.passport import passport_section
from mirage.explorer.kit import agreement
from mirage.explorer.kit import votes as people
from mirage.explorer.kit.chart import chart
from mirage.explorer.kit.columns import Col
from mirage.explorer.kit.frame import Page, onward, show
from mirage.explorer.kit.pick import pick
from mirage.explorer.kit.scores_section import scores_section
from mirage.explorer.kit.side_by_side import side_by_side
from mirage.explorer.kit.states import first_time
from mirage.explorer.kit.table import mode, table
from mirage.explorer.kit.text import note, plain
from mirage.people import votes
from mirage.people.exam import ExamResult
from mirage.schema import OVERALL
from mirage.text.languages import in_order, name_of
from mirage.text.segmentation import count_text, join_or_count

PAIRS = "pairs"
"""The heatmap's name in the URL, besides the names of measures."""
TRUST = "trust"
"""The name of the figure that says whether to trust a judge: agreement with people, and known answers."""


CHANCE = {"known": 0.5}
"""Values that chance gives."""
TRUSTED = {
    "agree": "Agrees: share of people's votes with the same decision; people: their agreement with each other.",
    "known": "Known answers: share of pairs in which the judge prefers the correct decision; dotted: chance.",
}
"""What the figure shows, by measure."""
EXAMPLE = "sample"
"""A bundled arena with known answers."""


def main(page: Page) -> None:
    """Show how the judges of the arena judged."""
    if "judgments" in page.arena.tables or "scores" not in page.arena.tables:
        _judges(page)
    else:
        page.summary("No judge verdicts yet; scores that came with the data are below.")
    scores_section(page)


def _deciders(page: Page, names: list[str]) -> str:
    """Count the judges, and name the people among the deciders."""
    people = views.people(page.arena)
    judges = count_text(len(set(names) - people), "judge")
    return f"{judges} and human annotators ({', '.join(sorted(people))})" if people else judges


def _judges(page: Page) -> None:
    """Every measure of the judges, and who agrees with whom."""
    page.need("judgments")
    result = None
    with first_time("Measuring the judges ...", page.arena):
        try:
            result = exams.exam_at(page.arena)
        except MirageError as error:
            st.caption(plain(f"People's votes are unavailable: {error.what}. {error.do}."))
        # Slopes of many verdicts take seconds: they are fitted once they are asked for.
        fitted = not views.has_lengths(page.arena) or page.arena.rows("judgments") <= views.FEW
        everything = views.judge_rows(page.arena, slopes=fitted)
        rows = exams.rows_of(page.arena, result, slopes=fitted)
    alone = everything.to_pylist()
    judges = list(dict.fromkeys(row["judge"] for row in alone))
    have = in_order(row["language"] for row in alone if row["language"] != "all")
    codes = [code for code in have if not page.picked or code in page.picked]
    if not codes:
        page.summary("No verdicts in the selected languages.")
        st.info("Choose other languages in the sidebar, or clear the selection.")
        return
    n, total = (sum(row["n"] for row in alone if row["language"] in part) for part in (set(codes), set(have)))
    scope = codes[0] if len(codes) == 1 else "all" if len(codes) == len(have) else ""
    page.summary(
        f"{n:,} of {total:,} verdicts, {_deciders(page, judges)}, {len(codes)} of {count_text(len(have), 'language')}.",
        conclusion=_best(
            [row for row in rows if row["judge"] != votes.PEOPLE],
            scope,
            "agree",
            "agrees with people in {} of votes",
            ("highest", "higher"),
        )
        or _best(rows, scope, "known", "prefers the correct decision in {} of known pairs", ("highest", "higher"))
        or _best(
            [row for row in alone if row["judge"] not in views.people(page.arena)],
            scope,
            "flip",
            "flips its verdict with the answer order in {} of pairs",
            ("lowest", "lower"),
        ),
    )
    measures = exams.measures_of(result)
    above, below = st.container(), st.container()
    with below:
        in_scope = exams.rows_in(rows, languages=[*(["all"] if scope == "all" else []), *codes])
        trusted = [name for name in exams.TRUST if any(row.get(name) is not None for row in in_scope)]
        if not trusted:
            _nothing_known(page)
        name = _pick_figure(
            measures, exams.rows_in(rows, languages=codes), codes, fitted or exams.has_people(result), trusted
        )
    if name == views.LENGTH and not fitted and not exams.has_people(result):
        with above, first_time("Fitting the length slopes ...", page.arena):
            everything = views.judge_rows(page.arena)
            rows = exams.rows_of(page.arena, result)
    with above:
        _means(page, rows, measures, codes, scope)
    with below:
        if name == TRUST:
            _trust(in_scope, trusted, measures)
        else:
            _figure(page, exams.rows_in(rows, languages=codes), result, codes, scope, name)
        passport_section(page, codes, scope)
    page.download(
        "judges",
        result.table() if result is not None else everything,
        about={"languages": [*codes, "all"], "measures": {m.name: m.meaning for m in measures.values()}},
    )


def _means(
    page: Page,
    rows: list[dict[str, Any]],
    measures: Mapping[str, views.JudgeMeasure],
    codes: list[str],
    scope: str,
) -> None:
    """Show the table of the selected languages, if they have a common mean."""
    if scope:
        _table(page, exams.rows_in(rows, languages=(scope,)), measures, scope, _people(page, codes))
    else:
        note("The table needs one language or all of them: choose one, or clear the selection. " + _people(page, codes))


def _best(rows: list[dict[str, Any]], scope: str, measure: str, words: str, degrees: tuple[str, str]) -> str:
    """Return the best judge by a measure, and whether its interval overlaps with others; empty without a value.

    Args:
        rows: rows of the judges.
        scope: a language's code, or `all`.
        measure: the measure.
        words: verb phrase with a place for the value.
        degrees: superlative and comparative of the measure.
    """
    known = [row for row in rows if row["language"] == scope and row.get(measure) is not None]
    if not known:
        return ""
    best = (max if degrees[0] == "highest" else min)(known, key=lambda row: row[measure])
    ends = {row["judge"]: (row[f"{measure}_low"], row[f"{measure}_high"]) for row in known}
    low, high = ends.pop(best["judge"])
    alike = [name for name, (a, b) in sorted(ends.items()) if None in (low, high, a, b) or (low <= b and a <= high)]
    lead = f"significantly {degrees[0]} of {count_text(len(known), 'judge')}."
    if alike:
        lead = f"{degrees[0]} of {count_text(len(known), 'judge')}, but not significantly {degrees[1]} than "
        lead += f"{join_or_count(alike, 'judge')}."
    where = "Over all languages" if scope == "all" else f"In {name_of(scope)}"
    interval = "no interval" if None in (low, high) else f"95% CI {low:.1%} to {high:.1%}"
    return (
        f"{where} {best['judge']} {words.format(f'{best[measure]:.1%}')} ({interval}, n = {best[f'{measure}_n']:,})"
        + (f": {lead}" if ends else "." if measure == "agree" else ". Agreement with people is unknown without votes.")
    )


def _people(page: Page, codes: list[str]) -> str:
    """Describe the votes by language; empty if no votes are possible."""
    with suppress(MirageError):
        log = people.log(page.arena)
        if "answers" in page.arena.tables or log:
            return " ".join(
                [agreement.voted_languages(agreements.votes_by_language(log, codes)), *people.left_out(page.arena)]
            )
    return ""


def _table(
    page: Page,
    rows: list[dict[str, Any]],
    measures: Mapping[str, views.JudgeMeasure],
    scope: str,
    voted: str,
) -> None:
    """One row a judge, one column a measure."""
    if not rows:
        note(f"Not enough data for a mean in any language. {voted}")
        return
    prices = st.session_state.get("price_in"), st.session_state.get("price_out")
    shown = [measure for measure in measures.values() if any(row[measure.name] is not None for row in rows)]
    facts = judge_facts(page.arena)
    of_row = [facts.get(row["judge"]) for row in rows]
    lines = exams.with_costs(
        [
            row | {"criterion": about and about.criterion, "repeats": about and about.repeats}
            for row, about in zip(rows, of_row, strict=True)
        ],
        prices=prices,
    )
    columns = [
        Col("judge", "Judge", "system", help="Judge; people: agreement among people, for comparison."),
        *(
            [Col("criterion", "Criterion", "text", help="Criterion of the judge; overall: the better answer.")]
            if any(about is not None and about.criterion != OVERALL for about in of_row)
            else []
        ),
        *(
            [Col("repeats", "Repeats", "count", help="Maximum verdicts on one battle in one order.")]
            if any(about is not None and about.repeats > 1 for about in of_row)
            else []
        ),
        *(
            Col(
                measure.name,
                measure.title,
                "interval",
                help=f"{measure.meaning} Band: 95% interval.",
                low=f"{measure.name}_low",
                high=f"{measure.name}_high",
                zero=measure.fair or 0.0,
                # One judge alone would fill the whole scale.
                ends=(0.0, 1.0) if _is_share(measure) and len(rows) == 1 else None,
                width=128,
                written="rate" if _is_share(measure) else "rating",
            )
            for measure in shown
        ),
        Col("n", "n", "count", help="Verdicts; for people, battles decided by at least two people."),
    ]
    beside = "agree" in measures
    if lines["cost"].null_count < len(lines):
        what = "battles in agreement with people" if beside else "verdicts"
        columns.append(Col("cost", "Cost per 1,000", "mean", help=f"Cost per 1,000 {what} at the prices entered."))
    table(lines, columns, key="judges")
    where = "all languages, weighted equally" if scope == "all" else name_of(scope)
    note(
        f"Mean over {where}. "
        + (
            f"Agreement with people on the same battles, clustered by query; intervals need {votes.LEAST} queries. "
            if beside
            else ""
        )
        + f"{_missing(rows, measures)} {voted}"
    )


def _is_share(measure: views.JudgeMeasure) -> bool:
    """Return whether a measure is a share."""
    return measure.unit == "rate" and measure.name not in ("kappa", "tau_b")


def _missing(rows: list[dict[str, Any]], measures: Mapping[str, views.JudgeMeasure]) -> str:
    """Why columns are not there."""
    reasons: dict[str, list[str]] = {}
    for measure in measures.values():
        if all(row[measure.name] is None for row in rows):
            reason = next((row[f"{measure.name}_reason"] for row in rows if row[f"{measure.name}_reason"]), "")
            reasons.setdefault(reason or "not measured", []).append(measure.title)
    return " ".join(f"Not shown: {', '.join(titles)} ({reason})." for reason, titles in reasons.items())


def _prices() -> None:
    """Ask for token prices, kept while the panel is closed."""
    panel = st.popover("Prices", help="For the cost per 1,000 verdicts.", key="prices", on_change="rerun")
    if panel.open:
        with panel:
            for kind, key in (("prompt", "price_in"), ("reply", "price_out")):
                st.number_input(
                    f"Price per million {kind} tokens",
                    min_value=0.0,
                    value=None,
                    placeholder="unknown",
                    key=key,
                    persist_state="session",
                )


def _pick_figure(
    measures: Mapping[str, views.JudgeMeasure],
    rows: list[dict[str, Any]],
    codes: list[str],
    fitted: bool,
    trusted: list[str],
) -> str | None:
    """Draw the row above the figure and return the figure's choice; None if there is nothing to show.

    Args:
        measures: the measures of the page.
        rows: their values.
        codes: the languages.
        fitted: the length slopes are among the values, if they can be fitted at all.
        trusted: measures that say whether to trust a judge, if any has a value; their figure is then the default.
    """
    known = [
        name for name in measures if (name == views.LENGTH and not fitted) or any(row[name] is not None for row in rows)
    ]
    several = len({row["judge"] for row in rows}) > 1
    options = [*([TRUST] if trusted else []), *([PAIRS] if several else []), *known]
    name = None
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        if options:
            name = pick(
                "Figure",
                options,
                key="measure",
                default=TRUST if trusted else known[0] if known and len(codes) > 1 else options[0],
                width=200,
                help=f"{TRUST}: agreement with people and known answers.  {PAIRS}: pairwise agreement.  "
                + " ".join(f"{measure.name}: {measure.meaning}" for measure in measures.values()),
            )
        _prices()
        onward("spot_check", "Vote yourself")
    return name


def _nothing_known(page: Page) -> None:
    """Say what would tell whether to trust these judges."""
    with st.container(border=True):
        st.markdown("**These judges have not been validated.**")
        st.caption(
            "Agreement with people needs votes: vote on Spot check, or import verdicts by people. Known-answer pairs "
            "need no people, only relevance labels (table outcomes):"
        )
        st.code(f"mirage judge {page.arena.path} --judge NAME --model MODEL --known --pairs 100", language=None)
        if page.arena.name != EXAMPLE:
            st.caption(f"The arena {EXAMPLE} has a judge with known answers.")


def _trust(rows: list[dict[str, Any]], trusted: list[str], measures: Mapping[str, views.JudgeMeasure]) -> None:
    """Show agreement with people and known answers side by side, by language."""
    note(" ".join([*(TRUSTED[name] for name in trusted), "Languages without a value are left out."]))
    clicked = None
    for name, place in zip(trusted, side_by_side(*[(400, 1)] * len(trusted), key="trust"), strict=True):
        known = [row for row in rows if row[name] is not None]
        codes = {row["language"] for row in known}
        with place:
            chosen = chart(
                charts.judge_figure(
                    known,
                    measure=name,
                    judges=list(dict.fromkeys(row["judge"] for row in known)),
                    languages=[*(["all"] if "all" in codes else []), *in_order(codes - {"all"})],
                    title=measures[name].title,
                    unit=measures[name].unit,
                    fair=CHANCE.get(name),
                    mode=mode(),
                ),
                key=f"trust_{name}",
                alt=f"{measures[name].title} of every judge with 95% intervals, by language.",
                select=True,
            )
        clicked = chosen or clicked
    _onward(clicked)


def _onward(clicked: Any) -> None:
    """Link from a judge in a language to its battles and its ranking."""
    if not clicked or clicked[0] == votes.PEOPLE:
        return
    judge, code = clicked
    languages = () if code == "all" else (code,)
    with st.container(horizontal=True, gap="medium", vertical_alignment="center"):
        where = "all languages" if code == "all" else name_of(code)
        st.markdown(f"**{plain(judge)}** in {where}", width="content")
        onward("battle", "Read its battles", languages=languages, judge=judge)
        onward("leaderboard", "Show its ranking", languages=languages, judge=judge)


def _figure(
    page: Page,
    rows: list[dict[str, Any]],
    result: ExamResult | None,
    codes: list[str],
    scope: str,
    name: str | None,
) -> None:
    """Show pairwise agreement, or one measure by language."""
    measures = exams.measures_of(result)
    if name is None:
        return
    if name == PAIRS:
        compared = _pairs(page, result, codes, scope)
        if not compared:
            st.caption("No battle was decided by two judges.")
            return
        where = "all languages" if scope == "all" else name_of(scope or codes[0])
        note(f"Pairwise agreement: share of battles with the same decision (%), {where}.")
        chart(
            charts.agreement_matrix(compared, mode=mode()),
            key="pairs",
            alt="Pairwise agreement of judges and people as a heatmap.",
            wide=True,
        )
        return
    measure = measures[name]
    note(measure.meaning)
    judges = list(dict.fromkeys(row["judge"] for row in rows if row[name] is not None))
    if not judges:
        st.caption(plain(next((row[f"{name}_reason"] for row in rows if row[f"{name}_reason"]), "not measured")))
        return
    clicked = chart(
        charts.judge_figure(
            rows,
            measure=name,
            judges=judges,
            languages=codes,
            title=measure.title,
            unit=measure.unit,
            fair=measure.fair,
            mode=mode(),
        ),
        key=f"by_language_{name}",
        alt=f"{measure.title} of every judge in every language with 95% intervals.",
        select=True,
    )
    _onward(clicked)


def _pairs(page: Page, result: ExamResult | None, codes: list[str], scope: str) -> list[dict[str, Any]]:
    """Return pairwise agreement over all languages if both judged several, else in one."""
    rows = agreements.agreement_rows(page.arena, (), [*codes, "all"]).to_pylist()
    for language in (*codes, "all"):
        rows += [row | {"language": language} for row in exams.people_pairs(result, language)]
    pairs: dict[tuple[str, str], dict[str, Any]] = {}
    for row in rows:
        if row["language"] == (scope or codes[0]) or (scope == "all" and (row["one"], row["judge"]) not in pairs):
            pairs[row["one"], row["judge"]] = row
    return [row for row in pairs.values() if row["raw"] is not None]


show("judges", main)
