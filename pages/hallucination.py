"""Page Hallucination: answers without evidence, and abstentions despite it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

from mirage.explorer.hallucination import attribution, charts, sections
from mirage.explorer.hallucination import data as views
from mirage.explorer.kit.chart import chart
from mirage.explorer.kit.frame import Page, show
from mirage.explorer.kit.labels import labels_of, mark_labels, tell_audit
from mirage.explorer.kit.layout import side_by_side
from mirage.explorer.kit.levels_section import corrected_section
from mirage.explorer.kit.pick import pick_many, pick_segments, pickers_popover
from mirage.explorer.kit.sections import sections as pick_section
from mirage.explorer.kit.table import Col, column, estimate, mode, table
from mirage.explorer.kit.text import heading, note
from mirage.publish.charts.palette import FORMATS
from mirage.ranking.compare.measures import RATE as RATE_MEASURE
from mirage.schema import Parser
from mirage.stages.across.summary import is_cross_lingual
from mirage.text.segmentation import as_sentence, count_text, join_or_count

TRADE_OFF = "Hallucination rate against error rate of every system; lower left is best."
MOST = 4
"""Systems whose rates by language are drawn with intervals."""
_write = FORMATS["rate"].write


def main(page: Page) -> None:
    """Show what the arena has: rates computed from its outcomes, or the printed ones."""
    if "outcomes" in page.arena.tables:
        _show_computed(page)
        return
    if "published" in page.arena.tables and (rates := views.printed_rates(page.arena, page.picked)):
        _show_printed(page, rates)
        return
    sections.show_retrievers(page)
    page.need("outcomes")


def _show_computed(page: Page) -> None:
    """Show rates computed from the arena's outcomes."""
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        about = ". ".join(f"{name}: {meaning}" for name, meaning in sections.SAYS.items())
        definition = pick_segments(
            "Rate",
            tuple(sections.SAYS),
            key="definition",
            kind="definition",
            help=f"{about}, as in the papers' tables. The table shows both.",
        )
        focus, parser = _options(page, definition)
    labels = labels_of(page)
    mark_labels(page, labels)
    figures = views.published_arena(page.arena)
    rates = views.both_rates(page.arena, figures, parser, definition, page.picked, labels)
    rows, cells = rates.systems.to_pylist(), rates.cells.to_pylist()
    order = [row["system"] for row in rows]
    answer = _answer(rows)
    if labels.unaudited:
        answer = f"{answer.removesuffix('.')} (labels not audited)." if answer else "The labels are not audited."
    page.summary(_summary(page, rates, cells), conclusion=answer)
    tell_audit(labels)
    if unparsed := views.unparsed_note(page.arena, parser, page.languages("outcomes")):
        note(as_sentence(unparsed))
    left, right = side_by_side((320, 1), (320, 99), key="top")
    with left:
        figure = charts.trade_off(rows, mode=mode(), focus=focus)
        clicked = chart(figure, key="trade_off", alt=TRADE_OFF, select=True)
        if len(rows) > charts.NAMED:
            note(f"{charts.NAMED} of {len(rows):,} systems are labelled; hover for the others.")
    with right:
        columns = _columns(definition, audited=labels.audit is not None)
        picked = table(rates.systems, columns, key="rates", select=True)
        chosen = order[picked] if picked is not None else clicked[0] if clicked else None
        if chosen:
            for metric in views.SUBSETS:
                sections.answer_links(cells, parser, chosen, metric)
        else:
            note(
                "Sorted by hallucination rate; click a system to read its answers. Crosses: 95% intervals. Dotted "
                "line: answers as often without evidence as with it."
            )
    few = list(dict.fromkeys([*focus, *([chosen] if chosen else [])] or _notable(rows) or order[:2]))[:MOST]
    draw: dict[str, Callable[[], None]] = {
        "By language": lambda: sections.show_by_language(rates, cells, order, few, parser),
        "Outcomes": lambda: sections.show_outcomes(rates, cells, order, parser),
        "Errors": lambda: sections.show_errors(page, parser),
        "Confusion": lambda: sections.show_confusion(page, parser),
    }
    if labels.audit is not None:
        draw["Label errors"] = lambda: sections.show_label_errors(rates)
    if is_cross_lingual(page.arena):
        draw["Languages"] = lambda: sections.show_languages(page, parser)
    if (prompts := views.by_template(page.arena, parser, page.languages("outcomes"))) is not None:
        draw["By prompt"] = lambda: sections.show_prompts(prompts)
    if figures is not None and views.paper_tables(figures):
        draw["Paper tables"] = lambda: sections.show_paper(rates, figures, page)
    if attribution.signals(page.arena):
        draw["Risk-coverage"] = lambda: sections.show_risk_coverage(page, parser)
    draw[pick_section({name: sections.PICKERS.get(name, ()) for name in draw})]()
    corrected_section(page, (RATE_MEASURE,), page.languages("outcomes"), parser=parser)
    page.download(
        "hallucination",
        rates.cells,
        about={
            "parser": parser,
            "value": sections.SAYS[definition],
            "other": sections.SAYS[_other(definition)],
            "language all": "unweighted mean over languages",
            "printed": rates.reference or "no printed figures",
            "labels": "not audited" if labels.unaudited else "audited" if labels.audit else "people's",
        },
    )


