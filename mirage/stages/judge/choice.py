"""Options that select or repeat battles, and their conflicts with rounds and the passport."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Literal

from mirage.errors import BadInput

_KEEPS = {"until": (), "passport": ("queries", "repeats")}
"""Options that each of these modes still accepts."""


@dataclass(frozen=True, slots=True)
class BattleChoice:
    """Options that select or repeat battles, named as in the command and `mirage.judge`."""

    queries: int | None = None
    """Maximum queries per language."""
    pairs: int | None = None
    """Pairs per language."""
    known: bool = False
    """Whether to judge known-answer pairs."""
    planted: bool = False
    """Whether to plant verdicts in answers."""
    repeats: int = 1
    """Verdicts on each battle in each order."""
    replace: bool = False
    """Whether to judge again."""
    shard: str | None = None
    """Shard of the battles."""
    until: str | None = None
    """Goal of adaptive judging."""

    def refuse(self, chooser: Literal["until", "passport"], *, spell: Callable[[str], str] = str) -> None:
        """Raise if options conflict with a mode that selects the battles itself.

        Args:
            chooser: the option of the mode.
            spell: formats an option's name for the message.

        Raises:
            BadInput: naming the options to omit.
        """
        given = [
            spell(option.name)
            for option in fields(self)
            if option.name not in (chooser, *_KEEPS[chooser]) and getattr(self, option.name) != option.default
        ]
        if given:
            raise BadInput(
                f"{spell(chooser)} chooses the battles itself, and cannot be combined with {', '.join(given)}",
                do=f"omit {', '.join(given)}",
            )
