"""Page Surrogate: ratings predicted from cheap features."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from shlex import quote
from typing import Any, get_args

import pyarrow as pa
import streamlit as st

from mirage.battles.judge import Judge, verdict_judges
from mirage.battles.judge import judges as judges_of_arena
from mirage.errors import TableMissing
from mirage.explorer.features.charts import title
from mirage.explorer.kit import judge as who
from mirage.explorer.kit.chart import chart
from mirage.explorer.kit.frame import Page, onward, show, stop
from mirage.explorer.kit.layout import side_by_side
from mirage.explorer.kit.pick import pick
from mirage.explorer.kit.sections import sections
from mirage.explorer.kit.states import badge, missing
from mirage.explorer.kit.table import Col, mode, table
from mirage.explorer.kit.text import heading, note, plain
from mirage.explorer.surrogate import chart as charts
from mirage.explorer.surrogate import data as views
from mirage.publish.charts.palette import FORMATS
from mirage.ranking.surrogate import ALL, NESTED, PUBLISHED, REGRESSORS
from mirage.schema import Skill
from mirage.text.languages import name_of, search_name
from mirage.text.segmentation import count_text

HELD_OUT = (
    "All our figures are leave-one-out: each system is predicted from its features by a fit without it, in all "
    "languages. Order measures leave out pairs of systems. n counts systems."
)
SURE = 0.05
"""Significance level for a difference between two regressors."""
_TAU = "Kendall's tau-b of predictions and ratings over left-out pairs: 1 is the same order, 0 is chance. "
REGRESSOR = (
    Col("name", "Regressor", "text", help="Fitted model; the marked one is used for new systems.", width=190),
    Col("tau", "Tau", "probability", help=_TAU + "All languages: mean over languages."),
    Col("rmse", "RMSE", "probability", help="Root mean squared error in logits; lower is better."),
    Col(
        "r2",
        "R²",
        "rating",
        help="Explained variance of left-out ratings; below 0: worse than the mean.",
    ),
    Col(
        "slope",
        "Slope",
        "probability",
        help="Slope of ratings on predictions over left-out pairs: 1 is calibrated, below 1 overconfident, 0 "
        "uninformative.",
    ),
    Col("covered", "Coverage", "rate", help="Share of ratings inside their 95% prediction interval."),
    Col("systems", "n", "count", help="Systems, left out one at a time."),
    Col(
        "p",
        "p",
        "text",
        width=60,
        right=True,
        help="Paired test of this regressor's tau against choosing a regressor per system, all languages.",
    ),
    Col("published", "In the paper", "text", help="Name in the paper's Table 3; –: ours.", width=140),
    Col(
        "printed",
        "Printed R²",
        "rating",
        help="Published, not computed here (MIRAGE-Bench, Table 3): R² on 4 of 19 systems held out, 50 random splits.",
    ),
)
ABLATION = (
    Col("features", "Features", "text", help="Features used in the fit.", width=250),
    Col("tau", "Tau", "probability", help=_TAU + "All languages: mean over languages."),
    Col("systems", "n", "count", help="Systems, left out one at a time."),
    Col(
        "printed",
        "Printed tau",
        "probability",
        help="Published, not computed here (MIRAGE-Bench, Table 4): random forest against GPT-4o; 17 of 19 systems "
        "were in training.",
    ),
)
PRINTED = (
    Col("name", "Language", "text", help="Language of the answers.", width=120),
    Col("tau", "Tau", "probability", help="Ours on left-out systems, with the selected regressor."),
    Col("forest", "Tau, forest", "probability", help="Ours on left-out systems, with the published regressor."),
    Col(
        "printed_tau",
        "Printed tau",
        "probability",
        help="Published (MIRAGE-Bench, Table 2): random forest against GPT-4o; 17 of 19 systems were in training.",
    ),
    Col("r2", "R²", "rating", help="Ours on left-out systems, with the selected regressor."),
    Col(
        "printed_r2",
        "Printed R²",
        "rating",
        help="Published (MIRAGE-Bench, Table 5): random forest, mean over tournaments.",
    ),
    Col(
        "interval",
        "Printed range",
        "text",
        help="Published (MIRAGE-Bench, Table 5): 2.5 to 97.5 percentiles over tournaments of sampled queries.",
        width=120,
    ),
    Col("systems", "n", "count", help="Number of left-out systems."),
)


def main(page: Page) -> None:
    """Judged beside predicted ratings, then what the prediction is worth and rests on."""
    _need(page)
    pickers = st.container(horizontal=True, gap="medium")
    with pickers:
        judge = _judge(page)
    comparison = views.comparison_of(page.arena, judge)
    names = [row.regressor for row in comparison.summary]
    codes = [row["language"] for row in views.quality_by_language(page.arena, judge, names[0])]
    shown = [code for code in codes if code == ALL or not page.picked or code in page.picked]
    if not [code for code in shown if code != ALL]:
        page.summary("No predictions in the selected languages.")
        st.info("Choose other languages in the sidebar, or clear the selection.")
        return
    with pickers:
        regressor = pick(
            "Regressor",
            names,
            key="regressor",
            kind="regressor",
            default=comparison.chosen,
            width=200,
            help=f"{comparison.chosen}: lowest error on left-out systems; used for new systems. {NESTED}: a regressor "
            "chosen per system without seeing it.",
        )
        scopes = sorted(shown, key=lambda code: (code != ALL, code)) if not page.picked else shown
        language = pick(
            "Language",
            scopes,
            key="scope",
            kind="language",
            named=search_name,
            default=ALL if ALL in scopes and not page.picked else scopes[0],
            width=120,
            help="all: mean over all languages of the arena.",
        )
    rows = [row for row in views.quality_by_language(page.arena, judge, regressor) if row["language"] in shown]
    points = views.predicted_points(page.arena, judge, regressor, language)
    page.summary(
        _tested(comparison, regressor) if language == ALL else "",
        conclusion=_answer(comparison, regressor, language, judge, len(points)),
    )
    clicked = chart(
        charts.ratings(
            points,
            views.judged_ends(page.arena, judge, language),
            judge=judge.name,
            mode=mode(),
        ),
        key="predicted",
        alt="Every system's rating and prediction with 95% intervals.",
        select=True,
    )
    if clicked:
        _onward(clicked[0], language)
    else:
        note("Click a mark to see the system.")
    note(HELD_OUT)
    _outside(page, judge, regressor)
    draw: dict[str, Callable[[], None]] = {
        "Regressors": lambda: _regressors(page, comparison, regressor, language),
        "By language": lambda: _taus(rows, regressor),
        "Cost": lambda: _cost(page, judge),
        "Importance": lambda: _rests(page, judge, language, comparison.chosen),
    }
    if views.printed_figures(page.arena).reference:
        draw["Paper tables"] = lambda: _printed_table(page, judge, rows)
    draw[sections(dict.fromkeys(draw, ()))]()
    page.download(
        "surrogate",
        comparison.points,
        about={
            "judge": judge.name,
            "skill": judge.skill,
            "regressor for new systems": comparison.chosen,
            "regressor": regressor,
            "language": language,
            "method": HELD_OUT,
        },
    )


def _need(page: Page) -> None:
    """Stop in the missing state unless there are predictions; the command names a judge that the arena has."""
    tables = page.arena.tables
    if "predictions" not in tables and "features" in tables and "judgments" in tables:
        st.caption(plain(f"Ratings that can be predicted: {', '.join(judges_of_arena(page.arena))}."))
        if "outcomes" not in tables:
            where, judge = quote(page.arena.address), quote(verdict_judges(page.arena)[0])
            command = f"mirage rank surrogate {where} --judge {judge} --store"
            error = TableMissing("predictions", where=page.arena.address, command=command)
            missing(error, why=page.without())
            stop()
    page.need("predictions")


def _judge(page: Page) -> Judge:
    """Pick the predicted ratings and the queries that count."""
    available = views.available(page.arena)
    names = list(dict.fromkeys(name for name, _ in available))

    def skills(name: str) -> list[Skill]:
        return [skill for skill in get_args(Skill) if (name, skill) in available]

    return who.judge_with_skill(names, "Provides the predicted ratings.", skills)


def _answer(comparison: views.RegressorComparisonView, regressor: str, language: str, judge: Judge, n: int) -> str:
    """The page's question, answered in a line."""
    (summary,) = (row for row in comparison.summary if row.regressor == regressor)
    if language == ALL:
        tau, rmse, where = summary.tau, summary.rmse, f"on average over {summary.languages} languages"
    else:
        (quality,) = (q for q in comparison.quality if (q.regressor, q.language) == (regressor, language))
        tau, rmse, where = quality.tau, quality.rmse, f"in {name_of(language)}"
    write = FORMATS["probability"].write
    return (
        f"The {regressor} regressor predicts the ranking of {n} systems by {judge.name} with tau {write(tau)} "
        f"{where} (no interval). RMSE {write(rmse)} logits, leave-one-system-out."
    )


