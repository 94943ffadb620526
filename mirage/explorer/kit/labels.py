"""Notes on automatic labels: not audited, or the findings of an audit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mirage.errors import Unreachable
from mirage.explorer.kit.text import note
from mirage.stats.label_errors import NOT_AUDITED, QueryLabels
from mirage.store.labels import has_automatic_labels
from mirage.text.segmentation import count_text

if TYPE_CHECKING:
    from mirage.explorer.kit.frame import Page


def labels_of(page: Page) -> QueryLabels:
    """Return what is known about the labels of a page's arena; if the votes cannot be read, without an audit."""
    from mirage.explorer.kit import votes as people  # deferred import: pages without votes do not need it

    try:
        return people.labels_at(page.arena)
    except Unreachable:
        return QueryLabels(has_automatic_labels(page.arena))


def mark_labels(page: Page, labels: QueryLabels | None = None) -> None:
    """Mark the title if a program made the labels and no person has checked them.

    Args:
        page: the page; its numbers depend on labels.
        labels: what is known about them; None to look it up.
    """
    if labels is None:
        if not has_automatic_labels(page.arena):
            return
        labels = labels_of(page)
    if labels.unaudited:
        page.label(NOT_AUDITED)


def tell_audit(labels: QueryLabels) -> None:
    """Write a note on the audit of the labels, or on its absence."""
    if labels.unaudited:
        audit = "mirage votes audit DIR --out FILE"
        note(f"Labels not audited: a program decided which queries can be answered. Audit them: {audit}")
    if labels.audit is None:
        return
    queries = labels.audit.queries
    found = []
    for label, answerable in (("unanswerable", False), ("answerable", True)):
        own = [query for query in queries if query.answerable == answerable]
        found.append(f"{sum(query.wrong for query in own)} of {len(own)} labels {label}")
    note(f"People audited {count_text(len(queries), 'query')}. Wrong: {found[0]}, {found[1]}.")
