"""Page Surrogate: ratings predicted from cheap features."""

from collections.abc import Callable
from typing import get_args

import pyarrow as pa
import streamlit as st

from mirage.explorer.kit import judge as who
from mirage.explorer.kit.chart import chart
from mirage.explorer.kit.frame import Page, link_row, none_selected, show, show_page_link
from mirage.explorer.kit.layout import side_by_side
from mirage.explorer.kit.pick import pick, sections
from mirage.explorer.kit.table import Col, column, table, with_values
from mirage.explorer.kit.text import note
from mirage.explorer.surrogate import chart as charts
from mirage.ranking.judges import Judge
from mirage.ranking.surrogate.range import ALL
from mirage.ranking.surrogate.regressors import REGRESSORS
from mirage.ranking.surrogate.reporting import RegressorSummary
from mirage.schema import Skill
from mirage.text.languages import search_name
from mirage.text.segmentation import count_text
from mirage.views.surrogate import (
    PrintedSurrogate,
    SurrogateChoice,
    SurrogateView,
    predicted_judges,
    printed_surrogate,
    surrogate_view,
)

HELD_OUT = "Leave-one-out: each system is predicted from its features by a fit without it."
_TAU = Col(
    "tau",
    "Tau",
    "probability",
    "Kendall's tau-b of predictions and ratings over left-out pairs: 1 is the same order, 0 is chance. All "
    "languages: mean over languages.",
)
_R2 = Col("r2", "R²", "probability", "Explained variance of left-out ratings; none where the mean is better.")
REGRESSOR = (
    Col("name", "Regressor", "text", "Fitted model; the marked one is used for new systems.", width=220),
    _TAU,
    Col("rmse", "RMSE", "probability", "Root mean squared error in logits; lower is better."),
    _R2,
    column(RegressorSummary, "covered", "Coverage", "rate"),
    Col(
        "p",
        "p",
        "text",
        "Paired test of this regressor's tau against that of the regressor for new systems, all languages.",
        width=60,
        right=True,
    ),
    Col(
        "printed",
        "Printed R²",
        "probability",
        "Published, not computed here (MIRAGE-Bench, Table 3): R² on 4 of 19 systems held out, 50 random splits.",
    ),
)
ABLATION = (
    Col("features", "Features", "text", "Features used in the fit.", width=250),
    _TAU,
    Col("systems", "n", "count", "Systems, left out one at a time."),
    Col(
        "printed",
        "Printed tau",
        "probability",
        "Published, not computed here (MIRAGE-Bench, Table 4): random forest against GPT-4o; 17 of 19 systems "
        "were in training.",
    ),
)
IMPORTANCE = (
    Col("feature", "Feature", "text", "The feature that is permuted.", width=180),
    Col("value", "Importance", "difference", "Rise of the squared error on left-out systems, in squared logits."),
    Col("value", "95%", "interval", "95% interval; the line is 0.", low="low", high="high", width=160),
)
_LANGUAGE = Col("name", "Language", "text", "Language of the answers.", width=140)
BY_LANGUAGE = (_LANGUAGE, _TAU, _R2, Col("systems", "n", "count", "Number of left-out systems."))
PRINTED = (
    _LANGUAGE,
    Col("tau", "Tau", "probability", "Ours on left-out systems, with the selected regressor."),
    Col("forest", "Tau, forest", "probability", "Ours on left-out systems, with the published regressor."),
    Col(
        "printed_tau",
        "Printed tau",
        "probability",
        "Published (MIRAGE-Bench, Table 2): random forest against GPT-4o; 17 of 19 systems were in training.",
    ),
    Col(
        "printed_r2",
        "Printed R²",
        "text",
        "Published (MIRAGE-Bench, Table 5): random forest, mean over tournaments of sampled queries, and 2.5 to "
        "97.5 percentiles.",
        width=170,
        right=True,
    ),
)


