"""Can I believe this judge in this language?"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import streamlit as st

from mirage import ui, votes
from mirage.charts import judges as charts
from mirage.charts.palette import FORMATS
from mirage.errors import MirageError
from mirage.languages import LANGUAGES
from mirage.text import counted
from mirage.ui import agreement
from mirage.views import agreement as agreements
from mirage.views import judges as views
from mirage.views import people

TITLES = {
    "flip": "Flips (lower is better)",
    "first": "Won by the answer shown first (50% is fair)",
    "tie": "Ties",
    "unparsed": "Unparsed (lower is better)",
    "length": "Length slope, logits a doubling (0 is fair)",
    "family": "Own family wins more than with others (0 is fair)",
}
"""The axis of each measure."""


COLUMNS = (
    ui.Col("judge", "Judge", "system", of="judgments"),
    ui.Col("measure", "Measure", "text", help="What is measured.", width=130),
    ui.Col("value", "Value", "text", help="A rate, logits, or money.", width=80),
    ui.Col("interval", "95% interval", "text", help="The 95% interval of the value.", width=140),
    ui.Col("n", "n", "count", help="What the value is of: pairs, battles, verdicts or calls."),
    ui.Col("note", "What it is, or why there is none", "text", help="How to read it, or why it has no value."),
)
AGREEMENT = (
    ui.Col("who", "Who", "text", help="The two who decide. people: everybody who voted.", width=190),
    *(
        column
        for name, meaning in agreements.STATISTICS.items()
        for column in (
            ui.Col(name, name.capitalize(), "rate" if name == "raw" else "probability", help=meaning),
            ui.Col(
                name,
                "95%",
                "interval",
                low=f"{name}_low",
                high=f"{name}_high",
                help="The 95% interval, over draws of questions.",
            ),
        )
    ),
    ui.Col("n", "n", "count", help="Pairs of opinions that are compared."),
    ui.Col("questions", "Questions", "count", help="Questions that they are about."),
    ui.Col("voters", "Voters", "count", help="Who gave the opinions that are compared with the second."),
    ui.Col("reason", "Why a value is missing", "text", help="Why a value or an interval is missing."),
)
_LINES = pa.schema([(name, pa.int64() if name == "n" else pa.string()) for name in (c.name for c in COLUMNS)])


def main() -> None:
    """Show how the judges of the arena judged."""
    page = ui.begin("judges")
    page.need("judgments")
    with st.spinner("Measuring the judges ...", show_time=True):
        everything = views.judge_rows(page.arena)
    rows = everything.to_pylist()
    judges = list(dict.fromkeys(row["judge"] for row in rows))
    have = [code for code in LANGUAGES if any(row["language"] == code for row in rows)]
    codes = [code for code in have if not page.picked or code in page.picked]
    if not codes:
        page.summary("No verdict in the languages picked.")
        st.info("Pick other languages in the sidebar, or none for all.")
        return
    shown = [row for row in rows if row["language"] in codes]
    n, total = (sum(row["n"] for row in part) for part in (shown, [r for r in rows if r["language"] != "all"]))
    page.summary(
        f"{n:,} of {total:,} verdicts, {counted(len(judges), 'judge')}, "
        f"{len(codes)} of {counted(len(have), 'language')}."
    )
    scope = codes[0] if len(codes) == 1 else "all" if len(codes) == len(have) else ""
    if scope:
        _table(everything, scope)
    else:
        st.caption("The means in a table are over all languages of the arena: pick one language or none to see it.")
    measure_name = ui.pick(
        "By language",
        list(views.MEASURES),
        key="measure",
        segments=True,
        help=" ".join(f"{measure.name}: {measure.meaning}" for measure in views.MEASURES.values()),
    )
    _chart(shown, views.MEASURES[measure_name], judges, codes)
    _agreement(page, codes, scope)
    page.download(
        "judges",
        everything.filter(pc.is_in(everything["language"], value_set=pa.array([*codes, "all"]))),
        about={"languages": codes, "measures": {measure.name: measure.meaning for measure in views.MEASURES.values()}},
    )


def _table(everything: pa.Table, scope: str) -> None:
    """Every measure of every judge with its interval and what it is of, in words where there is none."""
    prices = _prices()
    lines = []
    for row in everything.filter(pc.equal(everything["language"], scope)).to_pylist():
        for measure in views.MEASURES.values():
            write = FORMATS["rate" if measure.unit == "rate" else "rating"].write
            low, high = row[f"{measure.name}_low"], row[f"{measure.name}_high"]
            lines.append(
                {
                    "judge": row["judge"],
                    "measure": measure.title,
                    "value": None if row[measure.name] is None else write(row[measure.name]),
                    "interval": None if low is None else f"{write(low)} to {write(high)}",
                    "n": row[f"{measure.name}_n"],
                    "note": row[f"{measure.name}_reason"] or measure.meaning,
                }
            )
        cost = views.cost(row, *prices)
        reason = (
            "it makes no call, or its verdicts were imported" if not row["calls"] else "give the prices of its tokens"
        )
        money = "What 1,000 verdicts cost at these prices, by the tokens that the service counted."
        lines.append(
            {
                "judge": row["judge"],
                "measure": "Cost per 1,000",
                "value": None if cost is None else f"{cost:,.2f}",
                "interval": None,
                "n": row["calls"],
                "note": money if cost is not None else reason,
            }
        )
    ui.table(pa.Table.from_pylist(lines, schema=_LINES), COLUMNS, key="judges")
    where = "all languages, each weighing the same" if scope == "all" else LANGUAGES[scope].name
    st.caption(
        f"Over {where}. Intervals of the first four take a pair of verdicts as the unit, those of the length slope and "
        "the own family the question."
    )


def _prices() -> tuple[float | None, float | None]:
    """Prices of the judges' tokens."""
    with st.popover("Prices", help="For the cost per 1,000 verdicts."):
        prices = [
            st.number_input(f"A million {kind} tokens", min_value=0.0, value=None, placeholder="not known", key=key)
            for kind, key in (("prompt", "price_in"), ("reply", "price_out"))
        ]
    return prices[0], prices[1]


