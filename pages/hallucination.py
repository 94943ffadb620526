"""Page Hallucination: who makes things up, and who gives up?"""

from collections.abc import Callable, Sequence
from functools import partial

import streamlit as st

from mirage.explorer.hallucination import charts, sections
from mirage.explorer.kit.chart import chart
from mirage.explorer.kit.frame import Page, show
from mirage.explorer.kit.labels import labels_of, mark_labels, tell_audit
from mirage.explorer.kit.layout import side_by_side
from mirage.explorer.kit.levels_section import corrected_section
from mirage.explorer.kit.pick import pick, pick_many, pick_segments, pickers_popover
from mirage.explorer.kit.pick import sections as pick_section
from mirage.explorer.kit.table import Col, column, drop_constant, estimate, mode, table, table_svg
from mirage.explorer.kit.text import heading, note
from mirage.ranking.compare.measures import RATE as RATE_MEASURE
from mirage.schema import Parser
from mirage.stages.across import is_cross_lingual
from mirage.text.segmentation import count_text
from mirage.views import printed
from mirage.views import rates as views
from mirage.views.rates import RateChoice, RatesView

TRADE_OFF = "Hallucination rate against error rate of every system; lower left is best."
OPTIONS = ("definition", "systems", "parser")
"""Keys of the pickers that most readers leave at their defaults."""


def main(page: Page) -> None:
    """Show the rates computed from the arena's outcomes, or the printed ones."""
    if "outcomes" in page.arena.tables:
        _show_computed(page)
        return
    if "published" in page.arena.tables and (rates := views.printed_view(page.arena, page.picked)):
        _show_printed(page, rates)
        return
    sections.show_retrievers(page)
    page.need("outcomes")


def _show_computed(page: Page) -> None:
    """Show rates computed from the arena's outcomes."""
    figures = views.published_arena(page.arena)
    row = st.container(horizontal=True, gap="medium", vertical_alignment="bottom")
    with row:
        place = st.container(width="content")
        definition, focus, parser = _options(page)
    labels = labels_of(page)
    mark_labels(page, labels)
    rates = views.rates_view(page.arena, RateChoice(page.picked, parser, definition), labels.labels, figures)
    order = rates.systems["system"].to_pylist()
    columns, constant = drop_constant(rates.systems, _columns(definition, fewer=bool(rates.fewer)))
    each = f" Each system: {constant}." if constant else ""
    page.summary(_summary(page, rates) + each, conclusion=rates.conclusion)
    tell_audit(labels)
    draw: dict[str, Callable[[], None]] = {}
    if rates.unclassified and all(
        rates.systems[f"{metric}_value"].null_count == len(order) for metric in views.SUBSETS
    ):
        note(rates.unclassified)
    else:
        _show_rates(rates, columns, focus)
        draw["By language"] = lambda: sections.show_by_language(rates, order)
    draw["Errors"] = lambda: _show_errors(page, rates, parser, audited=labels.labels.audit is not None)
    if figures is not None and printed.paper_tables(figures):
        draw["Paper tables"] = lambda: sections.show_paper(rates, figures, page)
    with place:
        section = pick_section({name: sections.PICKERS[name] for name in draw})
    draw[section]()
    corrected_section(page, (RATE_MEASURE,), page.languages("outcomes"), parser=parser)
    page.download(
        "hallucination",
        lambda: rates.everything,
        about={
            "parser": parser,
            "value": sections.SAYS[definition],
            "language all": "unweighted mean over languages",
            "printed": rates.reference or "no printed figures",
            "labels": labels.state,
        },
        picture=partial(table_svg, rates.systems, columns),
        beside=True,
    )


def _show_rates(rates: RatesView, columns: Sequence[Col], focus: Sequence[str]) -> None:
    """Show both rates of every system, as a chart and a table, and the links of the chosen one."""
    left, right = side_by_side((320, 1), (320, 99), key="top")
    with left:
        figure = charts.trade_off(rates, tuple(focus), mode())
        clicked = chart(figure, key="trade_off", alt=TRADE_OFF, select=True)
    with right:
        picked = table(rates.systems, columns, key="rates", select=True)
        chosen = rates.systems["system"][picked].as_py() if picked is not None else clicked[0] if clicked else None
        if chosen:
            for metric in views.SUBSETS:
                sections.answer_links(rates, chosen, metric)
        else:
            note("Click a system to read its answers. Crosses: 95% intervals.")
    if rates.unclassified:
        with st.expander("Some answers could not be classified"):
            note(rates.unclassified)


def _show_errors(
    page: Page,
    rates: RatesView,
    parser: Parser,
    *,
    audited: bool,
) -> None:
    """Show one view of the errors, by default the causes."""
    row = st.container(horizontal=True, gap="medium")
    draw: dict[str, Callable[[], None]] = {
        "causes": lambda: sections.show_causes(page, parser, row),
        "confusion matrix": lambda: sections.show_confusion(rates, page.languages("outcomes"), row),
    }
    if audited:
        draw["label errors"] = lambda: sections.show_label_errors(rates)
    if is_cross_lingual(page.arena):
        draw["passage languages"] = lambda: sections.show_languages(page, parser, row)
    if views.has_prompts(page.arena):
        draw["prompts"] = lambda: sections.show_prompts(views.prompts_view(page.arena, RateChoice(page.picked, parser)))
    with row:
        view = pick("View", tuple(draw), key="view", kind="view of the errors", width=200)
    draw[view]()


