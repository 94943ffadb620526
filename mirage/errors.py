"""Every error this package raises on purpose: what is wrong, where, and what to do about it.

    MirageError
    ├── BadInput            a file or an argument that cannot be taken as it is
    │   └── UnknownName     a language, system, column, table ... that is not there
    ├── ArenaError          an arena folder that is absent, half written or damaged
    │   └── TableMissing    the arena is sound but lacks a table (the message names the command)
    ├── NotEnoughData       a statistic that has no value on this data
    └── Unreachable         a download or a service that did not answer

The command line prints the text and exits with code 2; a page shows it in place. Neither shows a traceback.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any


class MirageError(Exception):
    """The root. `what` is wrong, `where` it was seen, what to `do`; each one sentence or empty."""

    def __init__(self, what: str, *, where: str = "", do: str = "") -> None:
        self.what, self.where, self.do = what, where, do
        super().__init__(what)

    def __reduce__(self) -> tuple[Any, ...]:
        # Errors of other processes arrive whole, whatever arguments their class is made with.
        return _again, (type(self), self.args, self.__dict__)

    def __str__(self) -> str:
        lines = [self.what]
        if self.where:
            lines.append(f"  where: {self.where}")
        if self.do:
            lines.append(f"  to do: {self.do}")
        return "\n".join(lines)

    def named(self, path: str, name: str) -> MirageError:
        """Return this error with another name for a path, such as one of a server whose folders are private."""
        self.what, self.where, self.do = (part.replace(path, name) for part in (self.what, self.where, self.do))
        self.args = (self.what,)
        return self


def _again(kind: type[MirageError], args: tuple[Any, ...], state: dict[str, Any]) -> MirageError:
    error = kind.__new__(kind)
    error.args = args
    error.__dict__.update(state)
    return error


class BadInput(MirageError):
    """A file, record or argument that is refused whole. `where` is `file:line` where there is a line."""


class UnknownName(BadInput):
    """A name that is not among the valid ones; the message lists the nearest.

    Args:
        kind: what the name should be, in the singular: "language", "system", "column".
        name: the name that was given.
        valid: the names that exist.
        where: file and line, or the arena.
    """

    def __init__(self, kind: str, name: str, valid: Iterable[str], *, where: str = "") -> None:
        names = sorted(set(valid))
        matches = difflib.get_close_matches(name.lower(), [n.lower() for n in names], n=3, cutoff=0.5)
        nearest = [n for n in names if n.lower() in matches]
        suggestions = ", ".join(nearest or names[:20]) or "none here"
        do = f"did you mean: {suggestions}?" if nearest else f"use one of: {suggestions}"
        super().__init__(f"there is no {kind} {name!r}", where=where, do=do)
        self.kind, self.name, self.nearest = kind, name, nearest


class ArenaError(MirageError):
    """An arena folder that is absent, half written, damaged, or not ours to write into."""


class TableMissing(ArenaError):
    """A sound arena without a table that was asked for: `command` brings it, `adds` says what a reader has of it."""

    def __init__(self, table: str, *, where: str, command: str, adds: str = "") -> None:
        self.table, self.command, self.adds = table, command, adds
        more = f"; it would bring {adds}" if adds else ""
        super().__init__(f"this arena has no {table}{more}", where=where, do=f"run: {command}")


class NotEnoughData(MirageError):
    """A statistic that is undefined on this data (no battles, one point, an empty selection)."""


class Unreachable(MirageError):
    """A download or a service that did not answer after bounded retries."""
