"""Identity of a reader: the name verified by the deployment's login, and the session.

The login is Streamlit's own (`st.login`, if its secrets configure a provider). A reader owns votes and files by the
verified name, or, without a login, by session: a typed name proves nothing.
"""

from __future__ import annotations

import os
import unicodedata
import uuid
from dataclasses import dataclass

import streamlit as st

from mirage.errors import BadInput
from mirage.store.roles import Role, roles

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
    """Identify the reader, once per run."""
    session: str = st.session_state.setdefault(_SESSION, uuid.uuid4().hex)
    provided = provider()
    current = Reader(verified_name() if provided else "", session, provided)
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


def verified_name() -> str:
    """Return the e-mail address if the provider verified it, else the provider's id: other names are unverified."""
    if not st.user.is_logged_in:
        return ""
    person = st.user.to_dict()
    # Providers send the flag as a truth value or as text.
    if person.get("email") and str(person.get("email_verified", False)).lower() == "true":
        return unicodedata.normalize("NFC", str(person["email"])).strip()
    return str(person.get("sub") or "")
