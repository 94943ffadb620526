"""Sections of the Hallucination page; one is drawn at a time."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from mirage.battles.counts import QUERIES
from mirage.errors import NotEnoughData
from mirage.explorer.hallucination import charts
from mirage.explorer.kit.chart import chart, page_systems
from mirage.explorer.kit.frame import Page, show_page_link
from mirage.explorer.kit.layout import LEAST, side_by_side
from mirage.explorer.kit.pick import pick, pick_language, pick_segments
from mirage.explorer.kit.states import badge
from mirage.explorer.kit.table import Col, column, estimate, filter_rows, mode, table, with_values
from mirage.explorer.kit.text import heading, note, plain
from mirage.publish.charts.palette import ROW
from mirage.schema import UNDECIDED, Parser
from mirage.stages.outcomes.confusion import Confusion
from mirage.stages.shown import GIVEN
from mirage.store.arena import Arena
from mirage.text.languages import in_language, name_of, search_name
from mirage.text.segmentation import as_sentence, count_text, join_or_count
from mirage.views import causes, printed
from mirage.views import rates as views
from mirage.views.causes import CauseChoice, CausesView
from mirage.views.rates import PromptsView, RatesView
from mirage.views.retrieval import BEST, SHOWN, RetrievalChoice, retrieval_view

SAYS = {
    "exclude": "wrong decisions / classified answers",
    "count": "1 − accuracy by the papers' parser; unclassified answers count as wrong decisions",
}
MEANING = {
    "hallucination": "Share of unanswerable queries (no passage answers them) that the system answers",
    "error": "Share of answerable queries (a passage answers them) on which the system abstains",
}
SHORT = {"hallucination": "Hallucination", "error": "Error"}
WHICH = "hallucination: unanswerable queries. error: answerable queries."
PAPER = {
    "Table 1": "Queries of each subset and split.",
    "Table 2": "English answers by pattern: sorted by hand in the paper, by rules here.",
    "Table 3": "Rates of one model under four prompts.",
    "Table 7": "Rates of two models before and after fine-tuning.",
}
"""Subjects of the tables of the NoMIRACL paper."""
TALL = 15
"""Rows of a printed table that are shown without an inner scroll bar."""
PICKERS = {
    "By language": ("rate", "drawn_rates"),
    "Errors": ("view", "flow_in", "confusion", "decisions_of"),
    "Paper tables": ("printed", "figures"),
}
"""Keys of the pickers of every section."""
_SYSTEM = column("outcomes", "system")


def best_shade() -> str:
    """Return how the best cells of a map of rates look: the ramp runs the other way on a dark ground."""
    return "lighter" if mode() == "dark" else "darker"


def answer_links(rates: RatesView, system: str, metric: str, code: str = "all") -> None:
    """Link to the answers behind a number, one link for each kind of outcome with its count."""
    cells = filter_rows(rates.everything, "system", [system]).to_pylist()
    cell = next((c for c in cells if (c["metric"], c["language"]) == (metric, code)), None)
    where = f"{views.QUERIES[metric]}{'' if code == 'all' else f' {in_language(code)}'}"
    if cell is None or not cell["answers"]:
        note(f"No answers by {system} to {where}.")
        return
    with st.container(horizontal=True, gap="medium", vertical_alignment="center"):
        st.caption(plain(f"{system}, {cell['answers']:,} answers to {where}:"), width="content")
        for word, kinds in (("answered", ("answered",)), ("abstained", ("abstained",)), ("unclassified", UNDECIDED)):
            if count := sum(cell[kind] for kind in kinds):
                show_page_link(
                    "answers",
                    f"{count:,} {word}",
                    languages=() if code == "all" else (code,),
                    systems=system,
                    subset=cell["subset"],
                    outcome=[kind for kind in kinds if cell[kind]],
                    parser=rates.parser,
                )


def show_by_language(rates: RatesView, order: Sequence[str]) -> None:
    """Show one rate of every system in every language."""
    metric = pick_segments("Rate", tuple(views.SUBSETS), key="rate", kind="rate", help=WHICH)
    cells = filter_rows(rates.cells, "metric", [metric]).select(["language", "n"]).to_pylist()
    enough = {cell["language"] for cell in cells if cell["n"] >= charts.FEW}
    codes = [code for code in rates.languages[metric] if code in enough]
    few = [name_of(code) for code in rates.languages[metric] if code not in enough]
    if not codes:
        note(f"No rates by language: each has under {charts.FEW} {views.QUERIES[metric]}.")
        return
    drawn = page_systems(order, key="drawn_rates", marks=len(codes))
    place = st.container()
    name = views.TITLES[metric]
    figure = charts.rate_map(rates, tuple(drawn), tuple(codes), metric, mode())
    cell = chart(
        figure,
        key="by_language",
        alt=f"{name} of every system in every language.",
        select=True,
        wide=True,
    )
    with place:
        if cell:
            answer_links(rates, cell[0], metric, cell[1])
        else:
            left_out = f" Under {charts.FEW} queries: {join_or_count(few, 'language')}." if few else ""
            note(f"{name} in percent; {best_shade()} is better. Click a cell to read its answers.{left_out}")
    if rates.lacking:
        with st.container(border=True):
            missing = plain(missing_words(rates))
            st.markdown(f"**Missing: {missing}.** These answers were not in the imported files.")
            st.code("mirage pull nomiracl --into ANSWERS\nmirage import nomiracl ANSWERS --into ARENA", language=None)


def missing_words(rates: RatesView) -> str:
    """Return the languages that lack a subset, in words."""
    by_language: dict[str, list[str]] = {}
    for code, subset in rates.lacking:
        by_language.setdefault(code, []).append(QUERIES[subset])
    words = [f"{name_of(code)} ({' and '.join(subsets)})" for code, subsets in by_language.items()]
    return join_or_count(words, "language")


def show_causes(page: Page, parser: Parser, row: DeltaGenerator) -> None:
    """Show the causes of errors of all systems, and the retrievers."""
    languages = page.languages("outcomes")
    lost = causes.causes_view(page.arena, CauseChoice(page.picked, parser))
    if lost.systems:
        _show_causes(lost, languages, parser, row)
    else:
        note("No passage of these queries is labelled, so errors cannot be classified.")
    show_retrievers(page)


def _show_causes(lost: CausesView, languages: Sequence[str], parser: Parser, row: DeltaGenerator) -> None:
    with row:
        code = pick_language(languages, key="flow_in", help="unweighted mean over the languages shown.")
    rows = filter_rows(lost.shares, "language", [code]).to_pylist()
    systems = [system for system in lost.systems if any(cause["system"] == system for cause in rows)]
    if not systems:
        note(f"No classified answers {in_language(code)}.")
        return
    note("Blue: correct. Orange: the model's error. Grey: the retriever's. Click a part to read its answers.")
    clicked = chart(
        charts.cause_shares(rows, systems=systems),
        key="causes",
        alt="Causes of every system's errors, as shares of its answers.",
        select=True,
    )
    if clicked:
        system, cause = clicked
        count = next((share["k"] for share in rows if (share["system"], share["cause"]) == (system, cause)), 0)
        show_page_link(
            "answers",
            f"{system}: {count:,} {causes.TITLES[cause]}",
            languages=() if code == "all" else (code,),
            systems=system,
            cause=cause,
            parser=parser,
        )


def show_retrievers(page: Page) -> None:
    """Show the retrievers of an arena over the selected languages; nothing without retrieved passages."""
    if "retrieved" not in page.arena.tables or not (languages := page.languages("queries")):
        return
    heading("Retrievers")
    try:
        rows = retrieval_view(page.arena, RetrievalChoice(languages if page.picked else ())).by_retriever
    except NotEnoughData as error:
        note(f"Not measured: {error.what}.")
        return
    over = "" if len(languages) == 1 else f", unweighted mean over {count_text(len(languages), 'language')}"
    note(f"Best nDCG@10 first{over}. {GIVEN}: passages supplied with the queries.")
    columns = [Col("retriever", "Retriever", "text", "Retriever name.", width=110)]
    for measure, meaning in SHOWN.items():
        value = Col(measure, measure, "probability", meaning, width=78)
        best = measure == BEST
        columns += estimate(value, width=112, about=f"95% interval of {measure}.") if best else [value]
    columns.append(Col("n", "n", "count", "Queries with a relevant passage (n).", width=44))
    table(rows, columns, key="retrievers")


def show_languages(page: Page, parser: Parser, row: DeltaGenerator) -> None:
    """Show one system's correct decisions by languages of query and passage."""
    try:
        shares = causes.decisions_view(page.arena, CauseChoice(page.picked, parser))
    except NotEnoughData as error:
        note(as_sentence(error.what))
        return
    systems = sorted({share.system for share in shares})
    with row:
        system = pick("System", systems, key="decisions_of", kind="system", width=300)
    note(
        "Correct decisions in percent, shown a relevant passage in the column's language. Hover for interval and n. "
        f"Hollow: n under {charts.FEW}."
    )
    rows = [asdict(share) for share in shares if share.system == system]
    figure = charts.pair_matrix(rows)
    fitting = [width for width in LEAST if width >= figure["layout"]["width"]]
    place = side_by_side((fitting[0], 1), (320, 99), key="decision_pairs")[0] if fitting else st.container()
    alt = f"Correct decisions of {system} by languages."
    with place:
        chart(figure, key="decision_pairs_matrix", alt=alt, wide=not fitting, half=bool(fitting))


