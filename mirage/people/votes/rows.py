"""Rows of the vote log, and the rule for valid votes.

The log is append-only. A vote is undone by a row that references it, and a later vote of the same person on the same
item replaces the earlier one; `standing` applies this rule.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Annotated, Any, Literal, TypeVar

from mirage import schema
from mirage.errors import BadInput, UnknownName
from mirage.schema import Code, Range
from mirage.text.languages import is_code
from mirage.text.names import NAMES, normalise_name

Choice = Literal["A", "B", "tie", "both_bad", "skip", "undo"]
Supports = Literal["yes", "no", "unclear", "undo"]
Noted = Literal["note", "undo"]
Answered = Literal["yes", "no", "unclear", "skip", "undo"]
UNDO: Literal["undo"] = "undo"
IMPORTED = "imported"
"""Reason of an imported vote, whose battle no queue chose."""
UNNAMED = "somebody"
"""Voter of votes of which it is not known who cast them."""
LONGEST = {"note": 4_000, "voter": 100}
"""Maximum length of text that people type."""
_TEXT = 1_000
"""Maximum length of any other text."""


@dataclass(frozen=True, slots=True)
class Submitted:
    """First fields of every row of the log: what was submitted, when, and on which query."""

    key = ("vote_id",)

    vote_id: str
    """Created by the submitter before submission, and unique: a vote that is sent again is kept once."""
    time: str
    """When it was given, UTC, as `2026-11-21T05:13:28.250000Z`."""
    arena: str
    """Name of the folder of the arena where it was given. It says to which arena the vote belongs only where `shown`
    does not."""
    language: Code
    """Language of the query."""
    query_id: str
    """The query."""

    @property
    def systems(self) -> tuple[str, ...]:
        """The systems whose answers it is on, as shown."""
        return ()

    @property
    def item(self) -> tuple[str, ...]:
        """What it is on, regardless of the order shown."""
        return (self.language, self.query_id, *sorted(self.systems))


@dataclass(frozen=True, slots=True)
class Vote(Submitted):
    """One person's verdict on one battle, in the order shown; or the undoing of an earlier vote."""

    system_a: str
    """The system shown first."""
    system_b: str
    """The system shown second; the order is drawn for each person and battle."""
    voter: str
    """Who voted: a name or a pseudonym."""
    vote: Choice
    """`A`: the first is better; `B`: the second; `tie`: equally good; `both_bad`: equally bad; `skip`: no opinion;
    `undo`: revokes the vote named by `undoes`."""
    control: bool
    """Whether the battle was drawn plainly at random, hence counts for agreement."""
    why: str
    """Why the queue chose it: `random`, or reasons with commas between them (`mirage.people.votes.queue`); `imported`:
    it came with a file."""
    note: str | None = None
    """The person's comment."""
    undoes: str | None = None
    """The revoked vote; null unless `vote` is `undo`."""
    seconds: Annotated[float, Range(0, None)] | None = None
    """Seconds from the sight of the battle to the vote; null where not measured."""
    session: str | None = None
    """The voting session; null if unknown."""
    shown: str | None = None
    """Digest of the query and the two answers as they were shown (`shown_digest`): a vote belongs to every arena that
    holds the query, and does not count for answers that have taken the place of these. Null where unknown."""
    inclusion: Annotated[float, Range(0, 1)] | None = None
    """Inclusion probability of this battle among those that the queue asks, all of which come in random order; in
    corrected ratings a vote weighs one over it. Null if unknown: such votes count only as `control` allows."""

    @property
    def systems(self) -> tuple[str, ...]:
        """The two systems, as shown."""
        return self.system_a, self.system_b


@dataclass(frozen=True, slots=True)
class Evidence(Submitted):
    """A person's vote on whether a passage supports the sentence that cites it."""

    system: str
    """What produced the answer."""
    sentence: schema.Count
    """Number of the sentence, from 0, in the answer's reason, or its answer where no reason is marked
    (`mirage.stages.features.support.cited_places`)."""
    passage_id: str
    """The passage it cites."""
    voter: str
    """Who voted."""
    vote: Supports
    """Whether the passage supports the sentence; `undo`: revokes the vote named by `undoes`."""
    note: str | None
    """The person's comment."""
    undoes: str | None
    """The revoked vote; null unless `vote` is `undo`."""
    seconds: Annotated[float, Range(0, None)] | None
    """Seconds from display to vote; null if not measured."""
    session: str | None
    """The voting session; null if unknown."""
    shown: str | None
    """As in a vote; of the query and the passage, and the answer."""

    @property
    def systems(self) -> tuple[str, ...]:
        """The system."""
        return (self.system,)

    @property
    def item(self) -> tuple[str, ...]:
        """The sentence and the passage it cites."""
        return (self.language, self.query_id, self.system, str(self.sentence), self.passage_id)


