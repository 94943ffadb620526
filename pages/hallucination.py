"""Page Hallucination: answers without evidence, and abstentions despite it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import streamlit as st

from mirage.explorer.answers import answer_card
from mirage.explorer.hallucination import attribution_section as attribution
from mirage.explorer.hallucination import chart as charts
from mirage.explorer.hallucination import data as views
from mirage.explorer.hallucination import languages_section
from mirage.explorer.hallucination import printed as tables
from mirage.explorer.hallucination import risk_coverage as views_withholding
from mirage.explorer.hallucination import risk_coverage_section as abstention
from mirage.explorer.hallucination.retrievers_section import show_retrievers
from mirage.explorer.kit.chart import chart
from mirage.explorer.kit.columns import Col
from mirage.explorer.kit.frame import Page, onward, show
from mirage.explorer.kit.labels import labels_of, mark_labels, tell_audit
from mirage.explorer.kit.levels_section import corrected_section
from mirage.explorer.kit.limits import page_systems
from mirage.explorer.kit.pick import pick, pick_language, pick_many, pick_segments, pickers_popover
from mirage.explorer.kit.plain_table import plain_table
from mirage.explorer.kit.sections import sections
from mirage.explorer.kit.side_by_side import side_by_side
from mirage.explorer.kit.states import badge
from mirage.explorer.kit.table import filter_rows, mode
from mirage.explorer.kit.table import table as show_table
from mirage.explorer.kit.text import heading, note, plain
from mirage.publish.charts.palette import FORMATS, ROW
from mirage.ranking.compare.measures import RATE as RATE_MEASURE
from mirage.schema import UNDECIDED, Parser
from mirage.stages.across.summary import is_cross_lingual
from mirage.store import Arena
from mirage.text.languages import in_order, name_of, search_name
from mirage.text.segmentation import as_sentence, count_text, join_or_count

if TYPE_CHECKING:
    import pyarrow as pa

RATE, COUNT = FORMATS["rate"].write, FORMATS["count"].write
SAYS = {
    "decided": "wrong decisions / decided answers",
    "as-published": "1 − accuracy by the papers' parser; undecided answers count as wrong decisions",
}
MEANING = {
    "hallucination": "Share of non-relevant queries (no passage answers them) that the system answers",
    "error": "Share of relevant queries (a passage answers them) on which the system abstains",
}
SHORT = {"hallucination": "Halluc.", "error": "Error"}
TRADE_OFF = "Hallucination rate against error rate of every system; lower left is best."
PRINTED = ["metric", "language", "subset", "system", "printed"]
WHICH = "hallucination: non-relevant queries. error: relevant queries."
MOST_BARS = 4
PAPER = {
    "Table 1": "Queries of each subset and split.",
    "Table 2": "English answers by pattern: sorted by hand in the paper, by rules here.",
    "Table 3": "Rates of one model under four prompts.",
    "Table 7": "Rates of two models before and after fine-tuning.",
}
"""What the tables of the NoMIRACL paper are about."""
PICKERS = {
    "By definition": ("order_rate", "drawn_order"),
    "By language": ("rate", "cells", "drawn_rates"),
    "Outcomes": ("drawn_outcomes",),
    "Errors": ("flow", "flow_in"),
    "Confusion": ("confusion",),
    "Languages": languages_section.PICKERS,
    "Paper tables": ("printed", "figures"),
    "Risk-coverage": abstention.PICKERS,
}
"""Keys of the pickers of every section that has some."""
_CORRECTED = {
    metric: (
        Col("system", "System", "system", help="The system."),
        Col("rate", title, "rate", help=f"{MEANING[metric]}, over decided answers, by the labels as they are."),
        Col("interval", "95% interval", "text", help="Wilson's interval, over queries only."),
        Col("decided", "n", "count", help="Decided answers."),
        Col("corrected", "Corrected", "rate", help="The rate corrected for label errors."),
        Col("corrected_interval", "95% interval", "text", help="Over queries and the audit."),
        Col("audited", "Audited", "count", help="Audited queries with the label."),
        Col("label_error", "Wrong labels", "rate", help="Share of the audited labels that are wrong."),
    )
    for metric, title in (("hallucination", "Hallucination"), ("error", "Error"))
}
"""Columns of the corrected rates."""
TALL = 15
"""Rows of a printed table that are shown without an inner scroll bar."""


def main(page: Page) -> None:
    """Show what the arena has: rates computed from its outcomes, or the printed ones."""
    if "outcomes" not in page.arena.tables and "published" in page.arena.tables:
        rates = views.printed_rates(page.arena, page.picked)
        if rates:
            _show_printed(page, rates)
            return
    if "outcomes" not in page.arena.tables:
        show_retrievers(page)
        page.need("outcomes")
    _show_computed(page)


def _show_computed(page: Page) -> None:
    """Rates computed from the arena's outcomes."""
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        definition = pick_segments(
            "Rate",
            tuple(SAYS),
            key="definition",
            kind="definition",
            help=f"decided: {SAYS['decided']}. as-published: {SAYS['as-published']}, as in the papers' tables. The "
            "table shows both.",
        )
        focus, parser = _options(page, definition)
    labels = labels_of(page)
    mark_labels(page, labels)
    rates = views.both_rates(page.arena, views.published_arena(page.arena), parser, definition, page.picked, labels)
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
        clicked = chart(
            charts.trade_off(rows, mode=mode(), focus=focus),
            key="trade_off",
            alt=TRADE_OFF,
            select=True,
        )
        if len(rows) > charts.NAMED:
            note(f"{charts.NAMED} of {len(rows):,} systems are labelled; hover for the others.")
    with right:
        picked = show_table(
            rates.systems, _columns(definition, audited=labels.audit is not None), key="rates", select=True
        )
        chosen = order[picked] if picked is not None else clicked[0] if clicked else None
        if chosen:
            for metric in views.SUBSETS:
                _onward(cells, parser, chosen, metric)
        else:
            note(
                "Sorted by hallucination rate; click a system to read its answers. Crosses: 95% intervals. Dotted "
                "line: answers as often without evidence as with it."
            )
    shown = list(dict.fromkeys([*focus, *([chosen] if chosen else [])] or _notable(rows) or order[:2]))
    figures = views.published_arena(page.arena)
    draw: dict[str, Callable[[], None]] = {
        "By definition": lambda: _moves(rates),
        "By language": lambda: _by_language(rates, cells, order, shown[:MOST_BARS], parser),
        "Outcomes": lambda: _outcomes(rates, cells, order, parser),
        "Errors": lambda: _errors(page, parser),
        "Confusion": lambda: _confusion(page, parser),
    }
    if labels.audit is not None:
        draw["Label errors"] = lambda: _label_errors(cells, order)
    if is_cross_lingual(page.arena):
        draw["Languages"] = lambda: languages_section.show_pairs_of_decisions(page, parser)
    if (prompts := tables.by_template(page.arena, parser, page.languages("outcomes"))) is not None:
        draw["By prompt"] = lambda: _by_template(prompts)
    if figures is not None and tables.paper_tables(figures):
        draw["Paper tables"] = lambda: _in_print(rates, figures, page)
    if views_withholding.signals(page.arena):
        draw["Risk-coverage"] = lambda: abstention.show_withholding(page, parser)
    draw[sections({name: PICKERS.get(name, ()) for name in draw})]()
    corrected_section(page, (RATE_MEASURE,), page.languages("outcomes"), parser=parser)
    page.download(
        "hallucination",
        rates.cells,
        about={
            "parser": parser,
            "value": SAYS[definition],
            "other": next(meaning for name, meaning in SAYS.items() if name != definition),
            "language all": "unweighted mean over languages",
            "printed": rates.reference or "no printed figures",
            "labels": "not audited" if labels.unaudited else "audited" if labels.audit else "people's",
        },
    )


