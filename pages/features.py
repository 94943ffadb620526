"""Page Features: what makes an answer good, and which systems lack it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

import streamlit as st

from mirage.battles.judge import judges as judges_of_arena
from mirage.errors import MirageError
from mirage.explorer.features import charts
from mirage.explorer.features import data as views
from mirage.explorer.kit import agreement
from mirage.explorer.kit import judge as who
from mirage.explorer.kit.chart import chart
from mirage.explorer.kit.frame import Page, show, stop
from mirage.explorer.kit.frame import onward as ui_onward
from mirage.explorer.kit.language_pairs import show_pairs
from mirage.explorer.kit.levels_section import corrected_section
from mirage.explorer.kit.pick import pick, pick_many, pick_segments, pickers_popover
from mirage.explorer.kit.sections import sections
from mirage.explorer.kit.states import refuse
from mirage.explorer.kit.table import Col, legend, mode, table
from mirage.explorer.kit.text import heading, note, plain
from mirage.ranking.compare.measures import NUGGETS, OF_FEATURE
from mirage.stages.across.preference import OWN
from mirage.stages.features import FEATURES
from mirage.stages.features.relations import DRAWS
from mirage.stats.units import name_unit
from mirage.text.languages import name_of
from mirage.text.segmentation import count_text

FEW, MOST = 3, 6
"""Panels that are drawn at first; and features of which all are drawn at once."""
MOST_DRAWN, NARROW = 8, 30
"""Systems that can be in focus at once; and marks in a row of a panel that a phone's width has room for."""
FILTERS = ("features", "systems")
"""Keys of the pickers that most readers leave as they are."""
PATIENCE = 0.3
"""Seconds after which a first look says how far it is."""
PICKERS = {"By language": ("panel",), "Means": ("feature",), "Correlation": ("judge", "skill")}
"""The pickers of each section."""


def main(page: Page) -> None:
    """Measure the features, then show one section: panels, means or correlation with the rating."""
    page.need("features")
    codes = page.languages("features")
    if not codes:
        st.info("No measured answers in the selected languages.")
        stop()
    measure_features(page, codes)
    shown = views.overview(page.arena, codes)
    if not shown.features:
        st.info("No feature values in these languages.")
        stop()
    page.summary(
        f"{shown.answers:,} answers of {count_text(len(shown.systems), 'system')} in "
        f"{count_text(len(codes), 'language')}, {count_text(len(shown.features), 'feature')}. "
        "Each dot is one system's mean in one language.",
    )
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        section = sections(PICKERS)
        with pickers_popover("Filter", FILTERS, "Choose features, and the systems in focus."):
            picked, chosen = filters(shown)
        names = picked or (drawn_features(shown) if section == "By language" else shown.features)
    draw: dict[str, Callable[[], dict[str, Any]]] = {
        "By language": lambda: panels(page, shown, names, chosen),
        "Means": lambda: over(shown, names),
        "Correlation": lambda: show_correlation(page, shown, names),
    }
    facts = draw[section]()
    agreement.show_citations(page, codes)
    show_cited_languages(page, codes)
    measures = (OF_FEATURE + "citation_precision", NUGGETS, *(OF_FEATURE + name for name in shown.features))
    corrected_section(page, tuple(dict.fromkeys(measures)), codes)
    page.download(
        "features",
        shown.everything,
        about={"languages": codes, "means": "mean over answers with a value; 95% t interval", **facts},
    )


def measure_features(page: Page, codes: Sequence[str]) -> None:
    """Take the means language by language, and say how far it is where that takes a while."""
    began, bar = time.monotonic(), None
    for k, code in enumerate(codes):
        views.of_language(page.arena, code)
        if time.monotonic() - began > PATIENCE:
            text = f"Averaging {page.arena.rows('features'):,} measurements: {name_of(code)}"
            bar = bar or st.progress(0.0)
            bar.progress((k + 1) / len(codes), text=text)
    if bar is not None:
        bar.empty()