def _options(page: Page) -> tuple[views.Definition, list[str], Parser]:
    """Pick how unclassified answers count, the systems in focus, and the parser (as published, the paper's)."""
    names, parsers = views.systems(page.arena), views.parsers(page.arena)
    with pickers_popover("Options", OPTIONS, "Definition of the rates, systems to highlight, and the parser."):
        definition: views.Definition = pick_segments(
            "Unclassified answers",
            tuple(sections.SAYS),
            key="definition",
            kind="definition",
            help=". ".join(f"{name}: {meaning}" for name, meaning in sections.SAYS.items()) + ", as in the papers.",
        )
        focus: list[str] = pick_many(
            "Highlight",
            names,
            key="systems",
            kind="system",
            placeholder=f"All {len(names)} systems",
            width=300,
            help="Highlights these systems in the scatter.",
        )
        if definition == "count" and "published" in parsers:
            return definition, focus, "published"
        parser: Parser = pick_segments(
            "Parser",
            parsers,
            key="parser",
            kind="parser",
            help="strict: corrected parser for any language. published: NoMIRACL's rules, which reproduce the "
            "printed figures.",
        )
    return definition, focus, parser


def _show_printed(page: Page, rates: RatesView) -> None:
    """Show the rates that the NoMIRACL paper prints."""
    page.label("published figures")
    rows, languages = rates.systems.to_pylist(), rates.languages["error"]
    page.summary(
        f"NoMIRACL: rates of {count_text(len(rows), 'system')} in {count_text(len(languages), 'language')} as printed: "
        "1 − accuracy, unclassified answers count as wrong. The paper prints no n or intervals.",
        conclusion=rates.conclusion,
    )
    left, right = side_by_side((400, 1), (400, 1), key="top", gap="medium")
    with left:
        chart(charts.trade_off(rates, (), mode()), key="trade_off", alt=TRADE_OFF)
    with right:
        columns = [Col("system", "System", "system", "System name in the published outputs.")]
        for metric, title in views.TITLES.items():
            about = f"{sections.MEANING[metric]}, as printed; mean over the languages shown. Lower is better."
            columns.append(Col(f"{metric}_value", title, "rate", about, width=132))
        table(rates.systems, columns, key="printed_rates")
        note(f"Source: {rates.reference}.")
    heading("By language")
    metric = pick_segments("Rate", tuple(views.SUBSETS), key="rate", kind="rate", help=sections.WHICH)
    note(f"{views.TITLES[metric]} in percent, as printed; {sections.best_shade()} is better.")
    systems = [row["system"] for row in rows]
    chart(
        charts.rate_map(rates, tuple(systems), languages, metric, mode()),
        key="printed_by_language",
        alt=f"{views.TITLES[metric]} of every system in every language, as printed.",
        wide=True,
    )
    if printed.paper_tables(page.arena):
        heading("Paper tables")
        sections.show_paper_tables(page.arena, None, page.picked)
    shown = rates.cells.select(["metric", "language", "subset", "system", "printed"])
    slide = partial(table_svg, rates.systems, columns)
    page.download("printed_rates", lambda: shown, about={"printed": rates.reference}, picture=slide, beside=True)


def _columns(definition: views.Definition, *, fewer: bool) -> list[Col]:
    """Return the columns of the table: both rates with their intervals, then the answers and the unclassified share.

    Args:
        definition: definition of the rates.
        fewer: whether some mean is over fewer languages than the others.
    """
    columns = [column("outcomes", "system", width=176)]
    for metric, label in sections.SHORT.items():
        about = f"{sections.MEANING[metric]}: {sections.SAYS[definition]}. Lower is better. Languages weigh the same."
        about += " In brackets: languages with a rate, where some have none." if fewer else ""
        width = 118 if fewer else 92 if metric == "hallucination" else 60
        value = Col(f"{metric}_value", label, "rate", about, width=width, remark=f"{metric}_fewer")
        columns += estimate(
            value, stem=metric, width=100, about=f"{metric} rate with 95% Wilson interval; left is better."
        )
    about = "Share of the answers that are unclassified: clarification questions, unparsed, empty or API errors."
    columns.append(Col("unclassified", "Unclassified", "rate", about, width=84))
    columns.append(Col("answers", "Answers", "count", "Answers to unanswerable and answerable queries.", width=66))
    return columns


def _summary(page: Page, rates: RatesView) -> str:
    """Describe the data behind the numbers, and what is missing."""
    noun = "real answers" if page.arena.label == "real replies" else "answers"
    behind = " and ".join(
        f"{rates.queries[metric]:,} {views.QUERIES[metric]} in {count_text(len(codes), 'language')}"
        for metric, codes in rates.languages.items()
        if codes
    )
    return f"{rates.answers:,} {noun} of {rates.systems.num_rows} systems to {behind}."


show("hallucination", main)
