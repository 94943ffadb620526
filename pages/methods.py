"""Page Methods: definitions, differences from the published programs, parsers, prompts, data."""

from __future__ import annotations

from html import escape
from itertools import groupby

import streamlit as st

from mirage import schema, store
from mirage.explorer.kit.columns import Col
from mirage.explorer.kit.definitions import DEFINITIONS, Definition
from mirage.explorer.kit.frame import Page, show
from mirage.explorer.kit.plain_table import texts_table
from mirage.explorer.kit.sections import sections
from mirage.explorer.kit.states import first_time
from mirage.explorer.kit.table import mode, table
from mirage.explorer.kit.text import formula_html, heading_html, note, plain, prose
from mirage.explorer.methods import data as views
from mirage.explorer.methods import noise
from mirage.publish.charts.palette import FORMATS, ink
from mirage.text.segmentation import count_text

_RULES = (
    Col("published", "Published", "text", help="Outcome by the published parser."),
    Col("strict", "Strict", "text", help="Outcome by the strict parser."),
    Col("n", "Answers", "count", help="Number of answers."),
    Col("rule", "Rule", "text", help="Rule applied by the strict parser.", width=180),
    Col("meaning", "Meaning", "text", help="What the rule checks.", width=620),
)
_ACCURACY = (
    Col("language", "Language", "language", help="Language of the labelled answers; all: pooled."),
    Col("n", "Answers", "count", help="Number of labelled answers."),
    Col(
        "wrong",
        "Wrong",
        "interval",
        help="Share of answers misclassified; 95% Wilson interval.",
        low="wrong_low",
        high="wrong_high",
        written="rate",
    ),
    Col("unparsed", "Unparsed", "rate", help="Share without a recognizable outcome."),
    Col(
        "phrase_wrong",
        "Any phrase",
        "rate",
        help=("Error rate of a baseline: any refusal phrase counts as abstaining."),
    ),
    Col(
        "length_wrong",
        "Length",
        "rate",
        help=("Error rate of a baseline: short answers count as abstaining (best threshold)."),
    ),
)
COUNT, RATE = FORMATS["count"].write, FORMATS["rate"].write
_SECTIONS = ("Definitions", "Differences", "Outcomes", "Noise", "Prompts", "Data", "Columns")


def main(page: Page) -> None:
    """Search the definitions, see what departs from the published programs, and where the data is from."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        section = sections({name: noise.PICKERS if name == "Noise" else () for name in _SECTIONS})
        words = ""
        if section in ("Definitions", "Prompts", "Columns"):
            words = st.text_input(
                "Search", key="search", bind="query-params", placeholder="rate, interval, tie ...", width=320
            )
    if section == "Definitions":
        definitions(page, words)
    elif section == "Differences":
        differences(page)
    elif section == "Outcomes":
        accuracy(page)
    elif section == "Noise":
        noise.noise_section(page)
    elif section == "Prompts":
        prompts(page, words)
    elif section == "Data":
        data(page)
    else:
        columns(page, words)


def definitions(page: Page, words: str) -> None:
    """Show every term with its formula and source."""
    shown = [d for d in DEFINITIONS if d.matches(words)]
    page.summary(f"{len(shown)} of {len(DEFINITIONS)} definitions.")
    if not shown:
        st.info("No definition matches all of these words. Try fewer.")
    for group, entries in groupby(shown, key=lambda d: d.group):
        st.html(heading_html(group) + "".join(map(define, entries)))


def define(entry: Definition) -> str:
    """Return one definition as HTML: its text, formula and source."""
    words = f"<p><strong>{escape(entry.term)}</strong><br>{escape(entry.meaning)}</p>"
    if entry.departure:
        words += f"<p><em>Our departure.</em> {escape(entry.departure)}</p>"
    formula = formula_html(entry.formula, ink(mode()).text) if entry.formula else ""
    source = f'<p class="mg-about">Source: {escape(entry.source)}</p>'
    return f'<article class="mg-definition"><div>{words}</div><div>{formula}{source}</div></article>'


def differences(page: Page) -> None:
    """Show the departures from the published programs, with their effect on this arena's numbers."""
    page.need("outcomes")
    with first_time("Measuring the effect of each difference", page.arena):
        effects = views.effects(page.arena)
    page.summary(f"{len(effects)} differences from the published programs, each measured on this arena.")
    texts_table(
        {
            "Difference": [effect.departure for effect in effects],
            "Published programs": [effect.published for effect in effects],
            "Here": [effect.ours for effect in effects],
            "Effect": [effect.moved[:1].upper() + effect.moved[1:] for effect in effects],
            "Measured on": [f"{effect.n:,} {effect.unit}" for effect in effects],
        }
    )
    rules = views.rule_counts(page.arena)
    if rules is None:
        return
    st.header("Answers that the two parsers classify differently", anchor=False)
    table(rules, _RULES, key="rules")
    page.download("parser-differences", rules, about={"parsers": ["published", "strict"]})


