"""Exceptions of this package: each says what is wrong, where, and what to do.

    MirageError
    ├── BadInput            an invalid file or argument
    │   └── UnknownName     a language, system, column, table ... that does not exist
    ├── ArenaError          an arena folder that is missing, incomplete or damaged
    │   └── TableMissing    a valid arena without a table (the message gives the command)
    ├── NotEnoughData       a statistic that is undefined on this data
    └── Unreachable         a download or a service that did not answer

The command line prints the message and exits with code 2; a page shows it in place. Neither shows a traceback.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from typing import Any

_SECRET = re.compile(r"(?<=:/)(/?)(?:[^/\s]+@)?([^\s'\"?]*)(?:\?[^\s'\"]+)?")
"""User name and password of an address, or its query; a path has one slash where the address has two."""


class MirageError(Exception):
    """Base class. `what` is wrong, `where`, and what to `do`; each one sentence or empty.

    Secrets in addresses are removed: user name, password and query.
    """

    def __init__(self, what: str, *, where: str = "", do: str = "") -> None:
        self.what, self.where, self.do = (_SECRET.sub(r"\1\2", part) for part in (what, where, do))
        super().__init__(self.what)

    def __reduce__(self) -> tuple[Any, ...]:
        # Keep all attributes when pickled between processes, whatever the constructor's signature.
        return _rebuild, (type(self), self.args, self.__dict__)

    def __str__(self) -> str:
        lines = [self.what]
        if self.where:
            lines.append(f"  where: {self.where}")
        if self.do:
            lines.append(f"  to do: {self.do}")
        return "\n".join(lines)

    def rename_path(self, path: str, name: str) -> MirageError:
        """Return this error with a path renamed, such as a server's private folder."""
        self.what, self.where, self.do = (part.replace(path, name) for part in (self.what, self.where, self.do))
        self.args = (self.what,)
        return self


def _rebuild(kind: type[MirageError], args: tuple[Any, ...], state: dict[str, Any]) -> MirageError:
    error = kind.__new__(kind)
    error.args = args
    error.__dict__.update(state)
    return error


class BadInput(MirageError):
    """An invalid file, record or argument, rejected as a whole. `where` is `file:line` if there is a line."""


class UnknownName(BadInput):
    """A name that is not among the valid names; the message lists the nearest.

    Args:
        kind: kind of name, in the singular: "language", "system", "column".
        name: the unknown name.
        valid: the valid names.
        where: file and line, or the arena.
    """

    def __init__(self, kind: str, name: str, valid: Iterable[str], *, where: str = "") -> None:
        names = sorted(set(valid))
        matches = difflib.get_close_matches(name.lower(), [n.lower() for n in names], n=3, cutoff=0.5)
        nearest = [n for n in names if n.lower() in matches]
        suggestions = ", ".join(nearest or names[:20]) or "none available"
        do = f"did you mean: {suggestions}?" if nearest else f"use one of: {suggestions}"
        super().__init__(f"there is no {kind} {name!r}", where=where, do=do)
        self.kind, self.name, self.nearest = kind, name, nearest


class ArenaError(MirageError):
    """An arena folder that is missing, incomplete, damaged, or not writable by us."""


class Outdated(ArenaError):
    """An arena that another program has replaced since it was opened, or since new rows were computed from it."""


class TableMissing(ArenaError):
    """A valid arena without a table: `command` creates it (empty if none does), `adds` says what it adds."""

    def __init__(self, table: str, *, where: str, command: str, adds: str = "") -> None:
        self.table, self.command, self.adds = table, command, adds
        do = f"run: {command}" if command else "use another arena: these texts were not published"
        super().__init__(f"this arena has no {table}", where=where, do=do)

    def rename_path(self, path: str, name: str) -> MirageError:
        """Return this error with a path renamed, in its command too."""
        self.command = self.command.replace(path, name)
        return super().rename_path(path, name)


class NotEnoughData(MirageError):
    """A statistic that is undefined on this data (no battles, one point, an empty selection)."""


class Unreachable(MirageError):
    """A download or a service that did not answer after bounded retries."""