def _tested(comparison: views.RegressorComparisonView, regressor: str) -> str:
    """Whether the regressor differs significantly from choosing one per system; empty if it was not tested."""
    (summary,) = (row for row in comparison.summary if row.regressor == regressor)
    if summary.p is None:
        return ""
    p = "p < 0.001" if summary.p < 0.001 else f"p = {summary.p:.3f}"
    verdict = "Significantly" if summary.p < SURE else "Not significantly"
    return f"{verdict} different from choosing a regressor per system ({p})."


def _title(regressor: str) -> str:
    return "Chosen per system" if regressor == NESTED else REGRESSORS[regressor].title


def _meaning(regressor: str) -> str:
    if regressor == NESTED:
        return "Chosen per system: the regressor with the lowest error on the other systems, leave-two-out."
    return f"{_title(regressor)}: {REGRESSORS[regressor].meaning}"


def _onward(system: str, language: str) -> None:
    only = () if language == ALL else (language,)
    with st.container(horizontal=True, gap="medium", vertical_alignment="center"):
        st.markdown(f"**{plain(system)}**", width="content")
        onward("features", "See its features", languages=only, systems=system)
        onward("answers", "Read its answers", languages=only, systems=system)


def _outside(page: Page, judge: Judge, regressor: str) -> None:
    """Name the systems outside the training range."""
    beyond = views.outside_range(page.arena, judge, regressor)
    if not beyond:
        return
    lines = []
    for system, features in beyond.items():
        parts = [f"{title(f)} in {count_text(len(codes), 'language')}" for f, codes in features.items()]
        lines.append(f"{system}: {', '.join(parts)}")
    lie = "lies" if len(beyond) == 1 else "lie"
    with st.expander(f"{count_text(len(beyond), 'system')} {lie} outside the training range (extrapolation)"):
        for line in lines:
            st.markdown(f"- {plain(line)}")


