"""Rows of the vote log, the rule for valid votes, and what they say: battles, labels, verdicts, majorities.

The log is append-only. A vote is undone by a row that references it, and a later vote of the same person on the same
item replaces the earlier one, unless only the earlier is proved to be theirs; `valid_votes` applies this rule.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from mirage import schema
from mirage.battles.decision import TIE, Battle, swap
from mirage.battles.decision import battle as battle_of
from mirage.errors import BadInput, UnknownName
from mirage.people.votes.kinds import IMPORTED, KINDS, UNDO, UNNAMED, AnyRow, Row, Vote, kind_of
from mirage.text.languages import is_code
from mirage.text.names import NAMES, need_visible, normalise_name

if TYPE_CHECKING:
    import pyarrow as pa

LONGEST = {"note": 4_000, "voter": 400}
"""Maximum length of text that people type."""
_TEXT = 1_000
"""Maximum length of any other text."""
_FLAGS = {"true": True, "1": True, "false": False, "0": False}
T = TypeVar("T")
_TIME = re.compile(r"2\d{3}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", re.ASCII)
_AHEAD = timedelta(days=1)
"""Maximum lead of another machine's clock."""


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
    return _write_time(datetime.now(UTC))


def _write_time(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def token() -> str:
    """Return a new vote id."""
    import uuid

    return uuid.uuid4().hex


def cast(subject: Any, **values: Any) -> Any:
    """Build a vote on an item, for submission.

    Args:
        subject: the item; its class names the kind of vote as `row`, and its fields fill columns of the same name.
        values: other columns: `vote` (for a battle `A` is the answer shown first), `vote_id`, `arena`, `voter`, and, if
            known, `note`, `seconds`, `session` and `shown`. Create the id (`token`) when the item is first shown, and
            reuse it until the vote is stored: a second key press or a retry is then the same vote. The time is now by
            default.

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
    cleaned = read_row(type(row), partial(getattr, row))
    if not _is_time(cleaned.time):
        do = "write UTC from 2000 to today as 2026-11-21T05:13:28.250000Z"
        raise BadInput(f"time is {cleaned.time!r}", do=do)
    if (cleaned.vote == UNDO) != (cleaned.undoes is not None):
        raise BadInput("a vote names what it undoes exactly if it is 'undo'")
    systems = cleaned.systems
    if len(set(systems)) < len(systems):
        raise BadInput(f"{systems[0]} battles itself", do="name two systems")
    checked: AnyRow = kind_of(cleaned).check(cleaned)
    return checked


def read_row(kind: type[T], get: Callable[[str], Any]) -> T:
    """Build a row from values by the name of the column; missing and empty values are null, numbers may be text.

    Args:
        kind: class of the row, whose fields are columns.
        get: returns the value of a column, or None.

    Raises:
        BadInput: if a value is invalid for its column.
    """
    table: type = kind
    return kind(**{column.name: _check_value(column, get(column.name)) for column in schema.columns(table)})


def read_voter(name: str) -> str:
    """Return the normalised name of a voter.

    Raises:
        BadInput: if it is empty, too long or hides a character.
    """
    voter: str = _check_value(schema.column(Vote, "voter"), name)
    return voter


def _is_time(text: str) -> bool:
    try:
        known = _TIME.fullmatch(text) is not None and datetime.fromisoformat(text) is not None
        return known and text <= _write_time(datetime.now(UTC) + _AHEAD)
    except ValueError:
        return False


def _check_value(column: schema.Column, value: Any) -> Any:
    name, do = column.name, f"{column.name}: {column.meaning}"
    if value is None or (value == "" and column.nullable):
        if not column.nullable:
            raise BadInput(f"{name} is missing", do=do)
        return None
    if column.kind == "text":
        return _text(column, value)
    if isinstance(value, str):
        value = _parse(column.kind, value)
    types = {"flag": bool, "count": int, "number": int | float}[column.kind]
    if not isinstance(value, types) or (isinstance(value, bool) and types is not bool):
        raise BadInput(f"{name} is {value!r}, not a {column.kind}", do=do)
    if types is bool:
        return value
    whole = types is int
    allowed = column.range or schema.Range(None, None)
    low, high = (0, 2**31 - 1) if whole else (-schema.LARGEST, schema.LARGEST)
    if not (low if allowed.low is None else allowed.low) <= value <= (high if allowed.high is None else allowed.high):
        raise BadInput(f"{name} is {value!r}, which is out of range", do=do)
    return int(value) if whole else float(value)


def _parse(kind: str, text: str) -> Any:
    """Return the flag or number of a text; the text itself if it is neither."""
    if kind == "flag":
        return _FLAGS.get(text.casefold(), text)
    with suppress(ValueError):
        return int(text) if text.isascii() and text.isdigit() else float(text)
    return text


def _text(column: schema.Column, value: Any) -> str | None:
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
        need_visible(clean, name, "")
    if len(clean) > LONGEST.get(name, _TEXT):
        raise BadInput(f"{name} has {len(clean):,} characters", do=f"write at most {LONGEST.get(name, _TEXT):,}")
    if not clean and not column.nullable:
        raise BadInput(f"{name} is empty", do=f"{name}: {column.meaning}")
    return clean or None


def valid_votes(rows: Iterable[AnyRow]) -> list[AnyRow]:
    """Return the valid votes: not undone, and the last of several by one person on one item, of those with the best
    proof of the person.

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
    last = {(row.voter, row.item): row for row in sorted(counting, key=lambda row: row.proof == "voter")}
    return sorted(last.values(), key=age)


def majorities(votes: Iterable[AnyRow]) -> dict[tuple[Any, ...], Any]:
    """Return the majority opinion on each item with opinions, as `VoteKind.says`; None without a majority, or if it
    finds the item unclear.

    Args:
        votes: valid votes of one kind.
    """
    opinions: dict[tuple[Any, ...], Counter[Any]] = defaultdict(Counter)
    for vote in votes:
        if vote.vote != "skip":
            opinions[vote.item][kind_of(vote).says.get(vote.vote)] += 1
    ranked = {item: counts.most_common(2) for item, counts in opinions.items()}
    return {item: best[0] if not rest or best[1] > rest[0][1] else None for item, (best, *rest) in ranked.items()}


def battle(vote: Vote) -> Battle:
    """Return the battle of a vote."""
    return battle_of(vote.language, vote.query_id, vote.system_a, vote.system_b)


def label(vote: Vote) -> int | None:
    """Return the label of a vote: `FIRST`, `SECOND`, `TIE`; None for a skip."""
    outcome = KINDS["battles"].says.get(vote.vote)
    return swap(outcome) if outcome is not None and vote.system_a > vote.system_b else outcome


def is_named(vote: Vote) -> bool:
    """Return whether it is known who voted: imported verdicts and data frames may not say."""
    return vote.voter != UNNAMED and not (vote.why == IMPORTED and vote.vote_id.endswith("/"))


def imported_votes(judgments: pa.Table, arena: str) -> list[Vote]:
    """Return the verdicts of people among judgments as votes, one row per verdict.

    No draw of this program chose their battles: they examine judges, and count for no agreement or correction.

    Args:
        judgments: columns of `schema.Judgment`: its key, `verdict`, `person` and `voter`.
        arena: name of the arena.

    Returns:
        Them, in the order of the table.
    """
    import pyarrow.compute as pc

    rows = judgments.filter(pc.fill_null(judgments["person"], False))
    names = ("language", "query_id", "judge", "system_a", "system_b", "verdict", "voter")
    columns = (rows[name].to_pylist() for name in names)
    return [
        Vote(
            vote_id="/".join((IMPORTED, language, query_id, a, b, judge, voter or "")),
            time="",
            arena=arena,
            language=language,
            query_id=query_id,
            system_a=a,
            system_b=b,
            voter=voter or judge,
            vote="skip" if verdict == "unparsed" else verdict,
            control=False,
            why=IMPORTED,
        )
        for language, query_id, judge, a, b, verdict, voter in zip(*columns, strict=True)
    ]


def people(votes: Iterable[Vote]) -> pa.Table:
    """Votes as verdicts: a row for each vote that is an opinion.

    Args:
        votes: the valid ones (`valid_votes`).

    Returns:
        Columns language, query_id, system_a, system_b (as shown) and verdict (`A`, `B` or `tie`), in the order of the
        votes.
    """
    import pyarrow as pa

    names = ("language", "query_id", "system_a", "system_b")
    opinions = [vote for vote in votes if vote.vote in KINDS["battles"].says]
    columns = {name: [getattr(vote, name) for vote in opinions] for name in names}
    columns["verdict"] = ["tie" if KINDS["battles"].says[vote.vote] == TIE else vote.vote for vote in opinions]
    return pa.table(columns, schema=pa.schema([(name, pa.string()) for name in (*names, "verdict")]))
