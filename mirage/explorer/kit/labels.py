"""Notes on automatic labels: not audited, or the findings of an audit."""

from mirage.errors import Unreachable
from mirage.explorer.kit.frame import Page
from mirage.explorer.kit.text import note
from mirage.store.labels import has_automatic_labels
from mirage.views.labels import LabelsView, labels_view


def labels_of(page: Page) -> LabelsView:
    """Return the origin and the audit of the labels of a page's arena; without an audit if the votes cannot be read."""
    from mirage.explorer.kit import votes as people  # deferred import: pages without votes do not need it

    try:
        return people.labels_at(page.arena)
    except Unreachable:
        return labels_view(page.arena)


def mark_labels(page: Page, labels: LabelsView | None = None) -> None:
    """Mark the title if a program made the labels and no person has checked them.

    Args:
        page: the page; its numbers depend on labels.
        labels: what is known about them; None to look it up.
    """
    if labels is None and has_automatic_labels(page.arena):
        labels = labels_of(page)
    if labels is not None and labels.mark:
        page.label(labels.mark)


def tell_audit(labels: LabelsView) -> None:
    """Write a note on the audit of the labels, or on its absence."""
    for remark in labels.remarks:
        note(remark)