def show_confusion(rates: RatesView, languages: Sequence[str], row: DeltaGenerator) -> None:
    """Show the counts of every system's decisions."""
    with row:
        code = pick_language(languages, key="confusion", help="counts are summed over the languages shown.")
    note("Positive: answered. Negative: abstained. Answerable queries: TP, FN; unanswerable ones: FP, TN.")
    columns = [_SYSTEM]
    for name, label in (
        ("true_positives", "TP"),
        ("false_negatives", "FN"),
        ("relevant_unclassified", "Unclassified"),
        ("false_positives", "FP"),
        ("true_negatives", "TN"),
        ("non_relevant_unclassified", "Unclassified"),
    ):
        columns.append(column(Confusion, name, label, width=100))
    table(filter_rows(rates.confusion, "language", [code]), columns, key="confusion_matrix")


def show_label_errors(rates: RatesView) -> None:
    """Show the rates corrected for label errors beside the printed ones, with both intervals and both n."""
    note("Rates corrected for the label errors that people found; intervals include the uncertainty of the audit.")
    joint = filter_rows(rates.cells, "language", ["all"])
    for metric in views.SUBSETS:
        about = f"{MEANING[metric]}, over classified answers, by the labels as they are."
        rate = Col("rate", SHORT[metric], "rate", about)
        corrected = Col("corrected", "Corrected", "rate", "The rate corrected for label errors.")
        columns = [
            _SYSTEM,
            *estimate(rate, stem="rate", about="Wilson's interval, over queries only."),
            Col("n", "n", "count", "Queries with a classified answer."),
            *estimate(corrected, about="95% interval over queries and the audit."),
            Col("audited", "Audited", "count", "Audited queries with the label."),
            Col("label_error", "Wrong labels", "rate", "Share of the audited labels that are wrong."),
        ]
        table(filter_rows(joint, "metric", [metric]), columns, key=f"corrected_{metric}")
    for reason in dict.fromkeys(filter(None, rates.cells["label_reason"].to_pylist())):
        note(as_sentence(reason))


