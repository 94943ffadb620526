"""Page Features: what makes an answer good, and which systems lack it."""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

import streamlit as st

from mirage.battles.judge import judges as judges_of_arena
from mirage.errors import MirageError
from mirage.explorer.features import charts
from mirage.explorer.kit import judge as who
from mirage.explorer.kit.chart import chart
from mirage.explorer.kit.frame import Page, link_row, show, show_page_link, stop
from mirage.explorer.kit.levels_section import corrected_section
from mirage.explorer.kit.pick import pick, pick_many, pick_segments, pickers_popover, sections
from mirage.explorer.kit.states import first_time, refuse
from mirage.explorer.kit.table import Col, band, column, legend, mode, table
from mirage.explorer.kit.text import note, plain
from mirage.ranking.compare.measures import NUGGETS, OF_FEATURE
from mirage.stages.features.families import FEATURES
from mirage.stages.features.relations import DRAWS
from mirage.text.languages import in_language
from mirage.text.segmentation import count_text, join_or_count
from mirage.views.features import FeatureChoice, FeaturesView, feature_title, features_view

FEW, MOST = 3, 6
"""Panels drawn by default; maximum number of features to draw all of, and of columns of the table of means."""
MOST_DRAWN, NARROW = 2, 30
"""Maximum number of systems in focus; and number of marks that fit in a panel's row at a phone's width."""
FILTERS = ("features", "systems")
"""Keys of the pickers that most readers leave at their defaults."""
EVERY = "all features"
"""Option that shows the table of all features."""
PICKERS = {"By language": ("panel",), "Means": ("feature",), "Correlation": ("judge", "skill")}
"""The pickers of each section."""


def main(page: Page) -> None:
    """Show one section: panels by language, means or correlation with the rating."""
    page.need("features")
    codes = page.languages("features")
    if not codes:
        st.info("No measured answers in the selected languages.")
        stop()
    with first_time(f"Averaging {page.arena.rows('features'):,} measurements ...", page.arena):
        shown = features_view(page.arena, FeatureChoice(page.picked))
    if not shown.features:
        st.info("No feature values in these languages.")
        stop()
    counts = (
        f"{count_text(shown.answers, 'answer')} of {count_text(len(shown.systems), 'system')} in "
        f"{count_text(len(codes), 'language')}, {count_text(len(shown.features), 'feature')}."
    )
    page.summary(" ".join((counts, *shown.remarks)), conclusion=shown.conclusion)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        # If no feature correlates with the rating, the means say more than panels.
        clear = [row.feature for row in shown.related if row.clear]
        means_first = shown.related and not clear
        section = sections(dict(sorted(PICKERS.items(), key=lambda item: means_first and item[0] != "Means")))
        with pickers_popover("Options", (*FILTERS, "panel"), "Choose features, and the systems in focus."):
            picked, chosen = filters(shown)
            telling = drawn_features(shown, clear) if section == "By language" else shown.features
        names = picked or telling
    draw: dict[str, Callable[[], dict[str, Any]]] = {
        "By language": lambda: panels(page, shown, names, chosen),
        "Means": lambda: show_means(shown, picked or [row.feature for row in shown.related] or shown.features),
        "Correlation": lambda: show_correlation(page, names),
    }
    facts = draw[section]()
    if section == "Means":
        measures = (OF_FEATURE + "citation_precision", NUGGETS, *(OF_FEATURE + name for name in shown.features))
        corrected_section(page, tuple(dict.fromkeys(measures)), codes)
    page.download(
        "features",
        lambda: shown.everything,
        about={"languages": codes, "means": "mean over answers with a value; 95% t interval", **facts},
    )


def filters(shown: FeaturesView) -> tuple[list[str], list[str]]:
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
        placeholder=f"{min(len(shown.systems), MOST_DRAWN)} of {len(shown.systems)}",
        help=f"Up to {MOST_DRAWN} systems drawn one by one. Default: first and last of the ranking. Tables show all.",
    )
    return list(names), list(chosen)


def systems_in_focus(shown: FeaturesView, names: Sequence[str], chosen: Sequence[str]) -> tuple[str, ...]:
    """Return the systems that are drawn one by one, and show their marks: those chosen, or the ends of the ranking of
    systems with values.
    """
    n = len(shown.systems)
    if chosen:
        focus, about = tuple(chosen[:MOST_DRAWN]), ""
    else:
        focus, about = shown.ends_of_ranking(names)
    legend(focus)
    if n > 1:
        note(f"{about}Grey: range of {'both' if n == 2 else f'all {n}'} systems; the line across is their mean.")
    return focus


def panels(page: Page, shown: FeaturesView, names: Sequence[str], chosen: Sequence[str]) -> dict[str, Any]:
    """Show one panel per feature, with links for a clicked dot above them."""
    focus = systems_in_focus(shown, names, chosen)
    flat = [
        name for name in shown.features if name not in names and not charts.is_telling(shown.by_feature[name], name)
    ]
    if flat and len(shown.features) <= FEW:
        note(f"Not drawn, no visible difference: {join_or_count([feature_title(name) for name in flat], 'feature')}.")
    place = st.empty()
    clicked = chart(
        charts.panels(shown, tuple(names), focus, mode()),
        key="panels",
        alt="Mean of the systems in focus in every language over the range of all systems, one panel per feature.",
        select=True,
        # Marks of several systems in many languages need room: on a phone the panels scroll sideways.
        wide=len(shown.languages) * len(focus) > NARROW,
        name=f"{page.arena.name}-features",
    )
    if clicked:
        with place.container():
            link_to_answers(shown, *clicked)
    return {"systems in focus": list(focus)}