def _errors(page: Page, parser: Parser) -> None:
    """Show the causes of errors, and the retrievers."""
    attribution.show_losses(page, parser)
    show_retrievers(page)


def _options(page: Page, definition: views.Definition) -> tuple[list[str], Parser]:
    """The systems in focus, and the parser; as published, it is the papers'."""
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
    """The rates that the NoMIRACL paper prints."""
    page.label("published figures")
    rows, cells = rates.systems.to_pylist(), rates.cells.to_pylist()
    page.summary(
        f"NoMIRACL: rates of {count_text(len(rows), 'system')} in "
        f"{count_text(len(rates.languages['error']), 'language')} as printed: "
        "1 − accuracy, undecided answers count as wrong decisions. The paper prints no n or intervals.",
        conclusion=_answer(rows),
    )
    left, right = side_by_side((400, 1), (400, 1), key="top", gap="medium")
    with left:
        chart(charts.trade_off(rows, mode=mode()), key="trade_off", alt=TRADE_OFF)
    with right:
        columns = [Col("system", "System", "system", help="System name in the published outputs.")]
        columns += [
            Col(
                f"{metric}_value",
                charts.RATES[metric],
                "rate",
                width=132,
                help=f"{MEANING[metric]}, as printed; mean over the languages shown. Lower is better.",
            )
            for metric in SHORT
        ]
        show_table(rates.systems, columns, key="printed_rates")
        note(f"Sorted by hallucination rate. Source: {rates.reference}.")
    heading("By language")
    metric = pick_segments("Cells", tuple(views.SUBSETS), key="rate", kind="rate", help=WHICH)
    note(f"{charts.RATES[metric]} in percent, as printed; darker is better.")
    chart(
        charts.cells(
            cells,
            systems=[row["system"] for row in rows],
            languages=rates.languages["error"],
            metric=metric,
            mode=mode(),
        ),
        key="by_language",
        alt=f"{charts.RATES[metric]} of every system in every language, as printed.",
        wide=True,
    )
    if tables.paper_tables(page.arena):
        _paper(page.arena, None, page.picked)
    page.download("printed_rates", rates.cells.select(PRINTED), about={"printed": rates.reference})


