"""Optional dependencies, and the commands that install them."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

from mirage.errors import BadInput

Extra = Literal[
    "documents",
    "explorer",
    "hub",
    "local",
    "login",
    "models",
    "postgres",
    "ray",
    "retrieval",
    "second-opinion",
    "vllm",
]

DISTRIBUTION = "mirage-rag"
"""Name of the pip distribution; `mirage` on the package index is another project."""


def install_command(name: Extra) -> str:
    """Return the command that installs an extra, for a checkout or a wheel."""
    return f"pip install '{DISTRIBUTION}[{name}]'"


@contextmanager
def extra(name: Extra, subject: str) -> Iterator[None]:
    """Import optional packages; a missing one raises an error with the extra to install.

    Args:
        name: the extra.
        subject: the feature that needs it, as the subject of a sentence.

    Raises:
        BadInput: if a package is not installed.
    """
    try:
        yield
    except ImportError as error:
        # An installed package that lacks a dependency may raise without a name.
        missing = f"needs {error.name}, which is not installed" if error.name else f"cannot start: {error}"
        raise BadInput(f"{subject} {missing}", do=f"run: {install_command(name)}") from None
