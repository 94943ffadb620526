"""Identity of a reader: the name verified by the deployment's login, and the session.

The login is Streamlit's own (`st.login`, where its secrets name a provider), else a proxy's: it asks for a name and
passes it on in a header, in place of one that the browser sent. Where the explorer shares a secret with the proxy, a
header without it is nobody's. What a reader brings (votes, files) is theirs by that name, or, without a login, by their
session alone: a name that somebody only typed proves nothing.
"""

from __future__ import annotations

import hmac
import os
import unicodedata
import uuid
from contextlib import suppress
from dataclasses import dataclass

import streamlit as st

from mirage.errors import BadInput
from mirage.explorer.serve.nginx import PROXY_HEADER
from mirage.explorer.serve.replicas import PROXY_SECRET
from mirage.store.roles import Role, roles

HEADER = "X-Forwarded-User"
"""In which a proxy that asks for a login names who is there."""
LOGIN = "MIRAGE_LOGIN"
"""The variable of the environment that says whether votes need a login: `required`, or `optional` (the default)."""
_SESSION, _READER = "_reader_session", "_reader"


@dataclass(frozen=True, slots=True)
class Reader:
    """Reader of a page."""

    name: str
    """The name that the login verified; empty without a login."""
    session: str
    """Id of the session, drawn at random on the server, which alone knows it. A reload of the page is a new session."""
    provided: bool = False
    """Whether a login of Streamlit's own is set up."""

    @property
    def owner(self) -> str:
        """Return the owner of the reader's uploads; any Unicode, not a file name."""
        return f"login:{self.name}" if self.name else f"session:{self.session}"


def look() -> Reader:
    """Look who reads the page, once a run: settings and headers are asked."""
    session: str = st.session_state.setdefault(_SESSION, uuid.uuid4().hex)
    provided = provider()
    current = Reader(_of_provider() if provided else _of_proxy(), session, provided)
    st.session_state[_READER] = current
    return current


def reader() -> Reader:
    """Return the reader of the current run."""
    known: Reader | None = st.session_state.get(_READER)
    return known or look()


def login_required() -> bool:
    """Return whether votes need a verified name.

    Raises:
        BadInput: if the setting is neither `required` nor `optional`; nobody may vote then.
    """
    setting = os.environ.get(LOGIN, "").strip()
    if setting not in ("", "optional", "required"):
        raise BadInput(f"{LOGIN} is {setting!r}", do=f"set {LOGIN} to required or optional, and start again")
    return setting == "required"


def may(role: Role) -> bool:
    """Return whether the reader has a role's rights, by the file of roles and, if votes need one, a login.

    Raises:
        BadInput: if a setting cannot be understood; nobody may do anything but read then.
    """
    name = reader().name
    return roles().permit(name, role) and (bool(name) or not login_required())


def provider() -> bool:
    """Return whether Streamlit's own login is configured: `[auth]` in its secrets."""
    return "is_logged_in" in st.user


def _of_provider() -> str:
    """The e-mail address where the provider has verified it, else the provider's own id of the person: other names are
    anybody's to choose.
    """
    if not st.user.is_logged_in:
        return ""
    person = st.user.to_dict()
    # Providers send the flag as a truth value or as text.
    if person.get("email") and str(person.get("email_verified", False)).lower() == "true":
        return unicodedata.normalize("NFC", str(person["email"])).strip()
    return str(person.get("sub") or "")


def _of_proxy() -> str:
    """The name in the header. Two headers that differ are no name: a proxy sets one, so one is somebody else's."""
    secret = os.environ.get(PROXY_SECRET, "")
    shown = st.context.headers.get(PROXY_HEADER) or ""
    if secret and not hmac.compare_digest(secret.encode(), shown.encode("utf-8", "replace")):
        return ""
    names = {decode_name(value) for value in st.context.headers.get_all(HEADER)}
    return names.pop() if len(names) == 1 else ""


def decode_name(value: str) -> str:
    """A header's value as it was meant: proxies send UTF-8, servers read Latin-1. In Unicode's composed form."""
    with suppress(UnicodeError):  # then it is Latin-1, or text already
        value = value.encode("latin-1").decode("utf-8")
    return unicodedata.normalize("NFC", value).strip()
