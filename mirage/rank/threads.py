"""How many threads the linear algebra of small matrices takes: one."""

from __future__ import annotations

from functools import cache
from typing import Any


@cache
def _blas() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def one_thread() -> Any:
    """Hold BLAS to one thread: these products are too small to share, and waiting for a second core costs more."""
    return _blas().limit(limits=1, user_api="blas")
