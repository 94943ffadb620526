"""Upload of a file as `mirage evaluate` takes it: what was recognised and assumed, corrections, and the command."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st

from mirage.errors import ArenaError, MirageError
from mirage.explorer.kit.frame import Page, switch
from mirage.explorer.kit.identity import reader
from mirage.explorer.kit.states import refuse, show_progress
from mirage.explorer.kit.text import note, plain
from mirage.io.options import Options
from mirage.store import home, owned
from mirage.store.arena import Arena, is_arena, open_arena

if TYPE_CHECKING:
    from mirage.pipeline.adding import Upload

COMMANDS = "_evaluate_commands"
"""Session key: by the folder of an arena, the command that makes it from the uploaded file."""
_UPLOADS = "_n_uploads"
"""Session key: number of evaluated files."""
_EXAMPLES = "_upload_examples"
"""Session key: by the id of an upload, its fields with an example each, so that no rerun writes and reads it again."""
_RECOGNISED = "Recognised"
_KEEP = "as it is"


@dataclass(frozen=True)
class Choice:
    """A reader's choices of how a file is read."""

    kind: str | None
    """Its format; None to recognise it."""
    names: tuple[tuple[str, str], ...]
    """Fields of the file, each with our field."""
    values: tuple[tuple[str, str], ...]
    """Our fields, each with the value for records without one."""

    @property
    def options(self) -> Options:
        """The same as options of a reader."""
        return Options(dict(self.names), dict(self.values))

    def command(self, file: str, arena: Arena, upload: Upload) -> str:
        """Return the command that evaluates the file in the same way, alone or in a copy of an arena."""
        kind = upload.summary.format if upload.joins else self.kind
        words = ["mirage", "evaluate", file, *(["--as", kind] if kind else [])]
        words += [word for pair in self.names for word in ("--map", "=".join(pair))]
        words += [word for pair in self.values for word in ("--set", "=".join(pair))]
        if upload.answers is None:
            return shlex.join(words)
        copy = f"mirage arena copy {shlex.quote(arena.bundled or arena.name)} my-arena"
        codes = ",".join(sorted(set(upload.answers["language"].to_pylist())))
        return f"{copy} && {shlex.join([*words, '--into', 'my-arena'])} && mirage rank my-arena --languages {codes}"


def upload_form(page: Page) -> None:
    """Take a file, show how it is read, and evaluate it on request."""
    given = st.file_uploader(
        "Answers, verdicts or scores",
        key=f"your_file_{st.session_state.get(_UPLOADS, 0)}",
        help="Any file that mirage evaluate takes: JSON, JSON Lines, CSV, Parquet, logs; also compressed.",
    )
    st.caption(_retention_words())
    if given is None:
        return
    name, data = re.sub(r"[^\w.\- ]", "_", Path(given.name).name).lstrip(".")[-100:] or "answers", given.getvalue()
    place = st.container()
    choice = _corrections(given.file_id, name, data)
    try:
        upload = _read(page, name, data, choice)
    except MirageError as error:
        error.do = _name_fields(error.do)
        with place:
            refuse(error)
        return
    st.markdown("\n".join(f"- {plain(_name_fields(line))}" for line in upload.summary.lines()))
    joins = " among those of " + page.arena.title if upload.joins else ""
    if st.button(f"Rank {'its systems' if not joins else 'them'}{plain(joins)}", type="primary", key="evaluate_upload"):
        _evaluate(page, name, data, choice, upload)
    note("On the command line:")
    st.code(choice.command(name, page.arena, upload), language=None, wrap_lines=True)


def _name_fields(text: str) -> str:
    """Return a text that names options of the command with the fields of the form instead, where it has them."""
    from mirage.io.formats.fields import FIELDS

    text = re.sub(r"--set (system|language)=\w+", lambda option: f"the field {option[1].capitalize()}", text)
    text = re.sub(rf"--map ('[^']+'|[^\s=]+)=({'|'.join((*FIELDS, 'ignored'))})\b", r"\1 read as \2,", text)
    return re.sub(r"--as ([\w-]+)", r"the format \1,", text)


def _corrections(file_id: str, name: str, data: bytes) -> Choice:
    """Draw the fields of a file as they are read, its format and defaults, to be corrected."""
    from mirage.io.formats.registry import formats

    with st.expander("How it is read", expanded=True, key=f"corrections_{file_id}"):
        with st.container(horizontal=True, gap="medium"):
            kind = st.selectbox("Format", (_RECOGNISED, *formats()), key=f"kind_{file_id}", width=200)
            system = st.text_input("System, where none is named", key=f"system_{file_id}", max_chars=80, width=240)
            language = st.text_input("Language, where none is named", key=f"language_{file_id}", width=240)
        names = _field_editor(file_id, name, data)
    values = [("system", system.strip()), ("language", language.strip())]
    return Choice(None if kind == _RECOGNISED else kind, names, tuple(pair for pair in values if pair[1]))