def _columns(definition: str, *, audited: bool) -> list[Col]:
    """The columns of the table: for either rate the chosen definition, then the other; then what they rest on.

    With an audit of labels, the corrected rate follows the printed one, and the audited queries follow n.
    """
    other = next(name for name in SAYS if name != definition)
    out = [Col("system", "System", "system", of="outcomes", width=164)]
    for metric, label in SHORT.items():
        queries = charts.QUERIES[metric]
        out += [
            Col(
                f"{metric}_value",
                label,
                "rate",
                width=58,
                help=f"{MEANING[metric]}: {SAYS[definition]}. Lower is better. Languages weigh the same.",
            ),
            Col(
                f"{metric}_value",
                "95%",
                "interval",
                low=f"{metric}_low",
                high=f"{metric}_high",
                width=48,
                help=f"{metric} rate with 95% Wilson interval; left is better.",
            ),
            *(_corrected_columns(metric) if audited else ()),
            Col(
                f"{metric}_other",
                "as publ." if other == "as-published" else "decided",
                "rate",
                width=58,
                help=f"{metric} rate by the other definition: {SAYS[other]}.",
            ),
            Col(
                f"{metric}_undecided",
                "undec.",
                "rate",
                width=54,
                help=f"Share of answers to {queries} that are undecided: clarification questions, unparsed, empty or "
                "API errors.",
            ),
        ]
        n, of = ("decided", "Classified answers") if definition == "decided" else ("n", "Answers")
        out.append(Col(f"{metric}_{n}", "n", "count", width=48, help=f"{of} to {queries} (n)."))
        if audited:
            help_ = f"Audited {queries} behind the corrected rate."
            out.append(Col(f"{metric}_audited", "audited", "count", width=58, help=help_))
    return out


def _corrected_columns(metric: str) -> tuple[Col, Col]:
    """The columns of a rate corrected for label errors, and of its interval."""
    return (
        Col(
            f"{metric}_corrected",
            "corr.",
            "rate",
            width=58,
            help=f"{metric} rate over decided answers, corrected for the label errors that people's audit found.",
        ),
        Col(
            f"{metric}_corrected",
            "95%",
            "interval",
            low=f"{metric}_corrected_low",
            high=f"{metric}_corrected_high",
            width=48,
            help=f"Corrected {metric} rate with its 95% interval, which carries the audit's uncertainty.",
        ),
    )