def show_prompts(prompts: PromptsView) -> None:
    """Show the rates of the systems that were asked with several prompts."""
    note("Change: points relative to the vanilla prompt, on queries classified under both.")
    columns = [
        column("outcomes", "system", width=240),
        Col("template", "Prompt", "text", "Prompt template.", width=100),
    ]
    for metric, label in SHORT.items():
        rate = Col(f"{metric}_rate", label, "rate", f"{MEANING[metric]}: {SAYS['exclude']}.", width=100)
        about = "Percentage points relative to the vanilla prompt."
        change = Col(f"{metric}_change", "Change", "points", about, width=72)
        columns += estimate(rate, stem=metric, width=90, about="Rate with 95% interval.")
        about = "Change with 95% interval (matched pairs, Agresti and Min 2005); dashed line: 0."
        columns += estimate(change, width=90, about=about)
        columns.append(Col(f"{metric}_n", "n", "count", "Queries with a classified answer.", width=64))
    table(prompts.systems, columns, key="by_template")


def show_paper(rates: RatesView, figures: Arena, page: Page) -> None:
    """Show our rates beside the printed ones if the paper has these systems, and the paper's tables."""
    if rates.reference:
        over = " and ".join(f"{len(codes)} ({metric})" for metric, codes in rates.languages.items())
        note(
            "Rates of the paper's systems, printed and ours as published: unclassified answers count as wrong. Means "
            f"over this arena's languages: {over}."
        )
        columns = [column("outcomes", "system", width=240)]
        for metric, label in SHORT.items():
            about = f"{metric} rate printed in the NoMIRACL paper (rate as published, mean over our languages)."
            columns.append(Col(f"{metric}_printed", f"{label} printed", "rate", about, width=136))
            about = f"Our {metric} rate as published: 1 - accuracy by the papers' parser."
            columns.append(Col(f"{metric}_rate_as_published", "Ours", "rate", about, width=60))
            about = f"Our {metric} rate as published minus the printed one, in percentage points. 0: within rounding."
            columns.append(Col(f"{metric}_difference", "Difference", "points", about, width=82))
        table(rates.systems, columns, key="beside_print")
    show_paper_tables(figures, page.arena, page.picked)


