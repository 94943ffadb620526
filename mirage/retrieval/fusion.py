"""Lists of several retrievers made one, by the ranks alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

K = 60
"""The constant of reciprocal rank fusion in its paper."""


def fused(lists: Mapping[str, Sequence[str]], depth: int, *, k: int = K) -> list[tuple[str, float]]:
    """Fuse lists: each passage gets the sum of 1 / (k + rank) over the lists that have it.

    Source: Cormack, Clarke and Buettcher, SIGIR 2009.

    Args:
        lists: ids of passages by retriever, best first.
        depth: how many passages, at most.
        k: how little the first ranks count more than those after them.

    Returns:
        Ids and scores, best first; of equal scores in the order of the ids.
    """
    scores: dict[str, float] = {}
    for name in sorted(lists):
        for rank, passage_id in enumerate(lists[name], start=1):
            scores[passage_id] = scores.get(passage_id, 0.0) + 1 / (k + rank)
    return sorted(scores.items(), key=lambda item: (-item[1], item[0]))[:depth]
