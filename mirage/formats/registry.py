"""Every format by its name. To add one, write a module with a `FORMAT` and name the module in `formats`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from mirage.errors import BadInput, UnknownName
from mirage.formats.spec import Format, Sample

if TYPE_CHECKING:
    from mirage import store


@dataclass(frozen=True, slots=True)
class Recognised:
    """What a file is taken for."""

    format: Format
    """The format."""
    reason: str
    """Why, in a few words."""
    others: tuple[str, ...]
    """Names of other formats that would take it too."""


@cache
def formats() -> dict[str, Format]:
    """Every format by its name, imported when first asked for."""
    from mirage.formats import (
        alpaca_eval,
        bergen,
        inspector,
        lmarena,
        mt_bench,
        nomiracl,
        nuggets,
        open_rag_eval,
        own,
        rag,
        ragas,
        ragelo,
        trec,
        trec_rag,
    )

    # The more special first: of two that take a file the first has it.
    special = (
        nuggets,
        nomiracl,
        mt_bench,
        lmarena,
        alpaca_eval,
        inspector,
        trec_rag,
        ragas,
        bergen,
        ragelo,
        open_rag_eval,
    )
    entries = [*(module.FORMAT for module in (*special, rag, trec)), own.QUERIES, own.ANSWERS, own.JUDGMENTS]
    return {entry.name: entry for entry in entries}


def format_named(name: str) -> Format:
    """The format of a name.

    Raises:
        UnknownName: if there is none.
    """
    if name not in formats():
        raise UnknownName("format", name, formats())
    return formats()[name]


def writer(name: str) -> Callable[[store.Arena, Path], None]:
    """What writes an arena in the format of a name.

    Raises:
        UnknownName: if there is none.
        BadInput: if the format is only read.
    """
    if (write := format_named(name).write) is None:
        names = ", ".join(entry.name for entry in formats().values() if entry.write is not None)
        raise BadInput(f"the format {name} is read and not written", do=f"take one of these: {names}")
    return write


def recognise(sample: Sample) -> Recognised | None:
    """The format that a file is in; None where no format takes it."""
    taken = [(entry, reason) for entry in formats().values() if (reason := entry.recognise(sample))]
    if not taken:
        return None
    (entry, reason), *rest = taken
    return Recognised(entry, reason, tuple(other.name for other, _ in rest))
