"""Single-threaded BLAS for small matrices."""

from functools import cache
from typing import Any


@cache
def _blas() -> Any:
    # SciPy has a BLAS of its own, which a controller limits only if it is loaded before.
    import scipy.linalg.lapack  # noqa: F401
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def one_thread() -> Any:
    """Limit BLAS to one thread: for these small products, synchronising threads costs more than it saves."""
    return _blas().limit(limits=1, user_api="blas")
