"""Page Surrogate: ratings predicted from cheap features."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any, get_args

import pyarrow as pa
import streamlit as st

from mirage.explorer.features.charts import title
from mirage.explorer.kit import judge as who
from mirage.explorer.kit.chart import chart
from mirage.explorer.kit.frame import Page, onward, show
from mirage.explorer.kit.layout import side_by_side
from mirage.explorer.kit.pick import pick
from mirage.explorer.kit.sections import sections
from mirage.explorer.kit.table import Col, column, mode, table
from mirage.explorer.kit.text import note, plain
from mirage.explorer.surrogate import chart as charts
from mirage.explorer.surrogate import data as views
from mirage.publish.charts.palette import FORMATS
from mirage.ranking.judges import Judge
from mirage.ranking.surrogate.range import ALL
from mirage.ranking.surrogate.regressors import PUBLISHED, REGRESSORS
from mirage.ranking.surrogate.reporting import RegressorSummary
from mirage.schema import Skill
from mirage.text.languages import name_of, search_name
from mirage.text.segmentation import count_text

HELD_OUT = "Leave-one-out: each system is predicted from its features by a fit without it."
SURE = 0.05
"""Significance level for a difference between two regressors."""
_TAU = "Kendall's tau-b of predictions and ratings over left-out pairs: 1 is the same order, 0 is chance. "
REGRESSOR = (
    Col("name", "Regressor", "text", help="Fitted model; the marked one is used for new systems.", width=220),
    Col("tau", "Tau", "probability", help=_TAU + "All languages: mean over languages."),
    Col("rmse", "RMSE", "probability", help="Root mean squared error in logits; lower is better."),
    Col("r2", "R²", "probability", help="Explained variance of left-out ratings; below 0: worse than the mean."),
    column(RegressorSummary, "covered", "Coverage", "rate"),
    Col(
        "p",
        "p",
        "text",
        width=60,
        right=True,
        help="Paired test of this regressor's tau against that of the regressor for new systems, all languages.",
    ),
    Col(
        "printed",
        "Printed R²",
        "probability",
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
IMPORTANCE = (
    Col("feature", "Feature", "text", help="The feature that is permuted.", width=180),
    Col("value", "Importance", "difference", help="Rise of the squared error on left-out systems, in squared logits."),
    Col("value", "95%", "interval", help="95% interval; the line is 0.", low="low", high="high", width=160),
)
BY_LANGUAGE = (
    Col("name", "Language", "text", help="Language of the answers.", width=140),
    Col("tau", "Tau", "probability", help="Ours on left-out systems, with the selected regressor."),
    Col("r2", "R²", "probability", help="Ours on left-out systems, with the selected regressor."),
    Col("systems", "n", "count", help="Number of left-out systems."),
    Col("forest", "Tau, forest", "probability", help="Ours on left-out systems, with the published regressor."),
    Col(
        "printed_tau",
        "Printed tau",
        "probability",
        help="Published (MIRAGE-Bench, Table 2): random forest against GPT-4o; 17 of 19 systems were in training.",
    ),
    Col(
        "printed_r2",
        "Printed R²",
        "text",
        help="Published (MIRAGE-Bench, Table 5): random forest, mean over tournaments of sampled queries, and 2.5 to "
        "97.5 percentiles.",
        width=170,
        right=True,
    ),
)


def main(page: Page) -> None:
    """Judged beside predicted ratings, then what the prediction is worth and rests on."""
    page.need("predictions")
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
            named=_title,
            width=200,
            help=f"{_title(comparison.chosen)}: used for new systems.",
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
        conclusion=_answer(comparison, regressor, language, judge.phrase(page.arena)),
    )
    clicked = chart(
        charts.ratings(
            points,
            views.judged_ends(page.arena, judge, language),
            judge=judge.phrase(page.arena),
            mode=mode(),
        ),
        key="predicted",
        alt="Every system's rating and prediction with 95% intervals.",
        select=True,
    )
    if clicked:
        _onward(clicked[0], language)
    else:
        stored = [row for row in comparison.points.to_pylist() if row["regressor"] == regressor and row["outside"]]
        beyond = count_text(len({row["system"] for row in stored}), "system")
        extrapolated = f" Outside the training range: {beyond}." if stored else ""
        note(f"{HELD_OUT}{extrapolated} Click a mark to see the system.")
    draw: dict[str, Callable[[], None]] = {
        "Regressors": lambda: _regressors(page, judge, comparison, regressor, language),
        "By language": lambda: _by_language(page, judge, rows),
    }
    if views.weights(page.arena, judge).permuted:
        draw["Importance"] = lambda: _rests(page, judge, language, comparison.chosen)
    draw[sections(dict.fromkeys(draw, ()))]()
    page.download(
        "surrogate",
        lambda: comparison.points,
        about={
            "judge": judge.name,
            "skill": judge.skill,
            "regressor for new systems": comparison.chosen,
            "regressor": regressor,
            "language": language,
            "method": HELD_OUT,
        },
    )


def _judge(page: Page) -> Judge:
    """Pick the predicted ratings and the queries that count."""
    available = views.available(page.arena)
    names = list(dict.fromkeys(name for name, _ in available))

    def skills(name: str) -> list[Skill]:
        return [skill for skill in get_args(Skill) if (name, skill) in available]

    return who.judge_with_skill(names, "Provides the predicted ratings.", skills)


def _answer(comparison: views.RegressorComparisonView, regressor: str, language: str, by: str) -> str:
    """Return the page's conclusion."""
    (summary,) = (row for row in comparison.summary if row.regressor == regressor)
    if language == ALL:
        tau, rmse, where = summary.tau, summary.rmse, f"on average over {summary.languages} languages"
    else:
        (quality,) = (q for q in comparison.quality if (q.regressor, q.language) == (regressor, language))
        tau, rmse, where = quality.tau, quality.rmse, f"in {name_of(language)}"
    write = FORMATS["probability"].write
    predicts = f"{title} predict" if (title := _title(regressor)).endswith("by answer") else f"{title} predicts"
    ranking = f"the ranking of {_systems_text(comparison, language)} by {by}"
    return f"{predicts} {ranking} with tau {write(tau)} {where} (RMSE {write(rmse)})."


