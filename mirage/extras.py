"""What is installed on request: `pip install 'mirage[NAME]'`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

from mirage.errors import BadInput

Extra = Literal["hub", "local", "models", "ops", "postgres", "ray", "retrieval", "storage", "vllm"]


@contextmanager
def extra(name: Extra, subject: str) -> Iterator[None]:
    """Import within this; a package that is absent becomes an error that names the extra which brings it.

    Args:
        name: the extra.
        subject: what needs it, as the subject of a sentence.

    Raises:
        BadInput: if a package is not installed.
    """
    try:
        yield
    except ImportError as error:
        raise BadInput(
            f"{subject} needs {error.name}, which is not installed", do=f"run: pip install 'mirage[{name}]'"
        ) from None
