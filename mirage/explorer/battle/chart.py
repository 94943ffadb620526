"""Chart of the Battle page: the win matrix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mirage.publish.charts import primitives
from mirage.publish.charts.leaderboard import HEAD
from mirage.publish.charts.palette import FORMATS, ROW, SPACE, Mode, axis, label_text, layout, rows_axis


def win_matrix(cells: Sequence[Mapping[str, Any]], *, systems: Sequence[str], mode: Mode) -> dict[str, Any]:
    """Draw each system's (row) share of wins against each other (column), as squares, which are clickable, unlike an
    image.

    Args:
        cells: `system, other, wins, ties, losses, unparsed, n`, and `share, low, high`, null where no battle had a
            winner; both ways round.
        systems: the order of rows and columns, best first.
        mode: light or dark.
    """
    positions = {system: i for i, system in enumerate(systems)}
    shown = [cell for cell in cells if cell["system"] in positions and cell["other"] in positions]
    labels = [label_text(system) for system in systems]
    return {
        "data": [
            primitives.cells(
                [(positions[cell["other"]], positions[cell["system"]]) for cell in shown],
                ["–" if cell["share"] is None else f"{100 * cell['share']:.0f}" for cell in shown],
                [_hover(cell) for cell in shown],
                clicks=[[cell["system"], cell["other"]] for cell in shown],
                # The ramp runs from best to worst; a pair without a winner stands in its middle.
                shade=[0.5 if cell["share"] is None else 1 - cell["share"] for cell in shown],
                mode=mode,
                size=ROW - 3,
                text_size=11,
            )
        ],
        "layout": layout(
            mode,
            height=HEAD + ROW * len(systems) + 120,
            width=190 + 34 * len(systems) + 60,
            margin={"l": SPACE, "r": 60, "t": HEAD, "b": SPACE},
            xaxis=axis(
                mode,
                side="top",
                tickvals=list(range(len(systems))),
                ticktext=labels,
                tickangle=-45,
                range=[-0.6, len(systems) - 0.4],
                showgrid=False,
                zeroline=False,
            ),
            yaxis=rows_axis(labels, mode, showgrid=False),
        ),
    }


def _hover(cell: Mapping[str, Any]) -> str:
    rate, count = FORMATS["rate"], FORMATS["count"]
    lines = [f"<b>{label_text(cell['system'])}</b> against <b>{label_text(cell['other'])}</b>"]
    if cell["share"] is None:
        lines.append("no battle has a winner")
    else:
        ends = f"{rate.write(cell['low'])} to {rate.write(cell['high'])}"
        lines.append(f"won {rate.write(cell['share'])} of the battles with a winner, 95% interval {ends}")
    lines.append(
        f"won {count.write(cell['wins'])}, tied {count.write(cell['ties'])}, lost {count.write(cell['losses'])}"
    )
    unread = f", {count.write(cell['unparsed'])} of them without a readable verdict" if cell["unparsed"] else ""
    lines.append(f"n = {count.write(cell['n'])} queries{unread}")
    return "<br>".join(lines)