def _label_errors(cells: Sequence[dict[str, Any]], order: Sequence[str]) -> None:
    """Show the rates corrected for label errors beside the printed ones, with both intervals and both n."""
    heading(
        "Corrected for label errors",
        "Corrected rates solve for what systems do on queries that truly are answerable or not, given the label errors "
        "that people found. Intervals carry the sampling of queries and of the audit.",
    )
    for metric in views.SUBSETS:
        plain_table(views.corrected_rows(cells, order, metric), _CORRECTED[metric], key=f"corrected_{metric}")
    for reason in dict.fromkeys(cell["label_reason"] for cell in cells if cell["label_reason"]):
        note(as_sentence(reason))


def _in_print(rates: views.Rates, figures: Arena, page: Page) -> None:
    """Our rates beside the printed ones where the paper has these systems, and the paper's tables."""
    if rates.reference:
        _beside_print(rates)
    _paper(figures, page.arena, page.picked)


def _beside_print(rates: views.Rates) -> None:
    """Our rates as published beside those that the paper prints."""
    heading("Compared with the paper")
    columns = [Col("system", "System", "system", of="outcomes", width=240)]
    for metric, label in SHORT.items():
        columns += [
            Col(
                f"{metric}_printed",
                f"{label} printed",
                "rate",
                width=112,
                help=f"{metric} rate printed in the NoMIRACL paper (rate as published, mean over our languages).",
            ),
            Col(
                f"{metric}_difference",
                "differs",
                "points",
                width=70,
                help=f"Our {metric} rate as published minus the printed one, in percentage points. 0: within rounding.",
            ),
        ]
    show_table(rates.systems, columns, key="beside_print")


def _summary(page: Page, rates: views.Rates, cells: Sequence[dict[str, Any]]) -> str:
    """Describe the data behind the numbers, and what is missing."""
    answers = sum(c["n"] for c in cells if c["language"] == "all")
    noun = "real answers" if page.arena.label == "real replies" else "answers"
    behind = " and ".join(
        f"{COUNT(rates.queries[m])} {charts.QUERIES[m]} in {count_text(len(rates.languages[m]), 'language')}"
        for m in views.SUBSETS
        if rates.languages[m]
    )
    out = f"{COUNT(answers)} {noun} of {rates.systems.num_rows} systems to {behind}."
    return out + (f" Missing: {_missing_words(rates)}." if rates.lacking else "")


def _missing_words(rates: views.Rates) -> str:
    """The languages that lack a subset, in words."""
    by_language: dict[str, list[str]] = {}
    for code, subset in rates.lacking:
        by_language.setdefault(code, []).append(subset.replace("_", "-"))
    return join_or_count(
        [f"{name_of(code)} ({' and '.join(subsets)})" for code, subsets in by_language.items()],
        "language",
    )


def _notable(rows: Sequence[dict[str, Any]]) -> list[str]:
    """The systems with the lowest rate of either kind, and the one nearest to the best corner; none of one system."""
    both = [r for r in rows if r["hallucination_value"] is not None and r["error_value"] is not None]
    if len(both) < 2:
        return []
    h, e = "hallucination_value", "error_value"
    notable = [
        min(both, key=lambda r: r[h]),
        min(both, key=lambda r: r[e]),
        min(both, key=lambda r: r[h] ** 2 + r[e] ** 2),
    ]
    return [row["system"] for row in notable]


def _answer(rows: Sequence[dict[str, Any]]) -> str:
    """The page's question answered in words; systems with the same lowest rate are named together."""
    if not _notable(rows):
        return ""
    silent, bold, best = (next(r for r in rows if r["system"] == system) for system in _notable(rows))
    lowest = {
        metric: _equal(rows, row, f"{metric}_value") for metric, row in (("hallucination", silent), ("error", bold))
    }
    if silent is bold and lowest == {"hallucination": [silent["system"]], "error": [bold["system"]]}:
        return (
            f"{best['system']} has the lowest rates: hallucination {_rate(best, 'hallucination')}, "
            f"error {_rate(best, 'error')}."
        )
    balanced = [r for r in rows if all(r[f"{metric}_value"] == best[f"{metric}_value"] for metric in lowest)]
    return (
        f"Lowest hallucination rate: {join_or_count(lowest['hallucination'], 'system')}, "
        f"{_rate(silent, 'hallucination')}. "
        f"Lowest error rate: {join_or_count(lowest['error'], 'system')}, {_rate(bold, 'error')}. "
        f"Best balance: {join_or_count([r['system'] for r in balanced], 'system')} "
        f"({RATE(best['hallucination_value'])} and {RATE(best['error_value'])})."
    )


