"""Registry of formats. To add one, add a table to `flat.toml`, or a module with a `FORMAT` to `formats`."""

from dataclasses import dataclass
from functools import cache

from mirage.errors import UnknownName
from mirage.io.formats.build import Format
from mirage.io.formats.spec import Sample


@dataclass(frozen=True, slots=True)
class Recognised:
    """Detected format of a file."""

    format: Format
    """The format."""
    reason: str
    """Reason, in a few words; empty if the user named the format."""


@cache
def formats() -> dict[str, Format]:
    """Return every format by name, imported on first use."""
    from mirage.io.formats import (
        arena_hard,
        flat,
        inspect_log,
        inspector,
        lm_eval,
        lmarena,
        mt_bench,
        nomiracl,
        nuggets,
        open_rag_eval,
        otel,
        own,
        pairs,
        promptfoo,
        rag,
        trec,
        trec_rag,
        wide,
    )

    # The more special first: of two that take a file the first has it.
    logs = (otel, promptfoo, inspect_log, lm_eval, nuggets, nomiracl, arena_hard, mt_bench)
    tables = (pairs, lmarena, inspector, trec_rag, open_rag_eval, wide, rag, trec)
    entries = [*(module.FORMAT for module in logs), *flat.FORMATS, *(module.FORMAT for module in tables)]
    entries += [own.QUERIES, own.ANSWERS, own.JUDGMENTS]
    return {entry.name: entry for entry in entries}


@cache
def record_lists() -> frozenset[tuple[str, ...]]:
    """Return the places of the lists of records in the JSON documents of every format (`spec.Format.lists`)."""
    return frozenset(place for entry in formats().values() for place in entry.lists)


def format_named(name: str) -> Format:
    """Return the format of a name.

    Raises:
        UnknownName: if there is none.
    """
    if name not in formats():
        raise UnknownName("format", name, formats())
    return formats()[name]


def recognise(sample: Sample) -> list[Recognised]:
    """Return the formats that a file may have, the most likely first."""
    return [Recognised(entry, reason) for entry in formats().values() if (reason := entry.recognise(sample))]
