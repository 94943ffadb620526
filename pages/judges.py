"""Page Judges: agreement of each judge with people, other judges and itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from typing import Any

import pyarrow as pa
import streamlit as st

from mirage.battles.judge import judge_facts, people_judges
from mirage.errors import MirageError
from mirage.explorer.judges import charts
from mirage.explorer.judges import data as views
from mirage.explorer.kit import agreement
from mirage.explorer.kit import votes as people
from mirage.explorer.kit.chart import chart
from mirage.explorer.kit.frame import Page, onward, show
from mirage.explorer.kit.pick import pick, pick_many, pickers_popover
from mirage.explorer.kit.scores_section import scores_section
from mirage.explorer.kit.states import first_time
from mirage.explorer.kit.table import Col, band, mode, table
from mirage.explorer.kit.text import note, plain
from mirage.people.exam import ExamResult
from mirage.publish.charts.palette import Kind
from mirage.schema import OVERALL, PEOPLE
from mirage.stages.judge.passport import judges_of
from mirage.text.languages import in_order, name_of
from mirage.text.segmentation import count_text, join_or_count

PAIRS = "pairs"
"""The figure of pairwise agreement in the URL, besides the names of measures."""
FIRST = ("agree", "known", "kappa", "flip", "first", "length")
"""Measures in the table at first, as far as `MOST` of them have values."""
MOST = 5
"""Measures in the table at first."""
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
    people = people_judges(page.arena)
    judges = count_text(len(set(names) - people), "judge")
    return f"{judges} and human annotators ({', '.join(sorted(people))})" if people else judges


def _judges(page: Page) -> None:
    """Every measure of the judges, and who agrees with whom."""
    page.need("judgments")
    result = None
    with first_time("Measuring the judges ...", page.arena):
        try:
            result = views.exam_at(page.arena)
        except MirageError as error:
            st.caption(plain(f"People's votes are unavailable: {error.what}. {error.do}."))
        # Slopes of many verdicts take seconds: they are fitted once they are asked for.
        fitted = "features" not in page.arena.tables or page.arena.rows("judgments") <= views.FEW
        everything = views.judge_rows(page.arena, slopes=fitted)
        rows = views.rows_of(page.arena, result, slopes=fitted)
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
    verdicts, languages = count_text(total, "verdict"), count_text(len(have), "language")
    if len(codes) < len(have):
        verdicts, languages = f"{n:,} of {verdicts}", f"{len(codes)} of {languages}"
    page.summary(
        f"{verdicts}, {_deciders(page, judges)}, {languages}.",
        conclusion=_best(
            [row for row in rows if row["judge"] != PEOPLE], scope, "agree", "agrees with people in {} of votes"
        )
        or _best(rows, scope, "known", "prefers the correct decision in {} of known pairs")
        or _best(
            [row for row in alone if row["judge"] not in people_judges(page.arena)],
            scope,
            "flip",
            "flips its verdict with the answer order in {} of pairs",
        ),
    )
    measures = views.measures_of(result)
    above, below = st.container(), st.container()
    with below:
        in_scope = views.rows_in(rows, languages=codes)
        if all(row.get(name) is None for row in in_scope for name in views.TRUST):
            _nothing_known(page)
        name, columns = _pick_figure(measures, in_scope, codes, fitted)
    if views.LENGTH in (name, *columns) and not fitted:
        with above, first_time("Fitting the length slopes ...", page.arena):
            fitted = True
            everything = views.judge_rows(page.arena, slopes=fitted)
            rows = views.rows_of(page.arena, result, slopes=fitted)
    with above:
        _means(page, rows, [measures[column] for column in columns], codes, scope)
    with below:
        _figure(page, views.rows_in(rows, languages=codes), result, fitted, codes, scope, name)
        passport_section(page, codes, scope)
    page.download(
        "judges",
        (lambda: everything) if result is None else result.table,
        about={"languages": [*codes, "all"], "measures": {m.name: m.meaning for m in measures.values()}},
    )


def _means(
    page: Page, rows: list[dict[str, Any]], measures: Sequence[views.JudgeMeasure], codes: list[str], scope: str
) -> None:
    """Show the table of the selected languages, if they have a common mean."""
    if scope:
        _table(page, views.rows_in(rows, languages=(scope,)), measures, scope, _people(page, codes))
    else:
        note("The table needs one language or all of them: choose one, or clear the selection. " + _people(page, codes))


def _best(rows: list[dict[str, Any]], scope: str, measure: str, words: str) -> str:
    """Return the best judge by a measure, and whether its interval overlaps with others; empty without a value.

    Args:
        rows: rows of the judges.
        scope: a language's code, or `all`.
        measure: the measure; of the flip rate the lowest is best, of others the highest.
        words: verb phrase with a place for the value.
    """
    known = [row for row in rows if row["language"] == scope and row.get(measure) is not None]
    if not known:
        return ""
    best = (min if measure == "flip" else max)(known, key=lambda row: row[measure])
    ends = {row["judge"]: (row[f"{measure}_low"], row[f"{measure}_high"]) for row in known}
    low, high = ends.pop(best["judge"])
    alike = [name for name, (a, b) in sorted(ends.items()) if None in (low, high, a, b) or (low <= b and a <= high)]
    lead = f"; its interval overlaps with {join_or_count(alike, 'judge')}" if alike else "; no other interval overlaps"
    where = "over all languages" if scope == "all" else f"in {name_of(scope)}"
    interval = "no interval" if None in (low, high) else f"95% CI {low:.1%} to {high:.1%}"
    facts = f"{words.format(f'{best[measure]:.1%}')} ({interval}, n = {best[f'{measure}_n']:,})"
    if ends:
        return f"{'Steadiest' if measure == 'flip' else 'Best'} judge {where}: {best['judge']} {facts}{lead}."
    return f"{best['judge']} {facts} {where}" + (
        "." if measure == "agree" else ". Agreement with people is unknown without votes."
    )


def _people(page: Page, codes: list[str]) -> str:
    """Describe the votes by language; empty if no votes are possible."""
    with suppress(MirageError):
        if "answers" in page.arena.tables or people.log(page.arena):
            return " ".join(
                [agreement.voted_languages(views.votes_by_language(page.arena, codes)), *people.left_out(page.arena)]
            )
    return ""


def _table(
    page: Page, rows: list[dict[str, Any]], measures: Sequence[views.JudgeMeasure], scope: str, voted: str
) -> None:
    """One row a judge, one column a measure."""
    if not rows:
        note(f"Not enough data for a mean in any language. {voted}")
        return
    prices = st.session_state.get("price_in"), st.session_state.get("price_out")
    facts = judge_facts(page.arena)
    of_row = [facts.get(row["judge"]) for row in rows]
    lines = views.with_costs(
        [
            row | {"criterion": about and about.criterion, "repeats": about and about.repeats}
            for row, about in zip(rows, of_row, strict=True)
        ],
        prices=prices,
    )
    columns = [Col("judge", "Judge", "system", help="Judge; people: agreement among people, for comparison.")]
    if any(about is not None and about.criterion != OVERALL for about in of_row):
        columns.append(Col("criterion", "Criterion", "text", "Criterion of the judge; overall: the better answer."))
    if any(about is not None and about.repeats > 1 for about in of_row):
        columns.append(Col("repeats", "Repeats", "count", "Maximum verdicts on one battle in one order."))
    for measure in measures:
        share = _is_share(measure)
        # One judge alone would fill the whole scale.
        ends = (0.0, 1.0) if share and len(rows) == 1 else None
        written: Kind = "rate" if share else "rating"
        columns.append(band(measure.name, measure.title, measure.meaning, written, zero=measure.fair or 0.0, ends=ends))
    columns.append(Col("n", "n", "count", "Verdicts; for people, battles decided by at least two people."))
    if lines["cost"].null_count < len(lines):
        what = "battles in agreement with people" if "agree" in rows[0] else "verdicts"
        columns.append(Col("cost", "Cost per 1,000", "mean", help=f"Cost per 1,000 {what} at the prices entered."))
    picked = table(lines, columns, key="judges", select=True)
    if picked is not None:
        _onward((rows[picked]["judge"], scope))
    where = "Mean over all languages, weighted equally" if scope == "all" else name_of(scope)
    unsure = [
        f"{measure.title}, {row['judge']}: {row[f'{measure.name}_reason']}"
        for measure in measures
        for row in rows
        if row[measure.name] is not None and row[f"{measure.name}_low"] is None and row[f"{measure.name}_reason"]
    ]
    none = f"No interval: {'; '.join(unsure)}. " if unsure else ""
    note(f"{where}. {none}Click a judge to read its battles. {voted}")


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


def _options(rows: list[dict[str, Any]], measures: Mapping[str, views.JudgeMeasure], known: Sequence[str]) -> list[str]:
    """Pick the measures in the table, and ask for token prices, kept while the panel is closed."""
    valued = [name for name in known if any(row[name] is not None for row in rows)]
    first = sorted(valued, key=lambda name: FIRST.index(name) if name in FIRST else len(FIRST))[:MOST]
    with pickers_popover(
        "Options", ("judge_columns",), "Columns of the table, and prices for the cost per 1,000 verdicts."
    ):
        chosen = pick_many(
            "Columns",
            known,
            key="judge_columns",
            kind="measure",
            named=lambda name: measures[name].title,
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
        note(_missing(rows, measures))
    return chosen or first


def _pick_figure(
    measures: Mapping[str, views.JudgeMeasure], rows: list[dict[str, Any]], codes: list[str], fitted: bool
) -> tuple[str | None, list[str]]:
    """Draw the row above the figure; return the figure's choice, None if there is nothing to show, and the measures in
    the table.

    Args:
        measures: the measures of the page.
        rows: their values.
        codes: the languages; in a single one a figure by language would repeat the table.
        fitted: the length slopes are among the values, if they can be fitted at all.
    """
    known = [
        name for name in measures if (name == views.LENGTH and not fitted) or any(row[name] is not None for row in rows)
    ]
    options = [*(known if len(codes) > 1 else []), *([PAIRS] if len({row["judge"] for row in rows}) > 1 else [])]
    name = None
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        if options:
            name = pick(
                "Figure",
                options,
                key="measure",
                kind="figure",
                default=next((name for name in views.TRUST if name in options), options[0]),
                named=lambda name: "Pairwise agreement" if name == PAIRS else measures[name].title,
                width=240,
            )
        columns = _options(rows, measures, known)
        onward("spot_check", "Vote yourself")
    return name, columns


def _nothing_known(page: Page) -> None:
    """Say what would tell whether to trust these judges."""
    with st.container(border=True):
        st.markdown("**These judges have not been validated.**")
        st.caption(
            "Agreement with people needs votes: vote on Spot check, or import verdicts by people. Known-answer pairs "
            "need no people, only relevance labels (table outcomes)."
        )
        if command := page.arena.fill("mirage judge DIR --judge NAME --model MODEL --known --pairs 100"):
            st.code(command, language=None)
        if page.arena.name != EXAMPLE:
            st.caption(f"The arena {EXAMPLE} has a judge with known answers.")


def _onward(clicked: Any) -> None:
    """Link from a judge in a language to its battles and its ranking."""
    if not clicked or clicked[0] == PEOPLE:
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
    fitted: bool,
    codes: list[str],
    scope: str,
    name: str | None,
) -> None:
    """Show pairwise agreement, or one measure by language."""
    measures = views.measures_of(result)
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
    unsure = any(row[name] is not None and row[f"{name}_low"] is None for row in rows)
    hollow = " Hollow: no interval, too few queries." if unsure else ""
    note(f"{measure.meaning.partition(': ')[0].rstrip('.')}.{hollow}")
    if all(row[name] is None for row in rows):
        st.caption(plain(next((row[f"{name}_reason"] for row in rows if row[f"{name}_reason"]), "not measured")))
        return
    clicked = chart(
        charts.measure_figure(page.arena, result, fitted, tuple(codes), measure, mode()),
        key=f"by_language_{name}",
        alt=f"{measure.title} of every judge in every language with 95% intervals.",
        select=True,
    )
    _onward(clicked)


def _pairs(page: Page, result: ExamResult | None, codes: list[str], scope: str) -> list[dict[str, Any]]:
    """Return pairwise agreement over all languages if both judged several, else in one."""
    languages = (*codes, "all")
    compared = views.between(page.arena, tuple(codes))
    rows = [{"one": one, **asdict(row)} for one, row in compared if row.language in languages]
    for language in languages:
        rows += [row | {"language": language} for row in views.people_pairs(result, language)]
    pairs: dict[tuple[str, str], dict[str, Any]] = {}
    for row in rows:
        if row["language"] == (scope or codes[0]) or (scope == "all" and (row["one"], row["judge"]) not in pairs):
            pairs[row["one"], row["judge"]] = row
    return [row for row in pairs.values() if row["raw"] is not None]


def passport_section(page: Page, codes: Sequence[str], scope: str) -> None:
    """Show the passport of a judge; nothing where the arena has no planted faults.

    Args:
        page: the page.
        codes: languages in scope.
        scope: `all`, the only language, or empty for several without a common mean.
    """
    items = views.items_of(page.arena)
    judges = judges_of(items) if items is not None else ()
    if items is None or not judges:
        return
    st.header("Passport", anchor=False)
    about = "Judges tested on answers paired with faulty copies (mirage judge passport DIR --judge NAME)."
    judge = pick("Judge", judges, key="passport", width=280, help=about)
    passport = views.passport_at(items, judge)
    if not passport:
        st.caption("This judge has no verdicts on planted faults in both orders.")
        return
    known = {row.language for row in passport}
    language = scope if scope in known.intersection(codes) else "all"
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
        Col("n", "n", "count", "Items judged in both orders."),
        Col("unread", "Unread", "count", "Items without a parsed verdict in both orders."),
        Col("unmade", "No item", "count", "Answers in which this fault cannot be planted."),
    ]
    table(pa.Table.from_pylist(rows), columns, key="passport_table")
    reasons = [f"{row['fault']}: {row['reason']}" for row in rows if row["reason"]]
    if reasons:
        with st.expander("Missing items and intervals"):
            st.markdown("\n".join(f"- {plain(reason)}." for reason in reasons))


show("judges", main)
