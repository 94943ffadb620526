"""The audit of labels: a sample of queries for people to check, and the label errors they find.

items = draw_audit(arena, n=40, seed=0)            # half of each label, in proportion to the languages
audit = label_audit(arena, log)                    # votes on the current texts: a LabelAudit, or None
rates = correct_rates(rates, QueryLabels(True, audit))  # `mirage.stages.outcomes`
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np

from mirage import store
from mirage.errors import BadInput, NotEnoughData, UnknownName, Unreachable
from mirage.people.votes.belonging import belonging, votes_on
from mirage.people.votes.database import Votes
from mirage.people.votes.rows import UNDO, LabelVote, majority
from mirage.schema import CodeOrAll, Count, Share, Subset
from mirage.stats.label_errors import AuditedQuery, LabelAudit, QueryLabels
from mirage.store.labels import has_automatic_labels, query_labels
from mirage.text.languages import in_order


@dataclass(frozen=True, slots=True)
class AuditItem:
    """A query drawn for an audit."""

    row, field = LabelVote, "query"

    language: str
    """Language of the query."""
    query_id: str
    """The query."""
    inclusion: float
    """Inclusion probability, in (0, 1]."""

    @property
    def key(self) -> tuple[str, ...]:
        """The query."""
        return (self.query_id,)


@dataclass(frozen=True, slots=True)
class LabelCheck:
    """People's answers on the queries with one label, in one language or in all."""

    key = ("language", "label")

    language: CodeOrAll
    """Language of the queries; `all`: counts are sums, `error` is the mean over the languages with at least 10 audited
    queries of the label."""
    label: Literal["unanswerable", "answerable"]
    """The label: subset `non_relevant` is unanswerable, `relevant` answerable."""
    queries: Count
    """Queries with the label."""
    audited: Count
    """Checked queries that people agree on."""
    wrong: Count
    """Those with a wrong label."""
    error: Share | None
    """Share of wrong labels, weighted by the audit's design; null with a reason."""
    error_low: Share | None
    """Lower end of its 95% interval."""
    error_high: Share | None
    """Upper end."""
    unclear: Count
    """Checked queries that people call unclear or disagree on; excluded."""
    voters: Count
    """People who voted."""
    agree: Share | None
    """Share of pairs of people who agree on a query; null without pairs."""
    not_asked: Count
    """Checked queries that no user would ask, by the majority."""
    asked: Count
    """Checked queries with a majority for or against."""
    wrong_language: Count
    """Checked queries in another language than stated, by the majority."""
    reason: str | None
    """Why `error` is null, or which languages that of `all` leaves out."""


def labels_of(arena: store.Arena, log: Iterable[LabelVote]) -> QueryLabels:
    """Return what is known about an arena's labels: whether a program made them, and people's audit.

    Args:
        arena: the arena.
        log: votes on labels of all arenas.
    """
    return QueryLabels(has_automatic_labels(arena), label_audit(arena, log))


def read_labels(arena: store.Arena, database: Votes) -> QueryLabels:
    """Return what is known about an arena's labels, from the votes of a database (`labels_of`).

    Raises:
        Unreachable: if the database does not respond, and a program made the labels.
    """
    try:
        return labels_of(arena, database.rows(LabelVote))
    except Unreachable:
        if has_automatic_labels(arena):
            raise
        return QueryLabels()


