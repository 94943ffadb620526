"""Rank fusion of several retrievers' lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

K = 60
"""The constant of reciprocal rank fusion in its paper."""


def fuse(lists: Mapping[str, Sequence[str]], depth: int, *, k: int = K) -> list[tuple[str, float]]:
    """Fuse lists by reciprocal rank: each passage scores the sum of 1 / (k + rank) over the lists that contain it.

    Source: Cormack, Clarke and Buettcher, SIGIR 2009.

    Args:
        lists: passage ids by retriever, best first.
        depth: maximum number of passages.
        k: smoothing constant; larger values weigh the top ranks less.

    Returns:
        Ids and scores, best first; ties by id.
    """
    scores: dict[str, float] = {}
    for name in sorted(lists):
        for rank, passage_id in enumerate(lists[name], start=1):
            scores[passage_id] = scores.get(passage_id, 0.0) + 1 / (k + rank)
    return sorted(scores.items(), key=lambda item: (-item[1], item[0]))[:depth]
