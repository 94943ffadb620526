"""The desk of a live arena: takes a question, streams two systems' answers, and stores the vote.

    desk = AskDesk(arena, settings, streams=streams)
    with desk.ask("Who wrote Faust?", "en", reader="session", address="", rng=rng) as asked:
        while not asked.done:
            asked.wait(0.5)             # then asked.sides[0].text ...
        desk.vote(asked, "A", reader="session")

Leaving the block closes the connections of unfinished answers, so that a reader who leaves costs no more tokens.
"""

from __future__ import annotations

import logging
import queue
import time
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial

import numpy as np

from mirage import schema
from mirage.errors import BadInput, NotEnoughData
from mirage.llm.calls import Messages, prompt_tokens, text_tokens
from mirage.llm.streaming import Ending, Piece, Stream, StreamCall, Streams
from mirage.people.ask.pairs import choose_pair
from mirage.people.ask.passages import find_passages
from mirage.people.ask.rows import VotedQuestion, known_question, open_live, question_id, vote_pairs, write_vote
from mirage.people.ask.settings import AskSettings, AskSystem
from mirage.stages.generate.prepare import prepare
from mirage.stages.generate.settings import GenerateSettings
from mirage.store import Arena
from mirage.store.admissions import Admissions
from mirage.text.languages import language as language_of

_LOG = logging.getLogger(__name__)
WHOLE = ("ok", "truncated")
"""Statuses of answers that can be voted on."""
_KEPT = "\n\t\u200c\u200d"
"""Control characters to keep: line breaks, and the joiners of Persian and Indic scripts."""
PAUSE = 60.0
"""Seconds for which a failed system is not used, if two others are available."""


@dataclass
class Side:
    """One of the two answers, as received so far."""

    system: str
    """The system; hidden from the reader until the vote."""
    text: str = ""
    """The text received so far."""
    status: schema.Status | None = None
    """As in `schema.Answer`; None while the answer is streaming."""
    reason: str | None = None
    """Why it is incomplete."""
    thoughts: str | None = None
    """A reasoning model's thoughts, if sent separately."""
    stored: schema.Answer | None = None
    """The answer stored in the live arena; None if the system was called."""
    first_seconds: float | None = None
    """Seconds from the question to the first text; None without text and for stored answers."""
    money: float = 0.0
    """Price."""

    @property
    def whole(self) -> bool:
        """True if the answer can be voted on."""
        return self.status in WHOLE and bool(self.text.strip())


@dataclass
class Asked:
    """A question and its two answers, in the order shown; a context manager that closes unfinished answers."""

    language: str
    """Code of the question's language."""
    query_id: str
    """Its id."""
    text: str
    """The question."""
    passages: tuple[schema.Passage, ...]
    """The passages shown to both systems."""
    sides: tuple[Side, Side]
    """The answers."""
    vote: schema.Verdict | None = None
    """The reader's vote."""
    closed: bool = False
    """Whether the question was closed before both answers had ended."""
    events: queue.SimpleQueue[tuple[int, Piece | Ending]] = field(default_factory=queue.SimpleQueue, repr=False)
    """Queue of received events, by side."""
    streams: dict[int, Stream] = field(default_factory=dict, repr=False)
    """The connections, by side."""
    began: float = field(default_factory=time.monotonic)
    """Time of the question, on the monotonic clock."""
    settle: Callable[[Asked], None] | None = None
    """Called once, when both answers have ended."""
    price: Callable[[Side, int | None, int | None], float] | None = None
    """Price of an answer, given its tokens or None for estimates."""

    @property
    def done(self) -> bool:
        """True if both answers have ended."""
        return all(side.status is not None for side in self.sides)

    @property
    def votable(self) -> bool:
        """True if both answers are complete and there is no vote yet."""
        return all(side.whole for side in self.sides) and self.vote is None

    def wait(self, seconds: float) -> bool:
        """Process received events, waiting at most this long; return whether there were any."""
        if self.done:
            return False
        try:
            number, event = self.events.get(timeout=seconds)
        except queue.Empty:
            return False
        self._take(number, event)
        while not self.events.empty():
            # Only this thread processes events.
            self._take(*self.events.get())
        return True

    def close(self) -> None:
        """Close the connections of unfinished answers; no event follows. Idempotent."""
        for stream in self.streams.values():
            stream.close()
        for side in self.sides:
            if side.status is None:
                self.closed = True
                side.status, side.reason = "api_error", "stopped before its end"
                side.money = self._cost(side, None, None)
        self._end()

    def __enter__(self) -> Asked:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _take(self, number: int, event: Piece | Ending) -> None:
        side = self.sides[number]
        if isinstance(event, Piece):
            side.text += event.text
            if side.first_seconds is None:
                side.first_seconds = time.monotonic() - self.began
            return
        side.text = event.text or side.text
        side.status, side.reason, side.thoughts = event.status, event.reason, event.thoughts
        side.money = self._cost(side, event.tokens_in, event.tokens_out)
        if self.done:
            self._end()

    def _cost(self, side: Side, tokens_in: int | None, tokens_out: int | None) -> float:
        return self.price(side, tokens_in, tokens_out) if self.price is not None else 0.0

    def _end(self) -> None:
        settle, self.settle = self.settle, None
        if settle is not None:
            settle(self)


