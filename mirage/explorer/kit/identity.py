"""Identity of a reader, by the deployment's login or the session, and the reader's own data: view, download, erase.

The login is Streamlit's own (`st.login`, if its secrets configure a provider). A reader owns votes and files by the
verified name, or, without a login, by session: a typed name proves nothing.
"""

import json
import os
import re
import uuid
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import streamlit as st

from mirage.errors import BadInput, MirageError
from mirage.explorer.kit.states import refuse
from mirage.explorer.kit.text import plain
from mirage.store import owned
from mirage.store.roles import Role, roles
from mirage.text.names import hidden_character, normalise_name

LOGIN = "MIRAGE_LOGIN"
"""Environment variable: whether votes need a login, `required` or `optional` (the default)."""
_SESSION, _READER = "_reader_session", "_reader"
_ADDRESS = re.compile(r"[^\s@:]+@[^\s@:]+")
"""An e-mail address; without a colon, so that no address is in the namespace of ids."""


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
    """Return whether the reader has a role's rights (`permit`)."""
    return permit(reader().name, role)


def permit(name: str, role: Role) -> bool:
    """Return whether a verified name has a role's rights, by the file of roles and, if votes need one, a login.

    Raises:
        BadInput: if a setting is invalid; readers can then only read.
    """
    return roles().permit(name, role) and (bool(name) or not login_required())


def provider() -> bool:
    """Return whether Streamlit's own login is configured: `[auth]` in its secrets."""
    return "is_logged_in" in st.user


def verified_name() -> str:
    """Return the name that the login verified; empty without a login."""
    return claimed_name(st.user.to_dict()) if st.user.is_logged_in else ""


def claimed_name(claims: Mapping[str, Any]) -> str:
    """Return the e-mail address of a login's claims if the provider verified it, else `oidc:ISSUER#SUB`.

    An id may be any text, such as another person's address: with its issuer in front it equals none.
    """
    email, sub = (normalise_name(str(claims.get(name) or "")) for name in ("email", "sub"))
    # Providers send the flag as a truth value or as text.
    verified = str(claims.get("email_verified", False)).lower() == "true"
    if verified and _ADDRESS.fullmatch(email) and not hidden_character(email):
        return email
    return f"oidc:{claims.get('iss') or ''}#{sub}" if sub else ""


def show_account() -> None:
    """Show the login state and the reader's data in the sidebar; nothing without a login."""
    current_reader = reader()
    name = current_reader.name
    if not name:
        if current_reader.provided:
            st.button("Log in", key="yours_login", on_click=st.login, width="stretch")
        return
    with st.container(horizontal=True, gap="small"):
        if st.button(f"{plain(name)} …", key="yours_open", type="tertiary", help="Data stored under your name."):
            _show_data()
        if current_reader.provided:
            st.button("Log out", key="yours_logout", type="tertiary", on_click=st.logout)


@st.dialog("Your data")
def _show_data() -> None:
    """Let readers view, download and erase their data."""
    from mirage.explorer.kit import votes as people
    from mirage.people.votes.kinds import KINDS

    current_reader = reader()
    try:
        rows = {name: people.database().rows(kind.row, voter=current_reader.name) for name, kind in KINDS.items()}
    except MirageError as error:
        refuse(error)
        return
    copies = owned.owned_arenas(current_reader.owner)
    st.markdown(f"**{plain(current_reader.name)}**")
    st.caption(
        f"Votes and notes: {', '.join(f'{name} {len(own):,}' for name, own in rows.items())}. "
        f"Arenas with your uploads: {len(copies):,}."
    )
    kept = {
        "name": current_reader.name,
        **{name: [asdict(row) for row in own] for name, own in rows.items()},
        "arenas": sorted(copies),
    }
    st.download_button(
        "Download all",
        lambda: json.dumps(kept, ensure_ascii=False, indent=1).encode("utf-8"),
        "mine.json",
        "application/json",
        on_click="ignore",
    )
    st.caption(
        "Erasing removes your name, the texts of your notes and session times; votes and categories are kept "
        "anonymously. "
        "Your arenas are deleted. This cannot be undone."
    )
    certain = st.checkbox("I understand", key="yours_certain")
    if st.button("Erase", type="primary", key="yours_erase", disabled=not certain):
        try:
            n = people.database().forget(current_reader.name)
            for path in copies.values():
                owned.delete(current_reader.owner, path)
        except MirageError as error:
            refuse(error)
            return
        st.session_state.pop("_spot_session", None)
        st.success(f"Your name was removed from {n:,} rows and {len(copies):,} arenas were deleted.")