def drawn_features(shown: FeaturesView, clear: Sequence[str]) -> tuple[str, ...]:
    """Return the panels to draw if no feature is selected: those that correlate with the rating, else those with
    visible differences; or all.
    """
    telling = tuple(name for name in shown.features if charts.is_telling(shown.by_feature[name], name))
    first = tuple(clear[:FEW]) or telling[:FEW] or shown.features
    if len(shown.features) <= FEW:
        return first
    which = pick_segments(
        "Panels",
        ("rating", "all"),
        key="panel",
        kind="choice of panels",
        help=f"rating: the {FEW} features that correlate most with the rating. all: all {len(shown.features)} "
        "features with values.",
    )
    return shown.features if which == "all" else first


def link_to_answers(shown: FeaturesView, system: str, language: str, feature: str) -> None:
    """Link from a dot to its answers."""
    row = next((r for r in shown.by_feature.get(feature, ()) if (r.system, r.language) == (system, language)), None)
    if row is None:
        return
    value = f"{charts.value_text(row.mean)}, n = {row.n:,} of {row.total:,}"
    with link_row(system, f" {in_language(language)}: {plain(feature_title(feature))} {value}"):
        show_page_link("answers", "Read these answers", languages=(language,), systems=system)


def show_means(shown: FeaturesView, names: Sequence[str]) -> dict[str, Any]:
    """Show the systems by features over the languages, or one feature in detail."""
    feature: str = pick("Feature", (EVERY, *names), key="feature", kind="feature", width=300)
    if feature != EVERY:
        if spec := FEATURES.get(feature):
            note(f"{spec.meaning.partition('. ')[0].rstrip('.')}. {charts.direction_text(feature).capitalize()}.")
        values(shown, feature)
        return {"feature": feature}
    columns = [column("outcomes", "system")]
    for name in names[:MOST]:
        spec = FEATURES.get(name)
        about = f"{spec.meaning} {charts.direction_text(name).capitalize()}." if spec else ""
        columns.append(band(name, feature_title(name), about, kind(name)))
    rows, least, most = shown.matrix(names[:MOST])
    table(rows, columns, key="feature_matrix")
    n, of = min(len(names), MOST), len(shown.features)
    more = "" if n == of else f" {n} of {of} features; choose others under Options."
    first = FEATURES.get(names[0])
    best = "best" if first is not None and first.direction != "none" else "highest"
    counts = f"{least:,}" if least == most else f"{least:,} to {most:,}"
    note(
        f"Unweighted mean over languages, {best} by {feature_title(names[0])} first; bands: 95% intervals. "
        f"n: {counts} answers per value; choose a feature for each.{more}"
    )
    return {}


def kind(feature: str) -> Any:
    """Return the format of a feature's values."""
    spec = FEATURES.get(feature)
    wide = spec is not None and spec.low == 0 and spec.high is None
    return "mean" if wide else "probability"


def values(shown: FeaturesView, feature: str) -> None:
    """Show every system's mean of one feature with its interval, n and coverage."""
    spec = FEATURES.get(feature)
    interval = f"95% interval of the mean over languages, clustered by {shown.unit}."
    mean = Col("mean", "Mean", kind(feature), f"Mean over the languages. {spec.meaning if spec else ''}")
    coverage = "Share of answers with a value; the download gives reasons for the others."
    columns = (
        column("outcomes", "system"),
        mean,
        Col("mean", "Interval", "interval", interval, low="low", high="high", width=112),
        Col("n", "n", "count", "Answers with a value.", width=70),
        Col("coverage", "Coverage", "rate", coverage),
        Col("languages", "Lang.", "count", "Number of languages with a value.", width=56),
    )
    table(shown.over[feature], columns, key="feature_values")


def show_correlation(page: Page, names: Sequence[str]) -> dict[str, Any]:
    """Show the correlation of features with the rating."""
    judges = judges_of_arena(page.arena)
    if not judges:
        st.caption("No ratings in this arena yet, so nothing to correlate features with.")
        return {}
    with st.container(horizontal=True, gap="medium"):
        judge = who.judge_with_skill(judges, "Provides the ratings.")
    try:
        shown = features_view(page.arena, FeatureChoice(page.picked, judge))
    except MirageError as error:
        refuse(error)
        return {}
    rows = [row for row in shown.correlations if row.feature in names]
    if not rows:
        st.caption("No ratings in these languages.")
        return {}
    languages = sorted({row.language for row in rows}, key=lambda code: (code != "all", code))
    chart(
        charts.relation_map(rows, features=tuple(names), languages=tuple(languages)),
        key="relation_map",
        alt="Kendall's tau of every feature with the rating in every language.",
        wide=True,
    )
    by = judge.phrase(page.arena)
    method = (
        f"Kendall’s tau-b between system means of the feature and ratings by {by}; 95% percentile "
        f"interval, {DRAWS} bootstrap draws of systems"
    )
    note("Kendall’s tau with the rating. Hollow: not significant. Correlation is not causation.")
    return {
        "judge": judge.name,
        "skill": judge.skill,
        "correlation": method,
        "relations": [asdict(row) for row in rows],
    }


show("features", main)