class AskDesk:
    """Answers readers' questions to one arena.

    Args:
        arena: the arena whose passages are searched; it is not changed.
        settings: the systems and limits.
        streams: streams the answers.
    """

    def __init__(self, arena: Arena, settings: AskSettings, *, streams: Streams) -> None:
        self.arena, self.settings = arena, settings
        self.admissions = Admissions(arena.path)
        self._streams = streams
        self._failed: dict[str, float] = {}

    def ask(self, text: str, language: str, *, reader: str, address: str, rng: np.random.Generator) -> Asked:
        """Choose two systems and have them answer a question.

        A repeated question has the same id, passages and stored answers; only missing answers are generated.

        Args:
            text: the question, in any language.
            language: its language.
            reader: the reader's login or session.
            address: the reader's network address; empty if unknown.
            rng: breaks ties between pairs, and draws the order shown.

        Raises:
            BadInput: if the question is empty or too long, the desk is closed, or a limit is reached.
            NotEnoughData: if no passage matches, or the reader has voted on every pair for this question.
            TableMissing: if the arena has no passages.
            ArenaError: if a file cannot be used.
        """
        settings, text = self.settings, _clean(text)
        if not settings.open:
            raise BadInput("questions are closed", do="come back later")
        if not text:
            raise BadInput("the question is empty", do="type a question")
        if len(text) > settings.question_characters:
            raise BadInput(
                f"the question has {len(text):,} characters, the maximum is {settings.question_characters:,}",
                do="shorten it",
            )
        code = language_of(language).code
        live = open_live(self.arena.path)
        known = known_question(live, code, question_id(code, text))
        voter = self.admissions.pseudonym(reader)
        pair = choose_pair(
            self._working(),
            vote_pairs(live) if live is not None else (),
            excluded=[pair for name, pair in known.voted if name == voter],
            rng=rng,
        )
        passages = known.passages or find_passages(self.arena, known.query_id, text, code, settings.passages)
        query = schema.Query(code, known.query_id, None, text, None)
        stored = {answer.system: answer for answer in known.answers}
        calls = {name: self._call(settings.system(name), query, passages) for name in pair if name not in stored}
        most = sum(self._most(name, call.messages) for name, call in calls.items())
        admission = self.admissions.admit(reader, address, settings.quota, seconds=settings.seconds + PAUSE, money=most)
        sides = [_side(name, stored.get(name)) for name in pair]
        asked = Asked(code, known.query_id, text, passages, (sides[0], sides[1]))
        asked.price = partial(self._price, calls)
        asked.settle = partial(self._settle, admission)
        for number, name in enumerate(pair):
            if name in calls:
                asked.streams[number] = self._streams.start(calls[name], partial(_put, asked, number))
        if asked.done:
            asked.close()
        return asked

    def vote(self, asked: Asked, verdict: schema.Verdict, *, reader: str) -> None:
        """Write the question, its passages, both answers and the vote into the live arena; nothing without a vote.

        Raises:
            BadInput: if an answer is incomplete, or the reader has voted on this pair for this question.
            ArenaError: if the live arena cannot be written.
        """
        if not asked.votable:
            raise BadInput("these answers cannot be voted on", do="ask again")
        template = self.settings.template
        answers = [
            side.stored
            or schema.Answer(
                asked.language,
                asked.query_id,
                side.system,
                side.text,
                side.status or "ok",
                template.name,
                side.reason,
                call=None,
                numbered=not template.by_id,
                thoughts=side.thoughts,
                run_date=datetime.now(UTC).strftime("%Y-%m-%d"),
            )
            for side in asked.sides
        ]
        voted = VotedQuestion(
            schema.Query(asked.language, asked.query_id, None, asked.text, None),
            asked.passages,
            (answers[0], answers[1]),
            verdict,
            self.admissions.pseudonym(reader),
        )
        asked.query_id = write_vote(self.arena.path, voted, title=f"{self.arena.title}: readers' questions")
        asked.vote = verdict

    def votes(self) -> int:
        """Return the number of votes in the live arena."""
        live = open_live(self.arena.path)
        return len(vote_pairs(live)) if live is not None else 0

    def _working(self) -> list[str]:
        """Return the systems without a recent failure; all if fewer than two are left."""
        names = [system.name for system in self.settings.systems]
        now = time.monotonic()
        working = [name for name in names if now - self._failed.get(name, -PAUSE) >= PAUSE]
        return working if len(working) > 1 else names

    def _call(self, system: AskSystem, query: schema.Query, passages: tuple[schema.Passage, ...]) -> StreamCall:
        """Return the call to a system, with the same prompt as `mirage generate`."""
        settings = self.settings
        generate = GenerateSettings(system.name, settings.template, system.settings)
        prepared = prepare(schema.from_rows("queries", [query]), schema.from_rows("passages", passages), generate)
        if not prepared.to_ask:
            raise NotEnoughData(prepared.unaskable[0].reason or "there is no prompt", do="ask another question")
        return StreamCall(
            system.endpoint,
            system.settings,
            prepared.to_ask[0].messages,
            first_seconds=settings.first_seconds,
            gap_seconds=settings.gap_seconds,
            seconds=settings.seconds,
            characters=settings.answer_characters,
        )

    def _most(self, name: str, messages: Messages) -> float:
        """Return the maximum price of an answer."""
        system = self.settings.system(name)
        return system.prices.cost(prompt_tokens(messages), system.settings.max_tokens) or 0.0

    def _price(self, calls: dict[str, StreamCall], side: Side, tokens_in: int | None, tokens_out: int | None) -> float:
        """Return the price of an answer, from estimated tokens if the service gave no count."""
        if side.system not in calls:
            return 0.0
        sent = prompt_tokens(calls[side.system].messages) if tokens_in is None else tokens_in
        received = text_tokens(side.text) if tokens_out is None else tokens_out
        return self.settings.system(side.system).prices.cost(sent, received) or 0.0

    def _settle(self, admission: str, asked: Asked) -> None:
        for side in asked.sides:
            if side.status == "api_error" and not asked.closed:
                self._failed[side.system] = time.monotonic()
                _LOG.warning("%s did not answer a reader: %s", side.system, side.reason)
        self.admissions.settle(admission, sum(side.money for side in asked.sides))


def _put(asked: Asked, number: int, event: Piece | Ending) -> None:
    asked.events.put((number, event))


def _side(name: str, stored: schema.Answer | None) -> Side:
    if stored is None:
        return Side(name)
    return Side(name, stored.text or "", stored.status, stored.reason, stored.thoughts, stored)


def _clean(text: str) -> str:
    """Return a question as stored: without invisible control characters and surrounding space."""
    kept = (sign for sign in text if unicodedata.category(sign) not in ("Cc", "Cf", "Cs") or sign in _KEPT)
    return "".join(kept).strip()
