"""Options that choose or repeat battles; what chooses battles itself refuses them: rounds, anchor set, passport."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Literal

from mirage.errors import BadInput
from mirage.schema import OVERALL

_KEEPS = {"anchors": (), "until": (), "passport": ("queries", "repeats")}
"""Options that what chooses the battles itself still takes."""


@dataclass(frozen=True, slots=True)
class BattleChoice:
    """Options that choose or repeat battles, as given; the names are those of the command and of `mirage.judge`."""

    queries: int | None = None
    """Maximum queries per language."""
    pairs: int | None = None
    """Pairs per language."""
    battles: Path | None = None
    """File with battles."""
    known: bool = False
    """Whether to judge known-answer pairs."""
    planted: bool = False
    """Whether to plant verdicts in answers."""
    repeats: int = 1
    """Verdicts on each battle in each order."""
    replace: bool = False
    """Whether to judge again."""
    shard: str | None = None
    """Part of the battles."""
    anchors: int | None = None
    """Pairs per language of the anchor set."""
    until: str | None = None
    """Goal of adaptive judging."""

    def refuse(
        self, chooser: Literal["anchors", "until", "passport"], *, criterion: str, spell: Callable[[str], str] = str
    ) -> None:
        """Raise if options are given beside one that chooses the battles itself.

        Args:
            chooser: the option that chooses.
            criterion: name of the criterion; the anchor set is judged by `overall` alone.
            spell: writes the name of an option as the reader knows it.

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
        if chooser == "anchors" and criterion != OVERALL:
            raise BadInput(
                f"the anchor set is judged by the criterion {OVERALL}",
                do=f"omit {', '.join(map(spell, ('criterion', 'rubric', 'prompt')))}",
            )
