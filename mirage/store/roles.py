"""Roles of a deployment: a TOML file that lists people by role.

    default = "reader"              # everybody not listed
    voters = ["amina@example.org", "oidc:https://login.example.org#8f2c41"]
    curators = ["zoë@example.org"]

`MIRAGE_ROLES` is the path of the file, which is reloaded when it changes. Without it everybody may do everything, as on
a personal machine. Only verified names (from a login) have roles; everybody else has the default.
"""

import os
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, get_args

from mirage.errors import BadInput
from mirage.store.settings import read_toml

Role = Literal["reader", "voter", "curator"]
"""A `reader` reads; a `voter` also votes; a `curator` also uploads answers of systems."""
ROLES = "MIRAGE_ROLES"
"""Environment variable with the path of the file."""
_ORDER: tuple[Role, ...] = get_args(Role)
_LISTS: Mapping[str, Role] = {"readers": "reader", "voters": "voter", "curators": "curator"}


@dataclass(frozen=True, slots=True)
class Roles:
    """The roles of a deployment."""

    default: Role
    """Role of everybody not listed, with or without a login."""
    people: Mapping[str, Role]
    """Role by verified name, in Unicode's composed form."""

    def permit(self, name: str, role: Role) -> bool:
        """Return whether a person has the permissions of a role.

        Args:
            name: the verified name; empty without a login.
            role: the lowest role with the permission.
        """
        own = self.people.get(unicodedata.normalize("NFC", name), self.default) if name else self.default
        return _ORDER.index(own) >= _ORDER.index(role)


def roles() -> Roles:
    """Return the roles of this deployment.

    Raises:
        BadInput: if the file cannot be read or is malformed; voting and uploading are then denied.
    """
    setting = os.environ.get(ROLES, "").strip()
    if not setting:
        return Roles("curator", {})
    path = Path(setting).expanduser()
    try:
        status = path.stat()
    except OSError as error:
        raise BadInput(f"the roles file cannot be read: {error.strerror or error}", where=str(path), do=_do()) from None
    return _read(path, (status.st_mtime_ns, status.st_size, status.st_ino))


def _do() -> str:
    return f"set {ROLES} to a roles file that the explorer can read"


@lru_cache(maxsize=4)
def _read(path: Path, _stamp: tuple[int, int, int]) -> Roles:
    try:
        entries = read_toml(path)
    except OSError as error:
        raise BadInput(f"the roles file cannot be read: {error}", where=str(path), do=_do()) from None
    if unknown := sorted(set(entries) - {"default", *_LISTS}):
        raise BadInput(f"unknown keys: {', '.join(unknown)}", where=str(path), do=f"use default, {', '.join(_LISTS)}")
    default: Any = entries.get("default", "reader")
    if default not in _ORDER:
        raise BadInput(f"the default role is {default!r}", where=str(path), do=f"use one of {', '.join(_ORDER)}")
    people: dict[str, Role] = {}
    for key, role in _LISTS.items():
        for name in _names(entries.get(key, []), f"{path}: {key}"):
            if people.setdefault(name, role) != role:
                raise BadInput(f"{name} has two roles", where=str(path), do="list each person once")
    return Roles(default, people)


def _names(value: Any, where: str) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(name, str) and name.strip() for name in value):
        raise BadInput("it is not a list of names", where=where, do='write names as ["amina", "zoë"]')
    return [unicodedata.normalize("NFC", name).strip() for name in value]
