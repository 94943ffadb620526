"""Visits that may upload, with the bytes they hold.

Streamlit takes a file from every visit, on any page, and keeps it in memory until the visit ends. A page that draws an
upload admits the visit here; the server (`server.py`) forwards no other file.
"""

from contextlib import suppress
from dataclasses import dataclass, field

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from mirage.errors import MirageError
from mirage.explorer.kit.identity import permit, reader

OF_ALL = 8
"""Maximum bytes of all visits' files, as a multiple of those of the largest file."""


@dataclass
class Visit:
    """A visit that was offered an upload."""

    name: str
    """The reader's verified name; empty without a login."""
    files: dict[str, int] = field(default_factory=dict)
    """Bytes of the held file by its address."""
    busy: bool = False
    """Whether a file is on its way."""


_visits: dict[str, Visit] = {}


def admit() -> None:
    """Let the visit of this run upload, until it ends."""
    _visits.setdefault(_visit_id(), Visit("")).name = reader().name


def uploading_visit(name: str) -> Visit | None:
    """Return a visit that was offered an upload, if its reader still has the role for it; else None."""
    visit = _visits.get(name)
    with suppress(MirageError):  # an invalid setting disables uploads
        if visit is not None and permit(visit.name, "curator"):
            return visit
    return None


def held_bytes(but: Visit) -> int:
    """Return the bytes of the files of all other visits."""
    return sum(sum(visit.files.values()) for visit in tuple(_visits.values()) if visit is not but)


def forget(address: str) -> None:
    """Remove a deleted file from its visit."""
    for visit in tuple(_visits.values()):
        visit.files.pop(address, None)


def _end(name: str) -> None:
    """End a visit; Streamlit frees its files."""
    _visits.pop(name, None)


@st.cache_resource(scope="session", show_spinner=False, on_release=_end)
def _visit_id() -> str:
    """Return Streamlit's name of the visit, which is in the address of an upload and nowhere else in its public API."""
    context = get_script_run_ctx()
    return context.session_id if context else ""
