"""Seeded sampling that depends only on the sampled ids, the seed and a name."""

import hashlib
from collections.abc import Sequence


def sample(ids: Sequence[str], size: int, seed: int, name: str) -> list[str]:
    """Return the first `size` ids of a permutation fixed by `seed` and `name`, sorted; a larger sample contains the
    smaller.

    Args:
        ids: population, in a deterministic order.
        size: maximum sample size.
        seed: 0 or more.
        name: name of the sample, so that different samples with one seed are independent.
    """
    import numpy as np

    stream = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big")
    order = np.random.default_rng([seed, stream]).permutation(len(ids))
    return sorted(ids[i] for i in order[:size])