@dataclass(frozen=True, slots=True)
class Note(Submitted):
    """A person's note on an answer or a battle: categories of what is wrong, a text, or both."""

    system: str | None
    """The system whose answer the note is on; null for a note on a battle."""
    system_a: str | None
    """The first system of the battle; null for a note on an answer."""
    system_b: str | None
    """The second system of the battle; null for a note on an answer."""
    voter: str
    """The author of the note."""
    vote: Noted
    """`note`; `undo`: revokes the note named by `undoes`."""
    categories: str | None
    """Names of categories, with commas between them; null without any."""
    note: str | None
    """The text; null without one."""
    undoes: str | None
    """The revoked note; null unless `vote` is `undo`."""
    session: str | None
    """The session it was written in; null where unknown."""
    shown: str | None
    """As in a vote; of the query, and the answer or the two answers."""

    @property
    def systems(self) -> tuple[str, ...]:
        """The system of a note on an answer, or the two systems of a note on a battle."""
        return tuple(name for name in (self.system, self.system_a, self.system_b) if name is not None)


@dataclass(frozen=True, slots=True)
class LabelVote(Submitted):
    """A person's vote on the label of a query (can its passages answer it?), for an audit."""

    voter: str
    """Who voted."""
    vote: Answered
    """Whether the passages answer the query; `skip`: no opinion; `undo`: revokes the vote named by `undoes`."""
    note: str | None
    """The person's comment."""
    undoes: str | None
    """The revoked vote; null unless `vote` is `undo`."""
    seconds: Annotated[float, Range(0, None)] | None
    """Seconds from display to vote; null if not measured."""
    session: str | None
    """The voting session; null if unknown."""
    shown: str | None
    """As in a vote; of the query, and the passages."""


Row = Vote | Evidence | Note | LabelVote
KINDS: Mapping[str, Any] = {"battles": Vote, "citations": Evidence, "notes": Note, "labels": LabelVote}
"""Kinds of rows: votes on battles and citations, notes, and votes on labels of queries."""
AnyRow = TypeVar("AnyRow", Vote, Evidence, Note, LabelVote)

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")


def digest(*texts: str) -> str:
    """Return a short digest of shown texts; their order does not matter."""
    import hashlib

    parts = sorted(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest() for text in texts)
    return hashlib.sha256(b"".join(parts)).hexdigest()[:16]


def shown_digest(query: Iterable[str], subject: Iterable[str]) -> str:
    """Digest what was shown to a voter, in two parts joined by a hyphen.

    Args:
        query: its text, empty if the arena lacks it; for a citation also the passage.
        subject: the answers; for a label the passages.
    """
    return f"{digest(*query)}-{digest(*subject)}"


def now() -> str:
    """Return the current time in the format of the rows."""
    from datetime import UTC, datetime

    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def token() -> str:
    """Return a new vote id."""
    import uuid

    return uuid.uuid4().hex


def cast(subject: Any, **values: Any) -> Any:
    """Build a vote on an item, for submission.

    Args:
        subject: the item, of a class whose `row` is the kind of vote; it gives the columns that it has.
        values: other columns: `vote` (for a battle `A` is the answer shown first), `vote_id`, `arena`, `voter`, and
            what is known of `note`, `seconds`, `session` and `shown`. The id is made when the item was first shown
            (`token`) and kept until the vote is: a second press of a key, or a second attempt after an error, is then
            the same vote. The time is now by default.

    Raises:
        BadInput: if a value is not one of its column's.
    """
    known = {column.name: getattr(subject, column.name, None) for column in schema.columns(subject.row)}
    values["note"] = values.get("note") or None
    return validate_row(subject.row(**known | {"time": now()} | values))