def _other(definition: str) -> str:
    """Return the definition that is not chosen."""
    return next(name for name in sections.SAYS if name != definition)


def _options(page: Page, definition: views.Definition) -> tuple[list[str], Parser]:
    """Pick the systems in focus, and the parser; as published, it is the papers'."""
    names, parsers = views.systems(page.arena), views.parsers(page.arena)
    with pickers_popover("Options", ("systems", "parser"), "Systems to highlight, and the answer parser."):
        focus: list[str] = pick_many(
            "Highlight",
            names,
            key="systems",
            kind="system",
            placeholder=f"All {len(names)} systems",
            width=300,
            help="Highlights these systems in the scatter and draws their rates by language. The table shows all.",
        )
        if definition == "as-published" and "published" in parsers:
            return focus, "published"
        parser: Parser = pick_segments(
            "Parser",
            parsers,
            key="parser",
            kind="parser",
            help="strict: corrected parser for any language. published: NoMIRACL's rules, which reproduce the "
            "printed figures.",
        )
    return focus, parser


def _show_printed(page: Page, rates: views.Rates) -> None:
    """Show the rates that the NoMIRACL paper prints."""
    page.label("published figures")
    rows, cells, languages = rates.systems.to_pylist(), rates.cells.to_pylist(), rates.languages["error"]
    page.summary(
        f"NoMIRACL: rates of {count_text(len(rows), 'system')} in {count_text(len(languages), 'language')} as printed: "
        "1 − accuracy, undecided answers count as wrong decisions. The paper prints no n or intervals.",
        conclusion=_answer(rows),
    )
    left, right = side_by_side((400, 1), (400, 1), key="top", gap="medium")
    with left:
        chart(charts.trade_off(rows, mode=mode()), key="trade_off", alt=TRADE_OFF)
    with right:
        columns = [Col("system", "System", "system", help="System name in the published outputs.")]
        for metric, title in charts.RATES.items():
            about = f"{sections.MEANING[metric]}, as printed; mean over the languages shown. Lower is better."
            columns.append(Col(f"{metric}_value", title, "rate", about, width=132))
        table(rates.systems, columns, key="printed_rates")
        note(f"Sorted by hallucination rate. Source: {rates.reference}.")
    heading("By language")
    metric = pick_segments("Cells", tuple(views.SUBSETS), key="rate", kind="rate", help=sections.WHICH)
    note(f"{charts.RATES[metric]} in percent, as printed; darker is better.")
    systems = [row["system"] for row in rows]
    chart(
        charts.rate_map(cells, systems=systems, languages=languages, metric=metric, mode=mode()),
        key="printed_by_language",
        alt=f"{charts.RATES[metric]} of every system in every language, as printed.",
        wide=True,
    )
    if views.paper_tables(page.arena):
        sections.show_paper_tables(page.arena, None, page.picked)
    shown = rates.cells.select(["metric", "language", "subset", "system", "printed"])
    page.download("printed_rates", shown, about={"printed": rates.reference})