def _systems_text(comparison: views.RegressorComparisonView, language: str) -> str:
    """Return the number of left-out systems in a language, or the range over the languages."""
    codes = {row.language for row in comparison.quality} - {ALL} if language == ALL else {language}
    counts = [row.systems for row in comparison.quality if row.language in codes]
    low, high = min(counts), max(counts)
    return count_text(high, "system") if low == high else f"{low:,} to {high:,} systems"


def _tested(comparison: views.RegressorComparisonView, regressor: str) -> str:
    """Return a sentence on the difference from the regressor for new systems; empty if it was not tested."""
    (summary,) = (row for row in comparison.summary if row.regressor == regressor)
    if summary.p is None:
        return ""
    p = "p < 0.001" if summary.p < 0.001 else f"p = {summary.p:.3f}"
    verdict = "Significantly" if summary.p < SURE else "Not significantly"
    return f"{verdict} different from {_title(comparison.chosen)}, used for new systems ({p})."


def _title(regressor: str) -> str:
    return REGRESSORS[regressor].title


def _onward(system: str, language: str) -> None:
    only = () if language == ALL else (language,)
    with st.container(horizontal=True, gap="medium", vertical_alignment="center"):
        st.markdown(f"**{plain(system)}**", width="content")
        onward("features", "See its features", languages=only, systems=system)
        onward("answers", "Read its answers", languages=only, systems=system)


