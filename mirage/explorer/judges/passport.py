"""Judge passports for the Judges page."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from mirage.errors import MirageError
from mirage.explorer.kit import votes as people
from mirage.people.exam.passport import Passport, judges_of, passport
from mirage.people.votes import PEOPLE
from mirage.publish.charts import primitives
from mirage.publish.charts.palette import FORMATS, ROW, SPACE, Mode, axis, label_text, layout, rows_axis
from mirage.stages.judge.faults import FAMILIES, has_items, passport_path
from mirage.store import open_arena

if TYPE_CHECKING:
    from mirage.store import Arena


def items_of(arena: Arena) -> Arena | None:
    """Return the arena of the planted faults; None if there is none, or only some queries are selected."""
    if arena.tags or not has_items(arena.path):
        return None
    return open_arena(passport_path(arena.path))


def passport_judges(items: Arena) -> tuple[str, ...]:
    """Return the judges with a passport, by name."""
    return judges_of(items)


def passport_at(items: Arena, judge: str) -> Passport | None:
    """Return the passport of a judge with the current votes; None if it cannot be computed."""
    return _passport(items, judge, people.version())


@lru_cache(maxsize=16)
def _passport(items: Arena, judge: str, _version: tuple[str, int]) -> Passport | None:
    try:
        return passport(items, judge, votes=people.log(items))
    except MirageError:
        return None


def passport_rows(result: Passport, language: str) -> list[dict[str, Any]]:
    """Return one row per fault in a language or `all`, with the judge's and people's rates."""
    beside = {row.fault: row for row in result.rows if (row.judge, row.language) == (PEOPLE, language)}
    rows = []
    for row in result.rows:
        if (row.judge, row.language) != (result.judge, language):
            continue
        human = beside.get(row.fault)
        rows.append(
            {
                "fault": FAMILIES[row.fault].title,
                "meaning": FAMILIES[row.fault].meaning,
                "detected": row.detected,
                "low": row.low,
                "high": row.high,
                "n": row.n,
                "split": row.split,
                "split_low": row.split_low,
                "split_high": row.split_high,
                "people": human.detected if human else None,
                "people_low": human.low if human else None,
                "people_high": human.high if human else None,
                "people_n": human.n if human else 0,
                "unread": row.unread,
                "unmade": row.unmade,
                "reason": row.reason,
            }
        )
    return rows


def passport_map(result: Passport, codes: list[str], *, mode: Mode) -> dict[str, Any]:
    """Draw the rates of a judge by fault and language, in percent.

    Args:
        result: the passport.
        codes: languages, left to right.
        mode: light or dark.
    """
    write = FORMATS["rate"].write
    faults = list(FAMILIES)
    known = [
        (codes.index(row.language), faults.index(row.fault), row, row.detected)
        for row in result.rows
        if row.judge == result.judge and row.language in codes and row.detected is not None
    ]
    titles = [label_text(FAMILIES[fault].title) for fault in faults]
    return {
        "data": [
            primitives.cells(
                [(column, line) for column, line, _, _ in known],
                [f"{100 * value:.0f}" for _, _, _, value in known],
                [
                    f"<b>{label_text(FAMILIES[row.fault].title)}</b>, {label_text(row.language)}<br>{write(value)}"
                    + ("" if row.low is None else f" ({write(row.low)} to {write(row.high)})")
                    + f"<br>n = {row.n:,}"
                    for _, _, row, value in known
                ],
                clicks=[[row.language, row.fault] for _, _, row, _ in known],
                shade=[1 - value for _, _, _, value in known],
                mode=mode,
                size=ROW + 4,
                text_size=12,
            )
        ],
        "layout": layout(
            mode,
            height=(ROW + 8) * len(faults) + 70,
            width=150 + max((ROW + 6) * len(codes), 160) + 20,
            margin={"l": SPACE, "r": SPACE, "t": 40, "b": SPACE},
            xaxis=axis(
                mode,
                side="top",
                tickvals=list(range(len(codes))),
                ticktext=[label_text(code) for code in codes],
                range=[-0.6, max(len(codes), 5) - 0.4],
                showgrid=False,
                zeroline=False,
            ),
            yaxis=rows_axis(titles, mode, showgrid=False),
        ),
    }