def _equal(rows: Sequence[dict[str, Any]], row: dict[str, Any], name: str) -> list[str]:
    """Return the systems with the same value as a row."""
    return [r["system"] for r in rows if r[name] is not None and abs(r[name] - row[name]) < 1e-9]


def _rate(row: dict[str, Any], metric: str) -> str:
    """A rate with its interval and its own n, where there are any."""
    value, rate, low, high = (row.get(f"{metric}_{name}") for name in ("value", "rate", "low", "high"))
    n = row.get(f"{metric}_decided" if value == rate else f"{metric}_n")
    if low is None or high is None or not n:
        return RATE(value)
    return f"{RATE(value)} (95% interval {RATE(low)} to {RATE(high)}, n = {COUNT(n)})"


def _onward(cells: Sequence[dict[str, Any]], parser: str, system: str, metric: str, language: str = "all") -> None:
    """Links to the answers behind a number, one for each kind of outcome with how many there are."""
    key = (system, metric, language)
    cell = next((c for c in cells if (c["system"], c["metric"], c["language"]) == key), None)
    where = "" if language == "all" else f" in {name_of(language)}"
    if cell is None or not cell["n"]:
        note(f"No answers by {system} to {charts.QUERIES[metric]}{where}.")
        return
    with st.container(horizontal=True, gap="medium", vertical_alignment="center"):
        st.caption(plain(f"{system}, {COUNT(cell['n'])} answers to {charts.QUERIES[metric]}{where}:"), width="content")
        for word, kinds in (("answered", ("answered",)), ("abstained", ("abstained",)), ("undecided", UNDECIDED)):
            count = sum(cell[kind] for kind in kinds)
            if count:
                onward(
                    "answers",
                    f"{COUNT(count)} {word}",
                    languages=() if language == "all" else (language,),
                    systems=system,
                    subset=cell["subset"],
                    outcome=[kind for kind in kinds if cell[kind]],
                    parser=parser,
                )


def _moves(rates: views.Rates) -> None:
    """Show how the ranking changes with the definition."""
    heading(
        "Ranking by definition",
        "Left: decided answers only. Right: undecided answers count as wrong decisions, as in the papers' tables. "
        "Lowest rate on top; systems that change places are coloured.",
    )
    moves = {metric: views.moves(rates, metric).to_pylist() for metric in views.SUBSETS}
    left, right = side_by_side((560, 2), (340, 1), key="order", gap="medium")
    with left:
        metric = pick_segments("Ranked by", tuple(moves), key="order_rate", kind="rate", help=WHICH)
        rows = moves[metric]
        if any(row["fall"] for row in rows):
            drawn = set(page_systems([row["system"] for row in rows], key="drawn_order"))
            chart(
                charts.order([row for row in rows if row["system"] in drawn], mode=mode()),
                key="ranking_by_definition",
                alt=f"Ranking of the systems by {metric} rate, over decided answers and as published.",
                half=True,
            )
    with right:
        for name in moves:
            note(f"{charts.RATES[name]}: {_moves_words(moves[name], name)}")


def _moves_words(rows: Sequence[dict[str, Any]], metric: str) -> str:
    """The greatest move, told."""
    if not any(row["place_decided"] for row in rows):
        return f"No answers to {charts.QUERIES[metric]}."
    moved = [row for row in rows if row["fall"]]
    if not moved:
        return "No system changes rank."
    most = max(moved, key=lambda row: (abs(row["fall"]), row["undecided"] or 0))
    return (
        f"{len(moved)} of {len(rows)} systems change rank. Largest change: {most['system']}, {most['place_decided']} "
        f"to {most['place_as_published']}, with {RATE(most['undecided'])} undecided answers."
    )


