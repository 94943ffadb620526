"""Running the stages of an arena with progress, and the table of steps run and skipped."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from mirage.cli.output import note, progress, show

if TYPE_CHECKING:
    from mirage.pipeline import StepReport

COLUMNS = ("stage", "step", "state", "why", "seconds")
"""Columns of the table of steps."""


def measure_outdated(path: Path) -> None:
    """Measure what needs no model and is out of date, with progress, and print the steps, also before an error."""
    from mirage import pipeline
    from mirage.stages.stage import Progress

    results: list[StepReport] = []
    with ExitStack() as bars:

        def watch(step: str) -> Progress:
            bars.close()
            return bars.enter_context(progress(step.capitalize()))

        try:
            for result in pipeline.Steps(path, "mirage measure", watch).measure():
                bars.close()
                results.append(result)
        finally:
            bars.close()
            if results:
                show(results, COLUMNS)
                note(total(results))


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