def draw_audit(
    arena: store.Arena, *, n: int, languages: Sequence[str] | None = None, seed: int = 0
) -> tuple[AuditItem, ...]:
    """Draw queries for an audit: half of each label, in proportion to the languages within a label, else at random.

    Args:
        arena: with labelled queries and their passages.
        n: number of queries.
        languages: codes; None for all with labels.
        seed: random seed.

    Returns:
        The queries in random order, each with the chance of its label and language.

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
    chosen = {key: label for key, label in labelled.items() if languages is None or key[0] in languages}
    rng = np.random.default_rng(seed)
    items: list[AuditItem] = []
    counts = {label: sum(other == label for other in chosen.values()) for label in ("non_relevant", "relevant")}
    if not all(counts.values()):
        missing = min(counts, key=lambda label: counts[label])
        raise NotEnoughData(
            f"{arena.name} has no query with the label {missing}",
            do="an audit needs queries of both labels, as from mirage testset",
        )
    first = min(n - n // 2, counts["non_relevant"])
    shares = {"non_relevant": max(first, n - counts["relevant"]), "relevant": n - first}
    for label, number in shares.items():
        strata: dict[str, list[str]] = defaultdict(list)
        for (language, query), other in sorted(chosen.items()):
            if other == label:
                strata[language].append(query)
        for language, k in _allot(min(number, counts[label]), {code: len(ids) for code, ids in strata.items()}).items():
            ids = strata[language]
            items += [AuditItem(language, ids[place], k / len(ids)) for place in rng.permutation(len(ids))[:k].tolist()]
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


def label_audit(arena: store.Arena, log: Iterable[LabelVote]) -> LabelAudit | None:
    """Return people's findings on the labels of an arena; None if none has been checked.

    The majority on a query counts; queries without a majority for yes or no are excluded. Votes on queries whose
    text or passages have changed do not count.

    Args:
        arena: the arena.
        log: votes on labels of all arenas.
    """
    labelled = query_labels(arena)
    by_query = _votes_by_query(arena, log)
    if not by_query:
        return None
    queries, unclear = [], 0
    for key, found in sorted(by_query.items()):
        opinion = majority([vote.vote for vote in found])
        if opinion == "unclear":
            unclear += 1
            continue
        answerable = labelled[key] == "relevant"
        chance = next((vote.inclusion for vote in found if vote.inclusion is not None), None)
        weight = 1.0 if chance is None else 1 / chance
        queries.append(AuditedQuery(*key, answerable, answerable != (opinion == "yes"), weight))
    return LabelAudit(tuple(queries), unclear)


def check_labels(arena: store.Arena, log: Iterable[LabelVote]) -> list[LabelCheck]:
    """Summarise an audit by language and label, `all` last.

    Raises:
        NotEnoughData: if no label of the arena in its current state has been checked.
    """
    log = list(log)
    audit, by_query, labelled = label_audit(arena, log), _votes_by_query(arena, log), query_labels(arena)
    if audit is None:
        changed = votes_on(arena, log).changed
        what = f"no label of {arena.name} was checked"
        if changed:
            what += f" in its current state: passages have changed since {len(changed)} votes"
        raise NotEnoughData(what, do="draw an audit and import the votes: mirage votes audit DIR --out FILE.html")
    codes = in_order({language for language, _ in by_query})
    rows = []
    for language in codes if len(codes) == 1 else (*codes, "all"):
        only = codes if language == "all" else [language]
        for label, subset in (("unanswerable", "non_relevant"), ("answerable", "relevant")):
            rows.append(_check(language, label, subset, only, audit, by_query, labelled))  # type: ignore[arg-type]
    return rows


def refuse_strays(arena: store.Arena, rows: Sequence[LabelVote], where: Sequence[str]) -> None:
    """Check that votes are on queries of an arena in its current state.

    Args:
        arena: the arena.
        rows: the votes, undos included.
        where: location of each, for error messages.

    Raises:
        BadInput: at the first vote on a query that is gone, or whose text or passages have changed.
    """
    here = {row.vote_id: same for row, same in belonging(arena, rows)}
    for row, place in zip(rows, where, strict=True):
        if row.vote != UNDO and not here.get(row.vote_id, False):
            state = "has changed passages" if row.vote_id in here else "is missing or has a different text"
            raise BadInput(
                f"the query {row.language}:{row.query_id} {state} in {arena.name}",
                where=place,
                do="draw the audit again: mirage votes audit DIR --out FILE.html; nothing was imported",
            )


def _check(
    language: str,
    label: Literal["unanswerable", "answerable"],
    subset: Subset,
    codes: Sequence[str],
    audit: LabelAudit,
    by_query: dict[tuple[str, str], list[LabelVote]],
    labelled: Mapping[tuple[str, str], Subset],
) -> LabelCheck:
    """Summarise one label in one language, or in all."""
    found = {key: rows for key, rows in by_query.items() if key[0] in codes and labelled[key] == subset}
    audited = [query for query in audit.queries if (query.language, query.query_id) in found]
    error, reason = audit.mean_error(codes, answerable=label == "answerable")
    pairs = [
        (a.vote, b.vote)
        for rows in found.values()
        for a, b in combinations([vote for vote in rows if vote.vote != "skip"], 2)
    ]
    asked = Counter(majority([vote.asked or "" for vote in rows]) for rows in found.values())
    tongue = Counter(majority([vote.right_language or "" for vote in rows]) for rows in found.values())
    return LabelCheck(
        language=language,
        label=label,
        queries=sum(key[0] in codes and other == subset for key, other in labelled.items()),
        audited=len(audited),
        wrong=sum(query.wrong for query in audited),
        error=error[0] if error else None,
        error_low=error[1] if error else None,
        error_high=error[2] if error else None,
        unclear=len(found) - len(audited),
        voters=len({vote.voter for rows in found.values() for vote in rows}),
        agree=sum(a == b for a, b in pairs) / len(pairs) if pairs else None,
        not_asked=asked["no"],
        asked=asked["no"] + asked["yes"],
        wrong_language=tongue["no"],
        reason=reason,
    )


def _votes_by_query(arena: store.Arena, log: Iterable[LabelVote]) -> dict[tuple[str, str], list[LabelVote]]:
    """Return the valid votes by labelled query, without skips."""
    labelled = query_labels(arena)
    by_query: dict[tuple[str, str], list[LabelVote]] = defaultdict(list)
    for vote in votes_on(arena, log).counting:
        key = (vote.language, vote.query_id)
        if vote.vote != "skip" and key in labelled:
            by_query[key].append(vote)
    return dict(by_query)
