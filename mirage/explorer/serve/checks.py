"""Checks of a deployment's settings: `mirage check --deployment`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from mirage.errors import MirageError
from mirage.explorer.serve.replicas import COOKIE_SECRET, PROXY_SECRET, find_nginx
from mirage.store import home, owned
from mirage.store.roles import ROLES, roles

State = Literal["fine", "absent", "wrong"]
_SECRET = re.compile(r"[A-Za-z0-9_-]{16,}")
_FILES = 4_096
"""Open files needed by a busy explorer: two per reader, and those of its arenas."""


@dataclass(frozen=True, slots=True)
class Check:
    """Result of one check."""

    what: str
    """Subject of the check."""
    state: State
    """`fine`; `absent`: missing but optional; `wrong`: something will not work."""
    message: str
    """Finding."""
    do: str
    """Suggested action; empty if none is needed."""


def deployment_checks(environment: Mapping[str, str]) -> list[Check]:
    """Check the requirements of serving several readers.

    Args:
        environment: the variables of the deployment. Messages contain no secrets.
    """
    checks = [_nginx(), *_names(environment), *_secrets(environment), _roles(), _folder(), _quota()]
    return [*checks, _database(environment), _descriptors()]


def _nginx() -> Check:
    if program := find_nginx():
        return Check("nginx", "fine", program, "")
    return Check("nginx", "absent", "not installed", "install it, unless the proxy is on another machine")


def _names(environment: Mapping[str, str]) -> Iterator[Check]:
    if hosts := environment.get("STREAMLIT_SERVER_ALLOWED_HOSTS", ""):
        yield Check("hosts", "fine", hosts, "")
    else:
        do = "set STREAMLIT_SERVER_ALLOWED_HOSTS, or give --host to mirage app --workers"
        yield Check("hosts", "absent", "only this machine's own host names are served", do)
    login = environment.get("MIRAGE_LOGIN", "").strip()
    if login not in ("", "optional", "required"):
        yield Check("login", "wrong", f"MIRAGE_LOGIN is {login!r}", "set it to required or optional")
    elif login == "required":
        yield Check("login", "fine", "votes need a login", "")
    else:
        do = "set MIRAGE_LOGIN=required behind a login"
        yield Check("login", "absent", "no login: anyone can vote under any name", do)


def _secrets(environment: Mapping[str, str]) -> Iterator[Check]:
    meanings = {
        PROXY_SECRET: "without it any program on this machine can claim a name",
        COOKIE_SECRET: "without it logins end at a restart",
    }
    for name, meaning in meanings.items():
        do = f"set {name} to 16 or more letters and digits: openssl rand -hex 32"
        if name not in environment:
            yield Check(name, "absent", meaning, do)
        elif not _SECRET.fullmatch(environment[name]):
            yield Check(name, "wrong", "it is too short, or has other characters", do)
        else:
            yield Check(name, "fine", "set", "")


def _roles() -> Check:
    try:
        people = roles().people
    except MirageError as error:
        return Check("roles", "wrong", f"{error.where}: {error.what}", error.do)
    if not os.environ.get(ROLES):
        return Check("roles", "absent", "everyone may vote and upload answers", f"name a file of roles in {ROLES}")
    return Check("roles", "fine", f"{len(people):,} people have one", "")


def _folder() -> Check:
    folder = home.home_folder()
    present = next(path for path in (folder, *folder.parents) if path.exists())
    if os.access(present, os.W_OK | os.X_OK):
        return Check("folder", "fine", f"{folder} can be written", "")
    return Check("folder", "wrong", f"{folder} cannot be written", "check permissions, or set MIRAGE_HOME")


def _quota() -> Check:
    try:
        return Check("uploads", "fine", f"{owned.quota() / 1e6:,.0f} MB a reader", "")
    except MirageError as error:
        return Check("uploads", "wrong", error.what, error.do)


def _database(environment: Mapping[str, str]) -> Check:
    from mirage.people.votes import URL, Votes

    address = environment.get(URL, "")
    if not address:
        do = f"set {URL} to a PostgreSQL database if the explorers are on several machines"
        return Check("votes' database", "absent", "SQLite: works for explorers on one machine", do)
    try:
        with Votes(address) as database:
            database.version()
            return Check("votes' database", "fine", f"{database.where} answers", "")
    except MirageError as error:
        return Check("votes' database", "wrong", error.what, error.do)


def _descriptors() -> Check:
    try:
        import resource
    except ImportError:  # not on Windows
        return Check("open files", "absent", "unknown on this system", "")
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if limit == resource.RLIM_INFINITY or limit >= _FILES:
        return Check("open files", "fine", f"{limit:,} a process", "")
    return Check(
        "open files", "wrong", f"{limit:,} a process", f"raise the limit to {_FILES:,}: LimitNOFILE in systemd"
    )