def _regressors(page: Page, comparison: views.RegressorComparisonView, regressor: str, language: str) -> None:
    """Every regressor, and what the one that is picked does."""
    heading("Regressor comparison", _meaning(regressor))
    table(_comparison_table(page, comparison, language), REGRESSOR, key="regressors")


def _taus(rows: Sequence[dict[str, Any]], regressor: str) -> None:
    """Show tau in every language beside the printed one."""
    heading("Kendall's tau by language")
    single = [row for row in rows if row["language"] != ALL]
    chart(
        charts.tau_figure(
            single,
            regressor=_title(regressor),
            names=[name_of(row["language"]) for row in single],
            mode=mode(),
        ),
        key="taus",
        alt="Kendall's tau of the predictions in every language, with the printed figures.",
    )


def _comparison_table(page: Page, comparison: views.RegressorComparisonView, language: str) -> pa.Table:
    """One row a regressor in the language, with what the paper prints of the same one."""
    figures = views.printed_figures(page.arena)
    by_regressor = {quality.regressor: quality for quality in comparison.quality if quality.language == language}
    lines = []
    for row in comparison.summary:
        values: dict[str, Any] = asdict(row if language == ALL else by_regressor[row.regressor])
        lines.append(
            {
                "name": _title(row.regressor) + (" (for new systems)" if row.chosen else ""),
                **{key: values[key] for key in ("tau", "rmse", "r2", "slope", "covered", "systems")},
                "p": None if row.p is None else f"{row.p:.3f}",
                "published": row.published or None,
                "printed": figures.r2.get((language, "holdout", row.published)),
            }
        )
    return _rows(lines, REGRESSOR)


def _cost(page: Page, judge: Judge) -> None:
    """Show the judge calls that a prediction saves."""
    st.header("Judge calls saved", anchor=False)
    calls = views.calls(page.arena, judge)
    if calls == 0:
        st.caption("Predictions need no judge calls. Relevance labels need none either, so nothing is saved.")
        return
    if calls is None:
        st.caption("Predictions need no judge calls. No judgments in this arena to estimate the saving from.")
        return
    price = st.number_input(
        "Price per judge call (USD)", min_value=0.0, value=None, placeholder="unknown", key="call_price", width=220
    )
    money = "" if price is None else f", USD {calls * price:,.2f} at this price"
    st.caption(
        plain(
            f"Predictions need no judge calls. Judging one system took {calls:,} verdicts on average{money}, all "
            "languages together."
        )
    )


