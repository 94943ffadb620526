"""Data of the Ask page: one desk per arena and process, and the question on display."""

from __future__ import annotations

import re
import secrets
import threading
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module

import numpy as np

from mirage.errors import BadInput, MirageError
from mirage.explorer.answers.data import AnswerView, QueryView
from mirage.llm.streaming import Streams
from mirage.people.ask import AskDesk, Asked, AskSettings, Side, read_settings
from mirage.people.ask.passages import corpus_languages
from mirage.store import Arena
from mirage.store.home import ask_file
from mirage.text.answers import citations
from mirage.text.detection import detect
from mirage.text.languages import LANGUAGES, in_order

DETECT = "detect"
"""Placeholder for the detected language of the question."""
_HTTP = re.compile(r"^(HTTP \d+):.*", re.DOTALL)
_OVERRIDES = dict.fromkeys((0x202D, 0x202E), "\ufffd")
"""Bidirectional control characters, which can make a text look like another text."""


@dataclass(frozen=True, slots=True)
class TypedQuestion:
    """A question as typed, before it is submitted."""

    text: str
    language: str
    """Code of the language chosen, or `DETECT`."""


def desk(arena: Arena) -> AskDesk | None:
    """Return the desk of an arena; None if no file enables questions.

    Raises:
        BadInput: if the file is invalid. The message contains no server paths.
    """
    path = ask_file(arena.path)
    if path is None:
        return None
    try:
        settings = read_settings(path)
    except MirageError as error:
        raise error.rename_path(f"{path.parent}/", "") from None
    _warm()
    return _desk(arena, settings)


@lru_cache(maxsize=8)
def _desk(arena: Arena, settings: AskSettings) -> AskDesk:
    return AskDesk(arena, settings, streams=_streams())


@lru_cache(maxsize=1)
def _streams() -> Streams:
    return Streams()


@lru_cache(maxsize=1)
def _warm() -> None:
    """Import what the first question needs while the reader types; errors are left to the question itself."""

    def import_libraries() -> None:
        for name in ("openai", "bm25s", "mirage.stages.generate.prepare"):
            try:
                import_module(name)
            except ImportError:
                return

    threading.Thread(target=import_libraries, name="ask-imports", daemon=True).start()


def languages(arena: Arena) -> list[str]:
    """Return the languages to choose from: those of the arena's passages first, then other tested languages."""
    own = in_order(corpus_languages(arena))
    return [DETECT, *own, *(code for code in in_order(LANGUAGES) if code not in own)]


def question_language(typed: TypedQuestion, arena: Arena) -> str:
    """Return the language of a question, as chosen or detected.

    Raises:
        BadInput: if it cannot be detected.
    """
    if typed.language != DETECT:
        return typed.language
    if not typed.text.strip():
        raise BadInput("the question is empty", do="type a question")
    code = detect(typed.text, corpus_languages(arena))
    if code is None:
        raise BadInput("the language of the question cannot be detected", do="choose its language, then ask again")
    return code


def ask(desk: AskDesk, typed: TypedQuestion, *, reader: str, address: str) -> Asked:
    """Ask a question.

    Raises:
        MirageError: as `AskDesk.ask`; the message contains no server paths.
    """
    try:
        language = question_language(typed, desk.arena)
        rng = np.random.default_rng(secrets.randbits(64))
        return desk.ask(typed.text, language, reader=reader, address=address, rng=rng)
    except MirageError as error:
        raise error.rename_path(f"{desk.arena.path}/", "") from None


def question_view(asked: Asked, desk: AskDesk) -> QueryView:
    """Return the question with its passages and answers so far, for display."""
    numbered = not desk.settings.template.by_id
    answers = tuple(_answer_view(side, asked, numbered) for side in asked.sides)
    return QueryView((asked.language, asked.query_id), None, asked.text, "", asked.passages, answers)


def _answer_view(side: Side, asked: Asked, numbered: bool) -> AnswerView:
    ids = [passage.passage_id for passage in asked.passages]
    # Replaced one for one, so that citation offsets stay valid; the stored text is unchanged.
    text = side.text.translate(_OVERRIDES)
    return AnswerView(
        side.system,
        text,
        side.status or "ok",
        _public(side.reason),
        outcome=None,
        rule="",
        rule_meaning="",
        span=None,
        correct=None,
        citations=citations(text, ids, numbered=numbered),
        measures=(),
    )


def _public(reason: str | None) -> str | None:
    """Return a reason without the service's message on an HTTP error, which may name an account; the log has it."""
    return None if reason is None else _HTTP.sub(r"\1", reason)
