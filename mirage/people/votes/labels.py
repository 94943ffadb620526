"""The audit of labels: a sample of queries for people to check, and the label errors they find.

items = draw_audit(arena, n=40, seed=0)            # half of each label, in proportion to the languages
audit = label_audit(arena, log)                    # votes on the current texts: a LabelAudit, or None
rates = correct_rates(rates, QueryLabels(True, audit))  # `mirage.stages.outcomes`
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from mirage.errors import BadInput, NotEnoughData, UnknownName, Unreachable
from mirage.people.votes.belonging import votes_on
from mirage.people.votes.database import Votes
from mirage.people.votes.kinds import LabelVote
from mirage.people.votes.rows import majorities
from mirage.stats.label_errors import AuditedQuery, LabelAudit, QueryLabels
from mirage.store.arena import Arena
from mirage.store.labels import has_automatic_labels, query_labels
from mirage.text.languages import in_order


@dataclass(frozen=True, slots=True)
class AuditItem:
    """A query drawn for an audit."""

    row = LabelVote

    language: str
    """Language of the query."""
    query_id: str
    """The query."""


def labels_of(arena: Arena, log: Iterable[LabelVote]) -> QueryLabels:
    """Return the origin and the audit of an arena's labels.

    Args:
        arena: the arena.
        log: votes on labels of all arenas.
    """
    return QueryLabels(has_automatic_labels(arena), label_audit(arena, log))


def read_labels(arena: Arena, database: Votes) -> QueryLabels:
    """Return the origin and the audit of an arena's labels, given the database of votes (`labels_of`).

    Raises:
        Unreachable: if the database does not respond, and a program made the labels.
    """
    try:
        return labels_of(arena, database.rows(LabelVote))
    except Unreachable:
        if has_automatic_labels(arena):
            raise
        return QueryLabels()


def draw_audit(arena: Arena, *, n: int, languages: Sequence[str] | None = None, seed: int = 0) -> tuple[AuditItem, ...]:
    """Draw queries for an audit: half of each label, in proportion to the languages within a label, else at random.

    Args:
        arena: with labelled queries and their passages.
        n: number of queries.
        languages: codes; None for all with labels.
        seed: random seed.

    Returns:
        The queries in random order; those of a label and language are a plain random sample.

    Raises:
        BadInput: if `n` is below 2.
        UnknownName: if a language has no labels.
        NotEnoughData: if a label has no query.
    """
    if n < 2:
        raise BadInput(f"an audit of {n} queries cannot check both labels", do="audit 40 queries or more")
    labelled = query_labels(arena)
    present = in_order({language for language, _ in labelled})
    for language in languages or ():
        if language not in present:
            raise UnknownName("language", language, present, where=f"{arena.address} (labels of queries)")
    strata: dict[str, dict[str, list[str]]] = {"non_relevant": {}, "relevant": {}}
    for (language, query), label in sorted(labelled.items()):
        if languages is None or language in languages:
            strata[label].setdefault(language, []).append(query)
    rng = np.random.default_rng(seed)
    items: list[AuditItem] = []
    counts = {label: sum(map(len, ids.values())) for label, ids in strata.items()}
    if not all(counts.values()):
        missing = min(counts, key=lambda label: counts[label])
        raise NotEnoughData(
            f"{arena.name} has no query with the label {missing}",
            do="an audit needs queries of both labels, as from mirage testset",
        )
    first = min(n - n // 2, counts["non_relevant"])
    shares = {"non_relevant": max(first, n - counts["relevant"]), "relevant": n - first}
    for name, number in shares.items():
        given = _allot(min(number, counts[name]), {code: len(ids) for code, ids in strata[name].items()})
        for language, ids in strata[name].items():
            own = rng.permutation(len(ids))[: given[language]].tolist()
            items += [AuditItem(language, ids[place]) for place in own]
    return tuple(items[place] for place in rng.permutation(len(items)).tolist())


def _allot(n: int, sizes: dict[str, int]) -> dict[str, int]:
    """Divide n over strata in proportion to their sizes, by largest remainders."""
    total = sum(sizes.values())
    exact = {name: n * size / total for name, size in sizes.items()}
    given = {name: int(share) for name, share in exact.items()}
    left = n - sum(given.values())
    for name in sorted(exact, key=lambda name: (given[name] - exact[name], name))[:left]:
        given[name] += 1
    return given


def label_audit(arena: Arena, log: Iterable[LabelVote]) -> LabelAudit | None:
    """Return people's findings on the labels of an arena; None if none has been checked.

    The majority on a query counts; queries without a majority for yes or no are excluded. Votes on queries whose
    text or passages have changed do not count.

    Args:
        arena: the arena.
        log: votes on labels of all arenas.
    """
    labelled = query_labels(arena)
    votes = votes_on(arena, log)
    found = {key: label for key, label in majorities(votes.counting).items() if key in labelled}
    if not found:
        return None
    queries = [
        AuditedQuery(language, query, labelled[language, query] == "relevant", labelled[language, query] != label)
        for (language, query), label in sorted(found.items())
        if label is not None
    ]
    return LabelAudit(tuple(queries), len(found) - len(queries), tuple(votes.notes()))
