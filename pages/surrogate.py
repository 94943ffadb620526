"""Page Surrogate: ratings predicted from cheap features."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

import pyarrow as pa
import streamlit as st

from mirage.explorer.kit import judge as who
from mirage.explorer.kit.chart import chart
from mirage.explorer.kit.frame import Page, onward, show
from mirage.explorer.kit.layout import side_by_side
from mirage.explorer.kit.pick import pick
from mirage.explorer.kit.sections import sections
from mirage.explorer.kit.table import Col, column, mode, table
from mirage.explorer.kit.text import note, plain
from mirage.explorer.surrogate import chart as charts
from mirage.publish.charts.palette import FORMATS
from mirage.ranking.judges import Judge
from mirage.ranking.surrogate.range import ALL
from mirage.ranking.surrogate.regressors import PUBLISHED, REGRESSORS
from mirage.ranking.surrogate.reporting import RegressorSummary
from mirage.schema import Skill
from mirage.text.languages import name_of, search_name
from mirage.text.segmentation import count_text
from mirage.views.features import feature_title
from mirage.views.surrogate import SurrogateChoice, SurrogateView, predicted_judges, printed_surrogate, surrogate_view

HELD_OUT = "Leave-one-out: each system is predicted from its features by a fit without it."
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
    view = surrogate_view(page.arena, SurrogateChoice(judge.name, judge.skill))
    shown = [code for code in view.languages if code == ALL or not page.picked or code in page.picked]
    if not [code for code in shown if code != ALL]:
        page.summary("No predictions in the selected languages.")
        st.info("Choose other languages in the sidebar, or clear the selection.")
        return
    with pickers:
        regressor = pick(
            "Regressor",
            view.regressors,
            key="regressor",
            kind="regressor",
            default=view.chosen,
            named=_title,
            width=200,
            help=f"{_title(view.chosen)}: used for new systems.",
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
    ends = {
        row["system"]: (row["low"], row["high"]) for row in view.intervals.to_pylist() if row["language"] == language
    }
    page.summary(
        view.test_sentence(regressor) if language == ALL else "",
        conclusion=view.conclude(regressor, language),
    )
    clicked = chart(
        charts.ratings(
            view.points(regressor, language),
            ends,
            judge=view.judge_name,
            mode=mode(),
        ),
        key="predicted",
        alt="Every system's rating and prediction with 95% intervals.",
        select=True,
    )
    if clicked:
        _onward(clicked[0], language)
    else:
        rows = [row for row in view.predictions.to_pylist() if row["regressor"] == regressor]
        outside = {row["system"] for row in rows if row["outside"]}
        extrapolated = f" Outside the training range: {count_text(len(outside), 'system')}." if outside else ""
        note(f"{HELD_OUT}{extrapolated} Click a mark to see the system.")
    draw: dict[str, Callable[[], None]] = {
        "Regressors": lambda: _regressors(page, view, regressor, language),
        "By language": lambda: _by_language(page, view, regressor, shown),
    }
    if len(view.importances):
        draw["Importance"] = lambda: _rests(page, view, language)
    draw[sections(dict.fromkeys(draw, ()))]()
    page.download(
        "surrogate",
        lambda: view.predictions,
        about={
            "judge": view.judge,
            "skill": view.skill,
            "regressor for new systems": view.chosen,
            "regressor": regressor,
            "language": language,
            "method": HELD_OUT,
        },
    )


def _judge(page: Page) -> Judge:
    """Pick the predicted ratings and the queries that count."""
    available = predicted_judges(page.arena)
    names = list(dict.fromkeys(name for name, _ in available))

    def skills(name: str) -> list[Skill]:
        return [skill for skill in get_args(Skill) if (name, skill) in available]

    return who.judge_with_skill(names, "Provides the predicted ratings.", skills)


def _title(regressor: str) -> str:
    return REGRESSORS[regressor].title


def _onward(system: str, language: str) -> None:
    only = () if language == ALL else (language,)
    with st.container(horizontal=True, gap="medium", vertical_alignment="center"):
        st.markdown(f"**{plain(system)}**", width="content")
        onward("features", "See its features", languages=only, systems=system)
        onward("answers", "Read its answers", languages=only, systems=system)


def _regressors(page: Page, view: SurrogateView, regressor: str, language: str) -> None:
    """Show every regressor, what the selected one does, and the judge calls that it saves."""
    rows = _comparison_table(page, view, language)
    columns = [column for column in REGRESSOR if rows[column.name].null_count < len(rows)]
    table(rows, columns, key="regressors")
    saved = (
        f" Judging one system took {view.calls:,} verdicts on average; a prediction takes none." if view.calls else ""
    )
    note(f"n = {view.count_systems(language)}. {_title(regressor)}: {REGRESSORS[regressor].meaning}{saved}")


def _comparison_table(page: Page, view: SurrogateView, language: str) -> pa.Table:
    """One row a regressor in the language, with what the paper prints of the same one."""
    figures = printed_surrogate(page.arena)
    lines = []
    for row in view.summary.to_pylist():
        values = row if language == ALL else view.quality_row(row["regressor"], language)
        lines.append(
            {
                "name": _title(row["regressor"]) + (" (for new systems)" if row["chosen"] else ""),
                **{key: values[key] for key in ("tau", "rmse", "r2", "covered")},
                "p": None if row["p"] is None else f"{row['p']:.3f}",
                "printed": figures.r2.get((language, "holdout", row["published"])),
            }
        )
    return _rows(lines, REGRESSOR)


def _rests(page: Page, view: SurrogateView, language: str) -> None:
    """Importances and ablation of the regressor for new systems."""
    rows = view.importances.to_pylist()
    permuted = [{**row, "feature": feature_title(row["features"])} for row in rows if row["kind"] == "permutation"]
    chosen = _title(view.chosen)
    left, right = side_by_side((380, 1), (420, 1), key="rests")
    with left:
        table(pa.Table.from_pylist(permuted), IMPORTANCE, key="importances")
        note(f"{chosen}, n = {permuted[0]['systems']} left-out systems; 95% t intervals.")
    with right:
        ablated, lacking = _ablation_table(page, [row for row in rows if row["kind"] == "ablation"], language)
        table(ablated, ABLATION, key="ablation")
        none = f" No value: {'; '.join(lacking)}." if lacking else ""
        note(f"{chosen} with subsets of features, tau on left-out systems.{none}")


def _ablation_table(page: Page, ablated: list[dict[str, Any]], language: str) -> tuple[pa.Table, list[str]]:
    """Tau by set of features, in a language or the mean over languages; and why some have none."""
    figures = printed_surrogate(page.arena)
    lines, lacking = [], []
    for name in dict.fromkeys(row["features"] for row in ablated):
        rows = [row for row in ablated if row["features"] == name]
        single = [row for row in rows if row["language"] != ALL]
        line: dict[str, Any] = {"features": name, "printed": figures.ablation.get((language, name))}
        if language == ALL and single:
            values = [row["value"] for row in single if row["value"] is not None]
            line |= {"tau": sum(values) / len(values) if values else None}
            line |= {"systems": max(row["systems"] for row in single)}
        else:
            row = next((row for row in rows if row["language"] == language), rows[-1])
            line |= {"tau": row["value"], "systems": row["systems"] or None}
            lacking += [f"{name} ({row['reason']})"] if row["reason"] else []
        lines.append(line)
    return _rows(lines, ABLATION), lacking


def _by_language(page: Page, view: SurrogateView, regressor: str, shown: list[str]) -> None:
    """Show the quality in every language, beside the paper's Tables 2 and 5."""
    figures = printed_surrogate(page.arena)
    forest = {row["language"]: row["tau"] for row in view.quality_of(PUBLISHED)}
    lines = []
    for row in view.quality_of(regressor):
        code = row["language"]
        if code != ALL and code in shown:
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