def _by_language(
    rates: views.Rates, cells: Sequence[dict[str, Any]], order: Sequence[str], shown: Sequence[str], parser: str
) -> None:
    """One rate of every system in every language, and both rates of a few systems as bars."""
    heading("By language")
    lacking = {code for code, _ in rates.lacking}
    codes = in_order({*lacking, *(code for have in rates.languages.values() for code in have)})
    left, right = side_by_side((560, 2), (340, 1), key="language", gap="medium")
    with left:
        with st.container(horizontal=True, gap="medium"):
            metric = pick_segments("Values", tuple(views.SUBSETS), key="rate", kind="rate", help=WHICH)
            value = "rate"
            if rates.reference:
                value = pick_segments(
                    "Show",
                    ("rate", "difference"),
                    key="cells",
                    kind="value",
                    help="rate: our rates. difference: our rate as published minus the printed one, in percentage "
                    "points; 0: within rounding.",
                )
        drawn = page_systems(order, key="drawn_rates", marks=len(codes))
        place = st.container()
        cell = chart(
            charts.cells(
                cells,
                systems=list(drawn),
                languages=codes,
                metric=metric,
                mode=mode(),
                value="value" if value == "rate" else value,
            ),
            key="by_language",
            alt=f"{charts.RATES[metric]} of every system in every language.",
            select=True,
            wide=True,
        )
        with place:
            if cell:
                _onward(cells, parser, cell[0], metric, cell[1])
            else:
                caption = (
                    f"{charts.RATES[metric]} in percent; darker is better."
                    if value == "rate"
                    else (
                        f"{charts.RATES[metric]} as published minus the printed one, in points; darker is a larger "
                        "difference."
                    )
                )
                note(f"{caption} Hover for interval, n and the printed figure; click for answers.")
        if rates.lacking:
            _missing(rates)
    with right:
        place = st.container()
        bar = chart(
            charts.bars(cells, systems=shown, languages=codes, mode=mode()),
            key="bars",
            alt="Hallucination and error rate by language with 95% intervals.",
            select=True,
        )
        with place:
            if bar and bar != cell:
                _onward(cells, parser, bar[0], bar[2], bar[1])
            else:
                note(
                    "Both rates with 95% intervals: highlighted systems, else the top ones. Click a bar for its "
                    "answers."
                )


def _missing(rates: views.Rates) -> None:
    """Name the missing answers, and the commands that add them."""
    with st.container(border=True):
        st.markdown(f"**Missing: {plain(_missing_words(rates))}.** These answers were not in the imported files.")
        note("Download all published files and build a complete arena:")
        st.code("mirage pull nomiracl --into ANSWERS\nmirage import nomiracl ANSWERS --into ARENA", language=None)


def _outcomes(rates: views.Rates, cells: Sequence[dict[str, Any]], order: Sequence[str], parser: str) -> None:
    """Shares of all six outcomes."""
    heading(
        "Outcomes",
        "Wrong decisions, undecided, then correct decisions. Rate over decided answers: wrong / (wrong + correct). "
        f"{answer_card.MEASURED} Click a part for its answers.",
    )
    drawn = page_systems(order, key="drawn_outcomes")
    for column, metric in zip(
        side_by_side((380, 1), (380, 1), key="outcomes", gap="medium"), views.SUBSETS, strict=True
    ):
        with column:
            if not rates.languages[metric]:
                note(f"No answers to {charts.QUERIES[metric]}.")
                continue
            part = chart(
                charts.share_bars(cells, systems=list(drawn), metric=metric, mode=mode()),
                key=f"outcomes_{metric}",
                alt=f"Outcomes of the answers to {charts.QUERIES[metric]} by system.",
                select=True,
            )
            if part:
                _onward(cells, parser, part[0], metric)


def _confusion(page: Page, parser: str) -> None:
    """The four counts of every system, and the two rates that they give."""
    heading("Confusion matrix")
    languages = page.languages("outcomes")
    code = pick_language(
        "Language",
        languages,
        key="confusion",
        help="counts are summed over the languages shown, rates averaged.",
    )
    note(
        "Positive: answered. Negative: abstained. TP and FN are on relevant queries, FP and TN on non-relevant ones. "
        "Undecided answers are excluded."
    )
    shown = filter_rows(tables.confusions(page.arena, parser, languages), "language", [code])
    heads = {
        "true_positives": "TP",
        "false_negatives": "FN",
        "relevant_undecided": "undec.",
        "error_rate": "Error",
        "false_positives": "FP",
        "true_negatives": "TN",
        "non_relevant_undecided": "undec.",
        "hallucination_rate": "Halluc.",
    }
    columns = [Col("system", "System", "system", of="outcomes", width=240)]
    for name, head in heads.items():
        meaning = tables.meaning(name)
        if not name.endswith("_rate"):
            columns.append(Col(name, head, "count", width=72, help=meaning))
            continue
        low, high = (f"{name.removesuffix('_rate')}_{end}" for end in ("low", "high"))
        columns.append(Col(name, head, "rate", width=72, help=meaning))
        columns.append(
            Col(name, "95%", "interval", low=low, high=high, width=90, help=(f"{head} rate with 95% interval."))
        )
    show_table(shown, columns, key="confusion_matrix")