def filters(shown: views.Overview) -> tuple[list[str], list[str]]:
    """Pick features (none means all) and systems to highlight."""
    names = pick_many(
        "Features",
        shown.features,
        key="features",
        kind="feature",
        placeholder=f"All {len(shown.features)} features",
        help="Features to show. Default: all.",
    )
    chosen = pick_many(
        "Systems in focus",
        shown.systems,
        key="systems",
        kind="system",
        placeholder=f"{min(len(shown.systems), views.FOCUS)} of {len(shown.systems)}",
        help=f"Systems drawn one by one, at most {MOST_DRAWN}. Default: {views.FOCUS} spread over the ranking. Tables "
        "show all systems.",
    )
    return list(names), list(chosen)


def systems_in_focus(page: Page, shown: views.Overview, chosen: Sequence[str]) -> tuple[str, ...]:
    """Return the systems that are drawn one by one, and show their marks: those chosen, or some over the ranking."""
    n = len(shown.systems)
    if chosen:
        focus = tuple(chosen[:MOST_DRAWN])
        about = f"The first {MOST_DRAWN} of {len(chosen)} chosen systems. " if len(chosen) > MOST_DRAWN else ""
    else:
        ranked, judge = views.ranked_systems(page.arena, shown.systems)
        focus = views.spread(ranked)
        by = f"the ranking by {judge}" if judge else "their names in order"
        about = f"{len(focus)} of {n} systems, spread over {by}; choose others under Filter. " if len(focus) < n else ""
    legend(focus)
    note(f"{about}Grey: range of {'both' if n == 2 else f'all {n}'} systems; the line across is their mean.")
    return focus


def panels(page: Page, shown: views.Overview, names: Sequence[str], chosen: Sequence[str]) -> dict[str, Any]:
    """Show one panel per feature, with links for a clicked dot above them."""
    focus = systems_in_focus(page, shown, chosen)
    place = st.empty()
    clicked = chart(
        charts.panels(
            shown.by_feature,
            features=tuple(names),
            languages=shown.languages,
            focus=focus,
            mode=mode(),
        ),
        key="panels",
        alt="Mean of the systems in focus in every language over the range of all systems, one panel per feature.",
        select=True,
        # Marks of several systems in many languages need room: on a phone the panels scroll sideways.
        wide=len(shown.languages) * len(focus) > NARROW,
        name=f"{page.arena.name}-features",
    )
    if clicked:
        with place.container():
            onward(shown, *clicked)
    return {"systems in focus": list(focus)}


def drawn_features(shown: views.Overview) -> tuple[str, ...]:
    """Return the panels to draw if no feature is selected: those in which systems differ most, or all."""
    if len(shown.features) <= MOST:
        return shown.features
    which = pick_segments(
        "Panels",
        ("differing", "all"),
        key="panel",
        kind="choice of panels",
        help=f"differing: the {FEW} features with the largest share of variance between systems, language effects "
        f"removed. all: all {len(shown.features)} features with values.",
    )
    return shown.features if which == "all" else shown.differing[:FEW]


def onward(shown: views.Overview, system: str, language: str, feature: str) -> None:
    """Link from a dot to its answers."""
    row = next((r for r in shown.by_feature.get(feature, ()) if (r.system, r.language) == (system, language)), None)
    if row is None:
        return
    with st.container(horizontal=True, gap="medium", vertical_alignment="center"):
        st.markdown(
            f"**{plain(system)}** in {name_of(language)}: {plain(charts.title(feature))} "
            f"{charts.value_text(row.mean)}, n = {row.n:,} of {row.total:,}",
            width="content",
        )
        ui_onward("answers", "Read these answers", languages=(language,), systems=system)


def over(shown: views.Overview, names: Sequence[str]) -> dict[str, Any]:
    """Systems by features over the languages, and all that is known of one feature."""
    columns = [Col("system", "System", "system", help="System name.")]
    for feature in names:
        spec = FEATURES.get(feature)
        about = f"{spec.meaning} {charts.direction_text(feature).capitalize()}." if spec else ""
        columns.append(Col(feature, charts.title(feature), kind(feature), help=about, width=104))
    table(shown.matrix, columns, key="feature_matrix")
    st.caption(
        "Unweighted mean over languages. –: no answer has a value. Intervals, n and coverage are below and in the "
        "download."
    )
    feature = pick_feature(names)
    if spec := FEATURES.get(feature):
        st.caption(plain(f"{spec.meaning} {charts.direction_text(feature).capitalize()}. {spec.source}"))
    values(shown, feature)
    return {"feature": feature}


