"""Who reads: the name that a deployment's login verified, and the session.

The login is a proxy's: it asks for a name and passes it on in a header, in place of one that the browser sent. What a
reader brings (votes, files) is theirs by that name, or, without a login, by their session alone: a name that somebody
only typed proves nothing.
"""

from __future__ import annotations

import os
import unicodedata
import uuid
from contextlib import suppress
from dataclasses import dataclass

import streamlit as st

from mirage.errors import BadInput

HEADER = "X-Forwarded-User"
"""In which a proxy that asks for a login names who is there."""
LOGIN = "MIRAGE_LOGIN"
"""The variable of the environment that says whether votes need a login: `required`, or `optional` (the default)."""
_SESSION = "_reader_session"


@dataclass(frozen=True, slots=True)
class Reader:
    """Who reads a page."""

    name: str
    """The name that the login verified; empty without a login."""
    session: str
    """Id of the session, drawn at random on the server, which alone knows it. A reload of the page is a new session."""

    @property
    def owner(self) -> str:
        """Whose a thing is that this reader brings; any Unicode, not a file name."""
        return f"login:{self.name}" if self.name else f"session:{self.session}"


def reader() -> Reader:
    """Who reads the page that is being drawn."""
    session: str = st.session_state.setdefault(_SESSION, uuid.uuid4().hex)
    return Reader(_verified(), session)


def login_required() -> bool:
    """Whether this deployment takes votes only under a verified name.

    Raises:
        BadInput: if the setting is neither `required` nor `optional`; nobody may vote then.
    """
    setting = os.environ.get(LOGIN, "").strip()
    if setting not in ("", "optional", "required"):
        raise BadInput(f"{LOGIN} is {setting!r}", do=f"set {LOGIN} to required or optional, and start again")
    return setting == "required"


def _verified() -> str:
    """The name in the header. Two headers that differ are no name: a proxy sets one, so one is somebody else's."""
    names = {decoded(value) for value in st.context.headers.get_all(HEADER)}
    return names.pop() if len(names) == 1 else ""


def decoded(value: str) -> str:
    """A header's value as it was meant: proxies send UTF-8, servers read Latin-1. In Unicode's composed form."""
    with suppress(UnicodeError):  # then it is Latin-1, or text already
        value = value.encode("latin-1").decode("utf-8")
    return unicodedata.normalize("NFC", value).strip()
