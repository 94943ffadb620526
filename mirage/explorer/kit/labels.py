"""Tell what is known about labels that a program made: that no person checked them, or what an audit found."""

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
    """Return what is known about the labels of a page's arena; without the votes, as if there was no audit."""
    from mirage.explorer.kit import votes as people  # deferred: pages without votes need none of its imports

    try:
        return people.labels_at(page.arena)
    except Unreachable:
        return QueryLabels(has_automatic_labels(page.arena))


def mark_labels(page: Page, labels: QueryLabels | None = None) -> None:
    """Say beside the title that a program made the labels and no person checked them, if so.

    Args:
        page: the page; its numbers rest on labels.
        labels: what is known about them; None to look it up.
    """
    if labels is None:
        if not has_automatic_labels(page.arena):
            return
        labels = labels_of(page)
    if labels.unaudited:
        page.label(NOT_AUDITED)


def tell_audit(labels: QueryLabels) -> None:
    """Write what people found about the labels, or that there is no audit, as a note."""
    if labels.unaudited:
        note("Labels not audited: a program decided which queries can be answered. Audit them: mirage votes audit DIR")
    if labels.audit is None:
        return
    queries = labels.audit.queries
    found = []
    for label, answerable in (("unanswerable", False), ("answerable", True)):
        own = [query for query in queries if query.answerable == answerable]
        found.append(f"{sum(query.wrong for query in own)} of {len(own)} labels {label}")
    note(f"People audited {count_text(len(queries), 'query')}. Wrong: {found[0]}, {found[1]}.")
