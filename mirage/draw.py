"""Seeded draws that depend on what is drawn and on nothing else."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence


def sample(ids: Sequence[str], size: int, seed: int, name: str) -> list[str]:
    """The first `size` ids of a permutation that `seed` and `name` fix, sorted; a larger sample contains the smaller.

    Args:
        ids: what is drawn from, in an order that does not depend on chance.
        size: how many to draw, at most.
        seed: 0 or more.
        name: what is drawn, so that different draws of one seed are independent.
    """
    import numpy as np

    stream = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big")
    order = np.random.default_rng([seed, stream]).permutation(len(ids))
    return sorted(ids[i] for i in order[:size])