def _chart(rows: list[dict[str, Any]], measure: views.JudgeMeasure, judges: list[str], codes: list[str]) -> None:
    """One measure by language, and the way to the battles."""
    st.caption(measure.meaning)
    if all(row[measure.name] is None for row in rows):
        reasons = sorted({f"{row['judge']}: {row[f'{measure.name}_reason']}" for row in rows})
        st.info(ui.plain(f"No value. {'; '.join(reasons)}."))
        return
    clicked = ui.chart(
        charts.judge_figure(
            rows,
            measure=measure.name,
            judges=judges,
            languages=codes,
            title=TITLES[measure.name],
            unit=measure.unit,
            fair=measure.fair,
            mode=ui.mode(),
        ),
        key=f"by_language_{measure.name}",
        alt=f"{measure.title} of every judge in every language with 95% intervals.",
        select=True,
    )
    if clicked:
        judge, code = clicked
        with st.container(horizontal=True, gap="medium", vertical_alignment="center"):
            st.markdown(f"**{ui.plain(judge)}** in {LANGUAGES[code].name}", width="content")
            ui.onward("battle", "Its battles", languages=(code,), referee=judge)
            ui.onward("leaderboard", "Its ranking", languages=(code,), referee=judge)


def _agreement(page: ui.Page, codes: list[str], scope: str) -> None:
    """How far people agree with each judge and with each other, and judges with each other."""
    st.header("Agreement", anchor=False)
    voted: tuple[votes.Agreement, ...] = ()
    counts = dict.fromkeys(codes, 0)
    try:
        voted = people.agreement_at(page.arena)
        counts = agreements.voted(people.log(page.arena), codes)
    except MirageError as error:
        st.caption(ui.plain(f"People's votes cannot be read now: {error.what}. {error.do}."))
    table = agreements.agreement_rows(page.arena, voted, [*codes, "all"] if scope == "all" else codes)
    # Votes may be in some of the languages only: where there is no row over all that are shown, those there are.
    over = {row.language for row in voted}
    where = {"all"} if scope == "all" and "all" in over else {code for code in codes if code in over}
    shown = [row for row in voted if row.language in where]
    if shown:
        with st.container(horizontal=True, gap="small"):
            for row in shown:
                agreement.agreement_badge(row, where=len(codes) > 1)
    if shown or "answers" in page.arena.tables:
        st.caption(agreement.voted_languages(counts))
    ui.onward("spot_check", "Vote on battles yourself")
    if not len(table):
        return
    rows = table.to_pylist()
    lines = [
        row
        | {
            "who": f"{row['one']}, {'each other' if row['one'] == row['referee'] else row['referee']}"
            + ("" if row["language"] == scope else f" ({row['language']})")
        }
        for row in rows
        if (row["language"] in where if row["one"] == votes.PEOPLE else not scope or row["language"] == scope)
    ]
    if lines:
        schema = table.schema.append(pa.field("who", pa.string()))
        ui.table(pa.Table.from_pylist(lines, schema=schema), AGREEMENT, key="agreement")
        st.caption(
            "Of people's votes those count that are on battles drawn at random; a tie and “both bad” are one. "
            f"Intervals take the question as the unit. From {votes.ENOUGH} questions on the figures can be relied on."
        )
    if len(codes) > 1:
        statistic = ui.pick(
            "Agreement by language",
            list(agreements.STATISTICS),
            key="agreed",
            segments=True,
            help=" ".join(f"{name}: {meaning}" for name, meaning in agreements.STATISTICS.items()),
        )
        named = [
            row | {"judge": f"{row['one']}, {row['referee']}"} | {f"{statistic}_n": row["n"]}
            for row in rows
            if row[statistic] is not None and row["language"] != "all"
        ]
        if named:
            ui.chart(
                charts.judge_figure(
                    named,
                    measure=statistic,
                    judges=list(dict.fromkeys(row["judge"] for row in named)),
                    languages=[code for code in codes if any(row["language"] == code for row in named)],
                    title=f"Agreement, {statistic} (higher is better)",
                    unit="rate" if statistic == "raw" else "rating",
                    fair=None,
                    mode=ui.mode(),
                ),
                key=f"agreement_{statistic}",
                alt="Agreement of every two who decide by language, with 95% intervals; hollow where n is too small.",
            )


main()