def accuracy(page: Page) -> None:
    """Errors of the rules for free answers, by language, next to two simple baselines."""
    half, rows = views.outcome_accuracy()
    if not len(rows):
        st.info("Parser accuracy has not been measured.")
        return
    total = rows.to_pylist()[-1]
    page.summary(
        f"The free-text parser misclassifies {RATE(total['wrong'])} (95% CI {RATE(total['wrong_low'])} to "
        f"{RATE(total['wrong_high'])}) of {COUNT(total['n'])} labelled answers in {len(rows) - 1} languages; "
        f"{RATE(total['unparsed'])} are unparsed."
    )
    seen = "not seen" if half == "held" else "seen"
    note(
        f"Answers to prompts other than NoMIRACL's, {seen} while writing the rules. Any phrase and Length are "
        "baselines."
    )
    table(rows, _ACCURACY, key="accuracy")
    page.download("outcome-accuracy", rows, about={"labels": half})


def prompts(page: Page, words: str) -> None:
    """Show every prompt: its text, its source, and its departures with reasons."""
    import pyarrow as pa

    shown = views.prompts(words)
    page.summary(f"{len(shown)} of {len(views.prompts())} prompts.")
    if not shown:
        st.info("No prompt matches all of these words. Try fewer.")
        return
    for origin in shown:
        st.header(origin.name, anchor=False)
        st.markdown(plain(origin.use), width=760)
        st.caption(plain(f"Source: {origin.source}"))
        st.markdown(
            "\n".join(f"- {plain(departure.what)} *{plain(departure.why)}*" for departure in origin.departures),
            width=760,
        )
        with st.expander("The prompt"):
            st.code(origin.text, language=None, wrap_lines=True)
    rows = [
        {"prompt": origin.name, "source": origin.source, "departure": departure.what, "reason": departure.why}
        for origin in shown
        for departure in origin.departures
    ]
    page.download("prompts", pa.Table.from_pylist(rows), about={})


def data(page: Page) -> None:
    """Show the sources of the arena's tables."""
    import pyarrow as pa

    manifest = page.arena.manifest
    rows = views.provenance(page.arena)
    page.summary(
        f"{count_text(len(rows), 'table')}, {count_text(sum(r['rows'] for r in rows), 'row')}. "
        f"Version {page.arena.version}."
    )
    st.markdown(plain(str(manifest.get("about", ""))), width=760)
    if manifest.get("licence"):
        st.caption(plain(f"Licence: {manifest['licence']}"))
    texts_table(
        {
            "Table": [row["table"] for row in rows],
            "Rows": [f"{row['rows']:,}" for row in rows],
            "Bytes": [f"{row['bytes']:,}" for row in rows],
            "Made by": [row["by"] for row in rows],
            "From": [row["source"] for row in rows],
            "Notes": [row["notes"] for row in rows],
        }
    )
    # The papers' figures are a separate arena, not a part that other arenas could lack.
    absent = [name for name in schema.TABLES if name not in page.arena.tables and name != "published"]
    if absent:
        st.header("Missing tables", anchor=False)
        own = page.arena.path not in store.bundled_arenas().values()
        if not own:
            st.caption("The bundled arena is read-only: DIR is a folder of your own.")
        for name in absent:
            with st.container(horizontal=True, vertical_alignment="center"):
                st.markdown(f"**{name}**", width=120)
                st.code(page.arena.command(name) if own else schema.COMMANDS[name], language=None)
    page.download("tables", pa.Table.from_pylist(rows), about={})


def columns(page: Page, words: str) -> None:
    """Show every column of every table."""
    import pyarrow as pa

    rows = [
        {
            "table": name,
            "column": column.name,
            "type": column.kind + (", nullable" if column.nullable else ""),
            "meaning": column.meaning,
        }
        for name in schema.TABLES
        for column in schema.columns(name)
    ]
    terms = words.casefold().split()
    shown = [r for r in rows if all(w in " ".join(r.values()).casefold() for w in terms)]
    page.summary(f"{len(shown)} of {len(rows)} columns in {len(schema.TABLES)} tables.")
    for name, entries in groupby(shown, key=lambda r: r["table"]):
        st.header(name, anchor=False)
        st.caption(prose(" ".join((schema.table_class(name).__doc__ or "").split())))
        for entry in entries:
            left, right = st.columns([1, 4], gap="small")
            left.markdown(f"`{entry['column']}`  \n:gray[{entry['type']}]")
            right.markdown(prose(entry["meaning"]), width=760)
    if shown:
        page.download("columns", pa.Table.from_pylist(shown), about={})


show("methods", main)