def _field_editor(file_id: str, name: str, data: bytes) -> tuple[tuple[str, str], ...]:
    """Draw the fields of a file with an example and what they are read as, and return those that were changed."""
    from mirage.io.formats.fields import FIELDS
    from mirage.io.formats.fields import plain as spelling
    from mirage.pipeline.adding import first_records

    found: dict[str, dict[str, Any]] = st.session_state.setdefault(_EXAMPLES, {})
    if file_id not in found:
        found.clear()
        with _hold_upload(name, data) as file:
            found[file_id] = first_records(file)
    if not (examples := found[file_id]):
        return ()
    known = {theirs: ours for ours, names in FIELDS.items() for theirs in names}
    rows = [
        {"Field": field, "Example": str(value)[:80], "Read as": known.get(spelling(field), _KEEP)}
        for field, value in examples.items()
    ]
    edited = st.data_editor(
        rows,
        key=f"fields_{file_id}",
        hide_index=True,
        disabled=["Field", "Example"],
        column_config={"Read as": st.column_config.SelectboxColumn(options=[_KEEP, *FIELDS, "ignored"], required=True)},
    )
    return tuple(
        (str(new["Field"]), str(new["Read as"]))
        for old, new in zip(rows, edited, strict=True)
        if new["Read as"] not in (old["Read as"], _KEEP)
    )


def _read(page: Page, name: str, data: bytes, choice: Choice) -> Upload:
    """Read a file once in a session for each choice.

    Raises:
        MirageError: with the file's own name, not the server's folders.
    """
    from mirage.pipeline.adding import read_upload

    key = (page.arena.address, page.arena.version, name, hash(data), choice)
    known: dict[Any, Upload] = st.session_state.setdefault("_uploads", {})
    if key not in known:
        known.clear()
        with _hold_upload(name, data) as file:
            known[key] = read_upload(page.arena, file, kind=choice.kind, options=choice.options)
    return known[key]


def _evaluate(page: Page, name: str, data: bytes, choice: Choice, upload: Upload) -> None:
    """Evaluate a file in a folder of the reader's own, and open it."""
    from mirage.pipeline import adding, evaluating
    from mirage.pipeline.evaluating import EvaluateSettings

    folder, owner = own_folder(page, name, joins=upload.joins), reader().owner
    completed = False
    with show_progress("Evaluating ...") as move:
        base = open_arena(folder) if upload.joins and is_arena(folder) else page.arena
        owned.need_room(owner, len(data) + (0 if is_arena(folder) else page.arena.size * upload.joins))
        with home.lock_folder(owned.owner_folder(owner)), _hold_upload(name, data) as file:
            try:
                if upload.joins:
                    adding.add_systems(
                        base, upload.answers, folder, progress=lambda k, of: move(k / max(of, 1), f"{k:,} of {of:,}")
                    )
                else:
                    settings = EvaluateSettings(kind=choice.kind, options=choice.options)
                    evaluating.evaluate(
                        file, folder, settings, made_by="the page Your system", progress=lambda step: _watch(move, step)
                    )
                completed = True
            except OSError as error:
                message = f"the file cannot be saved: {error.strerror or error}"
                raise ArenaError(message, do="free space, then try again") from None
    if completed:
        st.session_state[_UPLOADS] = st.session_state.get(_UPLOADS, 0) + 1  # the next upload has a field of its own
        st.session_state.setdefault(COMMANDS, {})[str(folder)] = choice.command(name, page.arena, upload)
        switch(folder)


def own_folder(page: Page, name: str, *, joins: bool) -> Path:
    """Return the folder of what a file makes: the reader's copy of the arena, or a new arena named after the file."""
    own = owned.owned_arenas(reader().owner)
    if joins:
        here = page.arena.path
        return here if here in own.values() else owned.owner_folder(reader().owner) / f"{page.arena.name}-own"
    stem = name.partition(".")[0] or "answers"
    free = (stem, *(f"{stem}-{k}" for k in range(2, len(own) + 3)))
    return owned.owner_folder(reader().owner) / next(each for each in free if each not in own)


def _hold_upload(name: str, data: bytes) -> AbstractContextManager[Path]:
    """Hold a file of the reader's while it is read."""
    return owned.stored_upload(reader().owner, name, data)


def _watch(move: Callable[[float, str], None], step: str) -> Callable[[int, int | None], None]:
    """Return the progress of a step of an evaluation."""
    title = step.capitalize()
    move(0.0, title)
    return lambda done, of: move(done / of if of else 0.0, f"{title}: {done:,}" + (f" of {of:,}" if of else ""))


def _retention_words() -> str:
    """Describe how long uploads are kept, for whom, and the storage limit."""
    current_reader = reader()
    until = (
        f"under your login, {plain(current_reader.name)}"
        if current_reader.name
        else f"until you reload the page, for {owned.KEPT_HOURS} hours at most"
    )
    return f"It is stored for you alone, {until}. Storage limit: {owned.quota() / 1e6:,.0f} MB."