def main(page: Page) -> None:
    """Show judged and predicted ratings, then the quality of the prediction and the features behind it."""
    page.need("predictions")
    if not predicted_judges(page.arena):
        none_selected(page, "predictions")
        return
    pickers = st.container(horizontal=True, gap="medium")
    with pickers:
        judge = _judge(page)
    view = surrogate_view(page.arena, SurrogateChoice(judge.name, judge.skill))
    shown = [code for code in view.languages if code == ALL or not page.picked or code in page.picked]
    if not [code for code in shown if code != ALL]:
        none_selected(page, "predictions")
        return
    with pickers:
        regressor = pick(
            "Regressor",
            view.worthwhile,
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
    tested = view.test_sentence(regressor) if language == ALL else ""
    purpose = ("Ranks a new system without asking the judge.", view.saved_calls, tested)
    page.summary(" ".join(filter(None, purpose)), conclusion=view.conclude(regressor, language))
    clicked = chart(
        charts.ratings(
            view.points(regressor, language),
            view.judged_ends(language),
            judge=view.judge_name,
        ),
        key="predicted",
        alt="Every system's rating and prediction with 95% intervals.",
        select=True,
    )
    if clicked:
        _show_links(clicked[0], language)
    else:
        outside = len(view.systems_outside(regressor))
        extrapolated = f" Outside the training range: {count_text(outside, 'system')}." if outside else ""
        note(f"{HELD_OUT}{extrapolated} Click a mark to see the system.")
    figures = printed_surrogate(page.arena)
    rows = view.by_language(figures, regressor, shown)
    draw: dict[str, Callable[[], object]] = {
        "By language": lambda: table(rows, _differing_values(rows, BY_LANGUAGE), key="surrogate_languages")
    }
    if len(view.importances):
        draw["Importance"] = lambda: _show_importances(view, figures, language)
    draw["Paper"] = lambda: _paper(view, figures, rows, language)
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


def _show_links(system: str, language: str) -> None:
    only = () if language == ALL else (language,)
    with link_row(system):
        show_page_link("features", "See its features", languages=only, systems=system)
        show_page_link("answers", "Read its answers", languages=only, systems=system)


def _show_importances(view: SurrogateView, figures: PrintedSurrogate, language: str) -> None:
    """Show importances and ablations of the regressor for new systems."""
    permuted, chosen = view.permuted, _title(view.chosen)
    left, right = side_by_side((380, 1), (420, 1), key="rests")
    with left:
        table(permuted, IMPORTANCE, key="importances")
        note(f"{chosen}, n = {permuted['systems'][0]} left-out systems; 95% t intervals.")
    with right:
        ablated, lacking = view.ablations(figures, language)
        table(ablated, with_values(ablated, ABLATION), key="ablation")
        none = f" No value: {'; '.join(lacking)}." if lacking else ""
        note(f"{chosen} with subsets of features, tau on left-out systems.{none}")


def _paper(view: SurrogateView, figures: PrintedSurrogate, rows: pa.Table, language: str) -> None:
    """Show our regressors and the paper's, then the quality in every language beside the paper's Tables 2 and 5."""
    regressors = view.compare_regressors(figures, language)
    table(regressors, _differing_values(regressors, REGRESSOR), key="regressors")
    note(f"n = {view.count_systems(language)}. {_title(view.chosen)}: {REGRESSORS[view.chosen].meaning}")
    table(rows, _differing_values(rows, PRINTED), key="surrogate_printed")
    if figures.reference:
        note(f"Printed: other systems and features, mostly seen in training; not comparable. {figures.reference}.")


def _differing_values(rows: pa.Table, columns: tuple[Col, ...]) -> tuple[Col, ...]:
    """Return the columns with a value in some row, and of counts those that differ."""
    used = with_values(rows, columns)
    return tuple(column for column in used if column.kind != "count" or len(rows[column.name].unique()) > 1)


show("surrogate", main)
