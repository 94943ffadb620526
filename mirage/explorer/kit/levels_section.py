"""Section on levels corrected by people's labels, for the pages that show levels."""

from collections.abc import Sequence

import streamlit as st

from mirage.errors import MirageError
from mirage.explorer.kit import votes as people
from mirage.explorer.kit.frame import Page
from mirage.explorer.kit.pick import pick, pick_segments
from mirage.explorer.kit.table import column, plain_table
from mirage.explorer.kit.text import heading, note
from mirage.people.levels.levels import CorrectedLevel
from mirage.schema import Parser, from_rows
from mirage.text.languages import scope_name
from mirage.text.segmentation import as_sentence, join_or_count
from mirage.views.cache import result_or_error
from mirage.views.votes import labelled_measures, levels_view

_SUBSETS = {"non_relevant": "hallucination", "relevant": "error"}
"""Rates by subset."""
_COLUMNS = (
    column(CorrectedLevel, "system"),
    column(CorrectedLevel, "uncorrected", "Measured", "probability"),
    column(CorrectedLevel, "n", width=62),
    column(CorrectedLevel, "corrected", kind="probability"),
    column(CorrectedLevel, "low", kind="probability", width=58),
    column(CorrectedLevel, "high", kind="probability", width=58),
    column(CorrectedLevel, "labels", width=62),
    column(CorrectedLevel, "width", kind="probability", width=62),
    column(CorrectedLevel, "status", width=96),
)


def corrected_section(page: Page, names: Sequence[str], codes: Sequence[str], *, parser: Parser = "strict") -> None:
    """Show the levels corrected by people's labels beside the measured ones; nothing without labels.

    Args:
        page: the page.
        names: measures of the page, the most important first.
        codes: languages to show.
        parser: parser whose outcomes are corrected.
    """
    log = people.evidence_at()
    known = [name for name in labelled_measures(page.arena, log) if name in names]
    if not known:
        return
    heading("Corrected by people's labels")
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        measure = known[0]
        if len(known) > 1:
            measure = pick("Labelled measure", tuple(known), key="corrected_measure", kind="measure", width=240)
        levels = result_or_error(levels_view, page.arena, measure, log, tuple(codes), parser)
        if isinstance(levels, MirageError):
            note(f"Not checked: {levels.what}. {levels.do or ''}")
            return
        scopes = tuple(dict.fromkeys(row.language for row in reversed(levels.rows)))
        subsets = tuple(dict.fromkeys(row.subset for row in levels.rows))
        scope = scopes[0]
        if len(scopes) > 1:
            scope = pick("In", scopes, key="corrected_in", kind="language", named=scope_name, width=170)
        subset = subsets[0]
        if len(subsets) > 1:
            kinds = tuple(_SUBSETS[name] for name in subsets)
            chosen = pick_segments("Rate", kinds, key="corrected_rate", kind="rate")
            subset = subsets[kinds.index(chosen)]
    shown = [row for row in levels.rows if (row.language, row.subset) == (scope, subset)]
    shown.sort(key=lambda row: (row.corrected is None, row.corrected or 0.0, row.system))
    plain_table(from_rows(CorrectedLevel, shown), _COLUMNS, key="corrected_levels")
    for line in _remarks(shown, levels.remarks):
        note(line)


def _remarks(shown: Sequence[CorrectedLevel], notes: Sequence[str]) -> list[str]:
    """Return the notes as sentences, with the reasons of the rows."""
    reasons = dict.fromkeys(row.reason for row in shown if row.reason)
    lines = [as_sentence(line) for line in notes if not line.startswith("not checked")]
    systems = {reason: [row.system for row in shown if row.reason == reason] for reason in reasons}
    return [*lines, *(f"{join_or_count(names, 'system')}: {reason}." for reason, names in systems.items())]
