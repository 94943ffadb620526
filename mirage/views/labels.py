"""View of the labels of an arena's queries: whether a program made them, and the result of their audit."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mirage.stats.label_errors import NOT_AUDITED, QueryLabels
from mirage.store.arena import Arena
from mirage.store.labels import has_automatic_labels
from mirage.text.segmentation import as_sentence, count_text

if TYPE_CHECKING:
    from mirage.people.votes.kinds import LabelVote


@dataclass(frozen=True)
class LabelsView:
    """Origin and audit of the labels of an arena's queries."""

    labels: QueryLabels
    """Their origin and their audit."""

    @property
    def mark(self) -> str:
        """Mark of numbers that rest on a program's labels without an audit; empty for others."""
        return NOT_AUDITED if self.labels.unaudited else ""

    @property
    def state(self) -> str:
        """State of the labels: `not audited`, `audited` or `people's`."""
        return "not audited" if self.labels.unaudited else "audited" if self.labels.audit else "people's"

    @property
    def remarks(self) -> tuple[str, ...]:
        """Findings of the audit, or how to audit a program's labels."""
        if self.labels.unaudited:
            audit = "mirage votes audit DIR --out FILE"
            return (f"{as_sentence(NOT_AUDITED)} A program decided which queries are answerable. Audit them: {audit}",)
        if self.labels.audit is None:
            return ()
        queries, found = self.labels.audit.queries, []
        for label, answerable in (("unanswerable", False), ("answerable", True)):
            own = [query for query in queries if query.answerable == answerable]
            found.append(f"{sum(query.wrong for query in own)} of {len(own)} labels {label}")
        audited = f"{count_text(len(queries), 'audited query')} ({self.labels.audit.unclear:,} more unclear)"
        return (f"People found wrong, in {audited}: {', '.join(found)}.", *self.labels.audit.notes)


def labels_view(arena: Arena, votes: Iterable[LabelVote] | None = None) -> LabelsView:
    """Return the origin and the audit of an arena's labels.

    Args:
        arena: the arena.
        votes: votes on labels of all arenas; None if they cannot be read.
    """
    if votes is None:
        return LabelsView(QueryLabels(has_automatic_labels(arena)))
    from mirage.people.votes.labels import labels_of  # deferred import: pages without votes do not need it

    return LabelsView(labels_of(arena, votes))