def _by_template(table: pa.Table) -> None:
    """Rates of the systems that were asked with several prompts."""
    heading(
        "By prompt template",
        "Systems with several prompts. Change: rate minus that of the vanilla prompt on queries decided under both, "
        "in percentage points. An interval that includes 0 is not significant.",
    )
    columns = [
        Col("system", "System", "system", of="outcomes", width=240),
        Col("template", "Prompt", "text", width=100, help="Prompt template."),
    ]
    for metric, label in SHORT.items():
        low, high, change = (f"{metric}_{name}" for name in ("low", "high", "change"))
        columns += [
            Col(f"{metric}_rate", label, "rate", width=72, help=f"{MEANING[metric]}: {SAYS['decided']}."),
            Col(f"{metric}_rate", "95%", "interval", low=low, high=high, width=90, help="Rate with 95% interval."),
            Col(change, "change", "points", width=72, help="Percentage points relative to the vanilla prompt."),
            Col(
                change,
                "95%",
                "interval",
                low=f"{change}_low",
                high=f"{change}_high",
                width=90,
                help="Change with 95% interval (matched pairs, Agresti and Min 2005); dashed line: 0.",
            ),
            Col(f"{metric}_n", "n", "count", width=64, help="Number of decided answers."),
        ]
    show_table(table, columns, key="by_template")


def _paper(figures: Arena, arena: Arena | None, picked: Sequence[str]) -> None:
    """The tables of the NoMIRACL paper, beside what the arena gives."""
    items = tables.paper_tables(figures)
    heading("Published tables")
    badge("published figures")
    with st.container(horizontal=True, gap="medium"):
        item = pick_segments(
            "Paper table",
            items,
            key="printed",
            kind="table",
            default="Table 3",
            help="Table 1: queries. Table 2: patterns of answers. Table 3: prompts. Table 7: fine-tuning.",
        )
        codes = tables.table_languages(figures, item)
        codes = tuple(code for code in codes if not picked or code in picked) or codes
        code = pick(
            "Language",
            codes,
            key="figures",
            kind="language",
            named=search_name,
            width=160,
            help="all: mean or total over the languages, as printed.",
        )
    table = tables.printed_beside_ours(figures, arena, item, code)
    counts = set(table["unit"].to_pylist()) == {"count"}
    kind: Any = "count" if counts else "mean"
    unit = "" if counts else ", %"
    columns = [
        Col("metric", "Figure", "text", width=300 if item == "Table 2" else 150, help="What the paper printed."),
        Col("setting", "Setting", "text", width=150, help="Setting, subset, split or prompt."),
        Col("system", "System", "text", width=170, help="System name as printed."),
        Col("printed", f"Printed{unit}", kind, width=90, help="As printed in the paper."),
    ]
    if arena is not None:
        columns += [
            Col("ours", f"Ours{unit}", kind, width=80, help="Our figure, with the published parser."),
            Col(
                "ours",
                "95%",
                "interval",
                low="ours_low",
                high="ours_high",
                width=90,
                help=("Our figure with 95% interval."),
            ),
            Col("n", "n", "count", width=64, help="Number of our answers."),
            Col("remark", "Note", "text", width=360, help="Why our figure is missing, or what it covers."),
        ]
    columns = [c for c in columns if c.kind != "text" or c.name == "remark" or any(table[c.name].to_pylist())]
    more = ""
    if arena is not None and item in ("Table 3", "Table 7"):
        more = " mirage report paper DIR --as 'PRINTED=SYSTEM' compares any system with a printed name."
    note(f"{PAPER.get(item, '')} Source: {table['reference'][0].as_py()}.{more}")
    height = None if len(table) <= TALL else ROW * (TALL + 1) + 3
    show_table(table, columns, key="paper", height=height)


show("hallucination", main)