def _rests(page: Page, judge: Judge, language: str, chosen: str) -> None:
    """Importances and ablation of the regressor for new systems."""
    st.header("Feature importance", anchor=False)
    weights = views.weights(page.arena, judge)
    if not weights.permuted:
        st.caption("Computed by a command, since it needs many fits:")
        st.code(f"mirage rank surrogate DIR --judge {quote(judge.name)} --store", language=None)
        return
    left, right = side_by_side((380, 1), (420, 1), key="rests")
    with left:
        chart(
            charts.importance_figure(weights.permuted, mode=mode()),
            key="importances",
            alt="Increase of the squared error of left-out systems when a feature is permuted.",
        )
        st.caption(
            f"{_title(chosen)}, all languages: permutation importance on left-out systems. Larger: the prediction "
            f"relies on it more. n = {weights.permuted[0].systems} systems; 95% t intervals."
        )
    with right:
        ablated, lacking = _ablation_table(page, weights, language)
        table(ablated, ABLATION, key="ablation")
        none = f" No value: {'; '.join(lacking)}." if lacking else ""
        st.caption(
            plain(
                f"{_title(chosen)} with subsets of features, tau on left-out systems. The printed figures ranked "
                f"systems mostly seen in training.{none}"
            )
        )


def _ablation_table(page: Page, weights: views.Weights, language: str) -> tuple[pa.Table, list[str]]:
    """Tau by set of features, in a language or the mean over languages; and why some have none."""
    figures = views.printed_figures(page.arena)
    lines, lacking = [], []
    for name in dict.fromkeys(row.features for row in weights.ablated):
        rows = [row for row in weights.ablated if row.features == name]
        single = [row for row in rows if row.language != ALL]
        line: dict[str, Any] = {"features": _set(name), "printed": figures.ablation.get((language, name))}
        if language == ALL and single:
            values = [row.value for row in single if row.value is not None]
            line |= {"tau": sum(values) / len(values) if values else None}
            line |= {"systems": max(row.systems for row in single)}
        else:
            row = next((row for row in rows if row.language == language), rows[-1])
            line |= {"tau": row.value, "systems": row.systems or None}
            lacking += [f"{_set(name)} ({row.reason})"] if row.reason else []
        lines.append(line)
    return _rows(lines, ABLATION), lacking


def _set(name: str) -> str:
    """A set of features, by the features' names for people."""
    if name in views.NAMED:
        return name
    return "Without " + ", ".join(title(f) for f in name.removeprefix("Without ").split(", "))


def _printed_table(page: Page, judge: Judge, rows: list[dict[str, Any]]) -> None:
    """The paper's Tables 2 and 5 beside ours."""
    figures = views.printed_figures(page.arena)
    st.header("Published and our figures", anchor=False)
    badge("published figures")
    forest: Mapping[str, Any] = {}
    if any(row.regressor == PUBLISHED for row in views.comparison_of(page.arena, judge).summary):
        forest = {row["language"]: row["tau"] for row in views.quality_by_language(page.arena, judge, PUBLISHED)}
    lines = []
    for row in rows:
        code = row["language"]
        if code != ALL:
            draws = figures.r2_draws.get(code)
            write = FORMATS["rating"].write
            lines.append(
                {
                    "name": name_of(code),
                    "tau": row["tau"],
                    "forest": forest.get(code),
                    "printed_tau": figures.tau.get(code),
                    "r2": row["r2"],
                    "printed_r2": draws[0] if draws else None,
                    "interval": f"{write(draws[0] + draws[1])} to {write(draws[0] + draws[2])}" if draws else None,
                    "systems": row["systems"],
                }
            )
    table(_rows(lines, PRINTED), PRINTED, key="surrogate_printed")
    st.caption(
        plain(
            "Printed figures use other systems and features, a GPT-4o judge, and systems mostly seen in training. "
            f"They are not directly comparable. Source: {figures.reference}"
        )
    )


def _rows(lines: list[dict[str, Any]], columns: tuple[Col, ...]) -> pa.Table:
    types = {"text": pa.string(), "count": pa.int64()}
    return pa.Table.from_pylist(lines, schema=pa.schema([(c.name, types.get(c.kind, pa.float64())) for c in columns]))


show("surrogate", main)