def show_paper_tables(figures: Arena, arena: Arena | None, picked: Sequence[str]) -> None:
    """Show the tables of the NoMIRACL paper, beside what the arena gives."""
    badge("published figures")
    with st.container(horizontal=True, gap="medium"):
        about = "Table 1: queries. Table 2: patterns of answers. Table 3: prompts. Table 7: fine-tuning."
        items = printed.paper_tables(figures)
        first = printed.opening_table(figures, arena)
        item = pick_segments("Paper table", items, key="printed", kind="table", default=first, help=about)
        codes = printed.table_languages(figures, item)
        codes = tuple(code for code in codes if not picked or code in picked) or codes
        about = "all: mean or total over the languages, as printed."
        code = pick("Language", codes, key="figures", kind="language", named=search_name, width=160, help=about)
    rows = printed.printed_beside_ours(figures, arena, item, code)
    counts = set(rows["unit"].to_pylist()) == {"count"}
    kind: Any = "count" if counts else "mean"
    unit = "" if counts else ", %"
    columns = [
        column("published", "metric", "Figure", width=300 if item == "Table 2" else 150),
        column("published", "setting", width=150),
        column("published", "system", kind="text", width=170),
        Col("printed", f"Printed{unit}", kind, "As printed in the paper.", width=90),
    ]
    if arena is not None:
        ours = Col("ours", f"Ours{unit}", kind, "Our figure, with the published parser.", width=80)
        columns += [
            *estimate(ours, width=90, about="Our figure with 95% interval."),
            Col("n", "n", "count", "Number of our answers.", width=64),
            Col("remark", "Note", "text", "Why our figure is missing, or what it covers.", width=360),
        ]
    more = ""
    if arena is not None and item in ("Table 3", "Table 7"):
        more = " mirage report paper DIR --as 'PRINTED=SYSTEM' compares any system with a printed name."
    note(f"{PAPER.get(item, '')} Source: {rows['reference'][0].as_py()}.{more}")
    table(rows, with_values(rows, columns), key="paper", height=None if len(rows) <= TALL else ROW * (TALL + 1) + 3)