def _regressors(
    page: Page, judge: Judge, comparison: views.RegressorComparisonView, regressor: str, language: str
) -> None:
    """Show every regressor, what the selected one does, and the judge calls that it saves."""
    rows = _comparison_table(page, comparison, language)
    columns = [column for column in REGRESSOR if rows[column.name].null_count < len(rows)]
    table(rows, columns, key="regressors")
    n = _systems_text(comparison, language)
    calls = views.calls(page.arena, judge)
    saved = f" Judging one system took {calls:,} verdicts on average; a prediction takes none." if calls else ""
    note(f"n = {n}. {_title(regressor)}: {REGRESSORS[regressor].meaning}{saved}")


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
                **{key: values[key] for key in ("tau", "rmse", "r2", "covered")},
                "p": None if row.p is None else f"{row.p:.3f}",
                "printed": figures.r2.get((language, "holdout", row.published)),
            }
        )
    return _rows(lines, REGRESSOR)


def _rests(page: Page, judge: Judge, language: str, chosen: str) -> None:
    """Importances and ablation of the regressor for new systems."""
    weights = views.weights(page.arena, judge)
    left, right = side_by_side((380, 1), (420, 1), key="rests")
    with left:
        rows = [asdict(row) | {"feature": title(row.features)} for row in weights.permuted]
        table(pa.Table.from_pylist(rows), IMPORTANCE, key="importances")
        note(f"{_title(chosen)}, n = {weights.permuted[0].systems} left-out systems; 95% t intervals.")
    with right:
        ablated, lacking = _ablation_table(page, weights, language)
        table(ablated, ABLATION, key="ablation")
        none = f" No value: {'; '.join(lacking)}." if lacking else ""
        note(f"{_title(chosen)} with subsets of features, tau on left-out systems.{none}")


def _ablation_table(page: Page, weights: views.Weights, language: str) -> tuple[pa.Table, list[str]]:
    """Tau by set of features, in a language or the mean over languages; and why some have none."""
    figures = views.printed_figures(page.arena)
    lines, lacking = [], []
    for name in dict.fromkeys(row.features for row in weights.ablated):
        rows = [row for row in weights.ablated if row.features == name]
        single = [row for row in rows if row.language != ALL]
        line: dict[str, Any] = {"features": name, "printed": figures.ablation.get((language, name))}
        if language == ALL and single:
            values = [row.value for row in single if row.value is not None]
            line |= {"tau": sum(values) / len(values) if values else None}
            line |= {"systems": max(row.systems for row in single)}
        else:
            row = next((row for row in rows if row.language == language), rows[-1])
            line |= {"tau": row.value, "systems": row.systems or None}
            lacking += [f"{name} ({row.reason})"] if row.reason else []
        lines.append(line)
    return _rows(lines, ABLATION), lacking


def _by_language(page: Page, judge: Judge, rows: list[dict[str, Any]]) -> None:
    """Show the quality in every language, beside the paper's Tables 2 and 5."""
    figures = views.printed_figures(page.arena)
    forest: Mapping[str, Any] = {}
    if any(row.regressor == PUBLISHED for row in views.comparison_of(page.arena, judge).summary):
        forest = {row["language"]: row["tau"] for row in views.quality_by_language(page.arena, judge, PUBLISHED)}
    lines = []
    for row in rows:
        code = row["language"]
        if code != ALL:
            value, minus, plus = figures.r2_draws.get(code, (None, 0.0, 0.0))
            write = FORMATS["probability"].write
            lines.append(
                {
                    "name": name_of(code),
                    "tau": row["tau"],
                    "forest": forest.get(code),
                    "printed_tau": figures.tau.get(code),
                    "r2": row["r2"],
                    "printed_r2": value and f"{write(value)} ({write(value + minus)} to {write(value + plus)})",
                    "systems": row["systems"],
                }
            )
    columns = tuple(c for c in BY_LANGUAGE if any(line[c.name] is not None for line in lines))
    table(_rows(lines, columns), columns, key="surrogate_printed")
    if figures.reference:
        note(f"Printed: other systems and features, mostly seen in training; not comparable. {figures.reference}.")


def _rows(lines: list[dict[str, Any]], columns: tuple[Col, ...]) -> pa.Table:
    types = {"text": pa.string(), "count": pa.int64()}
    return pa.Table.from_pylist(lines, schema=pa.schema([(c.name, types.get(c.kind, pa.float64())) for c in columns]))


show("surrogate", main)