def validate_row(row: AnyRow) -> AnyRow:
    """Validate a row, and remove characters that databases do not store.

    Raises:
        BadInput: if a value is invalid for its column, or fields contradict each other.
    """
    values: dict[str, Any] = {}
    kind: type = type(row)
    for column in schema.columns(kind):
        value = getattr(row, column.name)
        values[column.name] = _check_value(column, value)
    cleaned: AnyRow = kind(**values)
    if not _is_time(cleaned.time):
        raise BadInput(f"time is {cleaned.time!r}", do="write UTC as 2026-11-21T05:13:28.250000Z")
    if (cleaned.vote == UNDO) != (cleaned.undoes is not None):
        raise BadInput("a vote names what it undoes exactly if it is 'undo'")
    systems = cleaned.systems
    if len(set(systems)) < len(systems):
        raise BadInput(f"{systems[0]} battles itself", do="name two systems")
    if isinstance(cleaned, Note):
        if len(systems) != (1 if cleaned.system is not None else 2):
            raise BadInput("a note is on one answer or one battle", do="give either system, or system_a and system_b")
        return replace(cleaned, categories=join_categories(split_categories(cleaned.categories)))
    if isinstance(cleaned, Vote) and cleaned.inclusion is not None and not 0 < cleaned.inclusion <= 1:
        raise BadInput(
            f"inclusion cannot be {cleaned.inclusion}", do="give a value above 0, at most 1, or leave it empty"
        )
    return cleaned


def split_categories(text: str | None) -> tuple[str, ...]:
    """Return the names in the categories of a note, each once, in their order."""
    names = (normalise_name(" ".join(name.split())) for name in (text or "").split(","))
    return tuple(dict.fromkeys(name for name in names if name))


def join_categories(names: Iterable[str]) -> str | None:
    """Return names of categories as a note stores them; None if there are none."""
    return ",".join(names) or None


def _is_time(text: str) -> bool:
    try:
        return bool(_TIME.fullmatch(text)) and datetime.fromisoformat(text) is not None
    except ValueError:
        return False


def _check_value(column: schema.Column, value: Any) -> Any:
    name = column.name
    if value is None:
        if not column.nullable:
            raise BadInput(f"{name} is missing", do=f"{name}: {column.meaning}")
        return None
    if column.kind == "text":
        return _text(column, value)
    if column.kind == "flag" and isinstance(value, bool):
        return value
    whole = column.kind == "count"
    if column.kind == "flag" or isinstance(value, bool) or not isinstance(value, int if whole else int | float):
        raise BadInput(f"{name} is {value!r}, not a {column.kind}", do=f"{name}: {column.meaning}")
    if not 0 <= value < 2**31:
        raise BadInput(f"{name} is {value!r}, which is out of range", do=f"{name}: {column.meaning}")
    return int(value) if whole else float(value)


def _text(column: schema.Column, value: Any) -> str:
    name = column.name
    if not isinstance(value, str):
        raise BadInput(f"{name} is {value!r}, not a text", do=f"{name}: {column.meaning}")
    if column.languages is not None or column.choices is not None:
        if column.languages is not None and not is_code(value):
            raise BadInput(f"there is no language {value!r}", do="give the code of a language, as en or pt-BR")
        if column.choices is not None and value not in column.choices:
            raise UnknownName(name, value, column.choices)
        return value
    clean = value.replace("\0", "\N{REPLACEMENT CHARACTER}").encode("utf-8", "replace").decode("utf-8")
    if name == "note":
        clean = clean.strip()
    elif clean != value:
        raise BadInput(f"{name} contains NUL or a lone surrogate, which databases do not store", do="rename it")
    if name in NAMES:
        clean = normalise_name(clean)
    if len(clean) > LONGEST.get(name, _TEXT):
        raise BadInput(f"{name} has {len(clean):,} characters", do=f"write at most {LONGEST.get(name, _TEXT):,}")
    if not clean and not column.nullable:
        raise BadInput(f"{name} is empty", do=f"{name}: {column.meaning}")
    return clean


def standing(rows: Iterable[AnyRow]) -> list[AnyRow]:
    """Return the valid votes: not undone, and the last of several by one person on one item.

    Args:
        rows: the log of one arena (`belonging`), or a part with all votes of its voters on its items; in any order.

    Returns:
        The votes, in order of time, then id.
    """

    def age(row: Row) -> tuple[str, str]:
        return row.time, row.vote_id

    ordered: list[AnyRow] = sorted(rows, key=age)
    undone = {row.undoes for row in ordered}
    counting = [row for row in ordered if row.vote != UNDO and row.vote_id not in undone]
    last = {(row.voter, row.item): row for row in counting}
    return sorted(last.values(), key=age)


def majority(words: Iterable[str]) -> str:
    """Return the word that has more votes than any other; `unclear` if there is none."""
    ranked = Counter(word for word in words if word).most_common(2)
    if not ranked or (len(ranked) > 1 and ranked[0][1] == ranked[1][1]):
        return "unclear"
    return ranked[0][0]
