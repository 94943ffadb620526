"""Identity of a reader: the name verified by the deployment's login, and the session.

The login is Streamlit's own (`st.login`, if its secrets configure a provider), else a proxy's: the proxy authenticates
the reader and passes the name in a header, replacing any that the browser sent. If the explorer shares a secret with
the proxy, a header without it is ignored. A reader owns votes and files by that name, or, without a login, by session:
a typed name proves nothing.
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
"""Header in which an authenticating proxy passes the reader's name."""
LOGIN = "MIRAGE_LOGIN"
"""Environment variable: whether votes need a login, `required` or `optional` (the default)."""
_SESSION, _READER = "_reader_session", "_reader"


@dataclass(frozen=True, slots=True)
class Reader:
    """Reader of a page."""

    name: str
    """The verified name; empty without a login."""
    session: str
    """Random session id, known only to the server. A reload of the page starts a new session."""
    provided: bool = False
    """Whether Streamlit's own login is configured."""

    @property
    def owner(self) -> str:
        """Return the owner of the reader's uploads; any Unicode, not a file name."""
        return f"login:{self.name}" if self.name else f"session:{self.session}"


def look() -> Reader:
    """Identify the reader from settings and headers, once per run."""
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
        BadInput: if the setting is neither `required` nor `optional`; voting is then disabled.
    """
    setting = os.environ.get(LOGIN, "").strip()
    if setting not in ("", "optional", "required"):
        raise BadInput(f"{LOGIN} is {setting!r}", do=f"set {LOGIN} to required or optional, and start again")
    return setting == "required"


def may(role: Role) -> bool:
    """Return whether the reader has a role's rights, by the file of roles and, if votes need one, a login.

    Raises:
        BadInput: if a setting is invalid; readers can then only read.
    """
    name = reader().name
    return roles().permit(name, role) and (bool(name) or not login_required())


def provider() -> bool:
    """Return whether Streamlit's own login is configured: `[auth]` in its secrets."""
    return "is_logged_in" in st.user


def _of_provider() -> str:
    """Return the e-mail address if the provider verified it, else the provider's id: other names are unverified."""
    if not st.user.is_logged_in:
        return ""
    person = st.user.to_dict()
    # Providers send the flag as a truth value or as text.
    if person.get("email") and str(person.get("email_verified", False)).lower() == "true":
        return unicodedata.normalize("NFC", str(person["email"])).strip()
    return str(person.get("sub") or "")


def _of_proxy() -> str:
    """Return the name in the header; empty if several headers differ, since the proxy sets only one."""
    secret = os.environ.get(PROXY_SECRET, "")
    shown = st.context.headers.get(PROXY_HEADER) or ""
    if secret and not hmac.compare_digest(secret.encode(), shown.encode("utf-8", "replace")):
        return ""
    names = {decode_name(value) for value in st.context.headers.get_all(HEADER)}
    return names.pop() if len(names) == 1 else ""


def decode_name(value: str) -> str:
    """Decode a header's value (proxies send UTF-8, servers read Latin-1) and normalise it to NFC."""
    with suppress(UnicodeError):  # then it is Latin-1, or text already
        value = value.encode("latin-1").decode("utf-8")
    return unicodedata.normalize("NFC", value).strip()
