"""Running the stages of an arena with progress, and the table of steps run and skipped."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mirage.cli.output import Format, note, progress, show

if TYPE_CHECKING:
    from mirage.pipeline import StepReport

CALLS = ("calls", "kept", "failed", "tokens_in", "tokens_out", "money")
"""Columns of the table of steps about calls; empty for a step without calls."""
COLUMNS = ("stage", "step", "state", "why", "seconds", *CALLS)
"""Columns of the table of steps."""


def run_steps(path: Path, *, start: str, end: str, made_by: str, output_format: Format) -> None:
    """Run the stages that are out of date and need no model, with progress, and print the steps, also before an error.

    Args:
        path: the arena.
        start: first stage.
        end: last stage.
        made_by: the command, for the manifest.
        output_format: format of the table.
    """
    from mirage import pipeline
    from mirage.stages.stage import Progress

    results: list[StepReport] = []
    with ExitStack() as bars:

        def watch(step: str) -> Progress:
            bars.close()
            return bars.enter_context(progress(step.capitalize()))

        try:
            settings = pipeline.RunSettings(start=start, end=end, baselines=False)
            for result in pipeline.run_all(path, settings, made_by=made_by, progress=watch):
                bars.close()
                results.append(result)
        finally:
            bars.close()
            if results:
                show([_row(result) for result in results], COLUMNS, output_format)
                note(total(results))


def _row(result: StepReport) -> dict[str, Any]:
    cost = dict.fromkeys(CALLS) if result.cost is None else dataclasses.asdict(result.cost)
    return {**dataclasses.asdict(result), **cost}


def total(results: Sequence[StepReport]) -> str:
    """Summarise the run in one sentence."""
    states = [result.state for result in results]
    parts = [f"{states.count(state)} {state}" for state in dict.fromkeys(states)]
    costs = [result.cost for result in results if result.cost is not None]
    calls, tokens_in, tokens_out = (
        sum(getattr(cost, n) for cost in costs) for n in ("calls", "tokens_in", "tokens_out")
    )
    money = [cost.money for cost in costs if cost.money is not None]
    payment = f", {sum(money):,.2f} in the currency of the prices" if money else ""
    seconds = sum(result.seconds for result in results)
    return (
        f"{', '.join(parts)}; {seconds:,.1f} seconds, {calls:,} calls, {tokens_in:,} prompt tokens and {tokens_out:,}"
        f" reply tokens{payment}."
    )