def kind(feature: str) -> Any:
    """Return the format of a feature's values."""
    spec = FEATURES.get(feature)
    wide = spec is not None and spec.low == 0 and spec.high is None
    return "mean" if wide else "probability"


def pick_feature(names: Sequence[str]) -> str:
    """Show the picker of the feature to show in full."""
    feature: str = pick("Feature", names, key="feature", kind="feature", width=300)
    return feature


def values(shown: views.Overview, feature: str) -> None:
    """Show every system's mean of one feature with its interval, n and coverage."""
    spec = FEATURES.get(feature)
    interval = f"95% interval of the mean over languages, clustered by {name_unit(shown.unit)}."
    mean = Col("mean", "Mean", kind(feature), f"Mean over the languages. {spec.meaning if spec else ''}")
    coverage = "Share of answers with a value; the download gives reasons for the others."
    columns = (
        Col("system", "System", "system", help="System name."),
        mean,
        Col("mean", "Interval", "interval", interval, low="low", high="high", width=112),
        Col("low", "Low", kind(feature), help="Lower end of the interval.", width=62),
        Col("high", "High", kind(feature), help="Upper end of the interval.", width=62),
        Col("n", "n", "count", help="Answers with a value.", width=70),
        Col("coverage", "Coverage", "rate", help=coverage),
        Col("languages", "Lang.", "count", help="Number of languages with a value.", width=56),
    )
    table(shown.over[feature], columns, key="feature_values")


def show_correlation(page: Page, shown: views.Overview, names: Sequence[str]) -> dict[str, Any]:
    """Show the correlation of features with the rating: the map, and one feature with intervals."""
    judges = judges_of_arena(page.arena)
    if not judges:
        st.caption("No ratings in this arena yet, so nothing to correlate features with.")
        return {}
    with st.container(horizontal=True, gap="medium"):
        judge = who.judge_with_skill(judges, "Provides the ratings.")
    try:
        relations = views.feature_relations(page.arena, judge, shown.languages)
    except MirageError as error:
        refuse(error)
        return {}
    rows = [row for row in relations if row.feature in names]
    if not rows:
        st.caption("No ratings in these languages.")
        return {}
    languages = sorted({row.language for row in rows}, key=lambda code: (code != "all", code))
    cell = chart(
        charts.relation_map(rows, features=tuple(names), languages=tuple(languages), mode=mode()),
        key="relation_map",
        alt="Kendall's tau of every feature with the rating in every language.",
        select=True,
        wide=True,
    )
    if cell and st.session_state.get("_features_cell") != cell:
        st.session_state["feature"] = cell[0]
    st.session_state["_features_cell"] = cell
    method = (
        f"Kendall’s tau-b between system means of the feature and ratings by {judge.name}; 95% percentile interval, "
        f"{DRAWS} bootstrap draws of systems"
    )
    st.caption(
        plain(
            f"{method}. Hollow: interval includes 0 or is missing. Correlation is not causation. Hover for interval "
            "and n; click a cell for details below."
        )
    )
    feature = pick_feature(names)
    if feature_rows := [row for row in rows if row.feature == feature]:
        chart(
            charts.relation_whiskers(feature_rows, mode=mode()),
            key="relation_whiskers",
            alt=f"Kendall's tau of {charts.title(feature)} with the rating in every language.",
        )
    return {
        "feature": feature,
        "judge": judge.name,
        "skill": judge.skill,
        "correlation": method,
        "relations": [asdict(row) for row in rows],
    }


def show_cited_languages(page: Page, codes: tuple[str, ...]) -> None:
    """Show one system's preference by languages of query and cited passage; nothing if passages are in one language."""
    rows = views.preference(page.arena, codes)
    if not rows:
        return
    heading("Languages of cited passages")
    system = pick("System", sorted({row.name for row in rows}), key="cited_of", kind="system", width=300)
    own = [row for row in rows if row.name == system]
    claim = "No significant preference for the query's language."
    if any(row.significant for row in own if row.passage_language == OWN):
        claim = "Significantly prefers the query's language."
    note(
        "Share of a language in the cited passages, minus its share in the passages shown, within relevance classes, "
        f"in points. {claim} Hover for interval and n."
    )
    shown = [{**asdict(row), "value": row.preference} for row in own]
    show_pairs(shown, key="cited_pairs", alt=f"Language preference of {system}.", signed=True)


show("features", main)