def _columns(definition: str, *, audited: bool) -> list[Col]:
    """Return the columns of the table: for either rate the chosen definition, then the other; then their n.

    With an audit of labels, the corrected rate follows the printed one, and the audited queries follow n.
    """
    other = _other(definition)
    columns = [column("outcomes", "system", width=164)]
    for metric, label in sections.SHORT.items():
        queries = charts.QUERIES[metric]
        about = f"{sections.MEANING[metric]}: {sections.SAYS[definition]}. Lower is better. Languages weigh the same."
        value = Col(f"{metric}_value", label, "rate", about, width=58)
        about = f"{metric} rate with 95% Wilson interval; left is better."
        columns += estimate(value, stem=metric, width=48, about=about)
        if audited:
            about = f"{metric} rate over decided answers, corrected for the label errors that people's audit found."
            corrected = Col(f"{metric}_corrected", "corr.", "rate", about, width=58)
            about = f"Corrected {metric} rate with its 95% interval, which carries the audit's uncertainty."
            columns += estimate(corrected, width=48, about=about)
        head = "as publ." if other == "as-published" else "decided"
        about = f"{metric} rate by the other definition: {sections.SAYS[other]}."
        columns.append(Col(f"{metric}_other", head, "rate", about, width=58))
        about = (
            f"Share of answers to {queries} that are undecided: clarification questions, unparsed, empty or API errors."
        )
        columns.append(Col(f"{metric}_undecided", "undec.", "rate", about, width=54))
        n, of = ("decided", "Classified answers") if definition == "decided" else ("n", "Answers")
        columns.append(Col(f"{metric}_{n}", "n", "count", f"{of} to {queries} (n).", width=48))
        if audited:
            about = f"Audited {queries} behind the corrected rate."
            columns.append(Col(f"{metric}_audited", "audited", "count", about, width=58))
    return columns


def _summary(page: Page, rates: views.Rates, cells: Sequence[Mapping[str, Any]]) -> str:
    """Describe the data behind the numbers, and what is missing."""
    answers = sum(cell["n"] for cell in cells if cell["language"] == "all")
    noun = "real answers" if page.arena.label == "real replies" else "answers"
    behind = " and ".join(
        f"{rates.queries[metric]:,} {charts.QUERIES[metric]} in {count_text(len(codes), 'language')}"
        for metric, codes in rates.languages.items()
        if codes
    )
    missing = f" Missing: {sections.missing_words(rates)}." if rates.lacking else ""
    return f"{answers:,} {noun} of {rates.systems.num_rows} systems to {behind}.{missing}"


def _notable(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the systems with the lowest rate of either kind, and the one nearest to the best corner; none of one."""
    h, e = "hallucination_value", "error_value"
    both = [row for row in rows if row[h] is not None and row[e] is not None]
    if len(both) < 2:
        return []
    keys: tuple[Callable[[Mapping[str, Any]], float], ...] = (
        lambda row: row[h],
        lambda row: row[e],
        lambda row: row[h] ** 2 + row[e] ** 2,
    )
    return [min(both, key=key)["system"] for key in keys]


def _answer(rows: Sequence[Mapping[str, Any]]) -> str:
    """Answer the page's question in words; systems with the same lowest rate are named together."""
    if not (notable := _notable(rows)):
        return ""
    by_name = {row["system"]: row for row in rows}
    *lowest, best = (by_name[name] for name in notable)
    values = [f"{metric}_value" for metric in views.SUBSETS]
    tied = [
        [row["system"] for row in rows if row[value] is not None and abs(row[value] - low[value]) < 1e-9]
        for value, low in zip(values, lowest, strict=True)
    ]
    if tied[0] == tied[1] == [notable[0]]:
        return (
            f"{best['system']} has the lowest rates: hallucination {_rate(best, 'hallucination')}, "
            f"error {_rate(best, 'error')}."
        )
    balanced = [
        row["system"]
        for row in rows
        if all(row[f"{metric}_value"] == best[f"{metric}_value"] for metric in views.SUBSETS)
    ]
    return (
        f"Lowest hallucination rate: {join_or_count(tied[0], 'system')}, {_rate(lowest[0], 'hallucination')}. "
        f"Lowest error rate: {join_or_count(tied[1], 'system')}, {_rate(lowest[1], 'error')}. "
        f"Best balance: {join_or_count(balanced, 'system')} "
        f"({_write(best['hallucination_value'])} and {_write(best['error_value'])})."
    )


def _rate(row: Mapping[str, Any], metric: str) -> str:
    """Return a rate with its interval and its own n, where there are any."""
    value, rate, low, high = (row.get(f"{metric}_{name}") for name in ("value", "rate", "low", "high"))
    n = row.get(f"{metric}_decided" if value == rate else f"{metric}_n")
    if low is None or high is None or not n:
        return _write(value)
    return f"{_write(value)} (95% interval {_write(low)} to {_write(high)}, n = {n:,})"


show("hallucination", main)
