"""Kinds of votes: the rows of each in the log, and the registry that the database, files, ballots and pages read.

    KINDS["labels"].says["yes"]                        # "relevant": the label that a vote gives
    kind_of(row).subject                               # "answers" or "passages": the texts that the vote is on

A new kind is a class of rows and an entry of `KINDS`. Scores of answers are not votes, whether by people or programs:
they are measured or imported with the answers, and stored in the arena's table `scores` (`raters.py`).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal, TypeVar

from mirage import schema
from mirage.battles.decision import READABLE, VERDICTS
from mirage.errors import BadInput
from mirage.schema import Code, Range
from mirage.text.names import normalise_name

UNDO: Literal["undo"] = "undo"
IMPORTED = "imported"
"""Reason of an imported vote, whose battle no queue chose."""
OPINION = "opinion"
"""Reason of a battle without proof that this program drew it."""
UNNAMED = "somebody"
"""Voter of anonymous votes."""


Proof = Literal["voter", "draw", "none"]
"""Proof of a vote by the program itself (`Submitted.proof`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Submitted:
    """Fields of every row of the log: the vote, its voter, its time and its query."""

    key = ("vote_id",)

    vote_id: str
    """Created by the submitter before submission, and unique: a vote that is sent again is kept once."""
    time: str
    """Time of the vote, UTC, as `2026-11-21T05:13:28.250000Z`."""
    arena: str
    """Name of the folder of the arena where it was given. It says to which arena the vote belongs only where `shown`
    does not."""
    language: Code
    """Language of the query."""
    query_id: str
    """The query."""
    voter: str
    """The voter: a name or a pseudonym."""
    vote: str
    """The opinion; `undo`: revokes the row named by `undoes`."""
    note: str | None = None
    """The person's comment."""
    undoes: str | None = None
    """The revoked row; null unless `vote` is `undo`."""
    seconds: Annotated[float, Range(0, None)] | None = None
    """Seconds from the sight of the item to the vote; null where not measured."""
    session: str | None = None
    """The voting session, or the draw of a ballot; null if unknown."""
    shown: str | None = None
    """Digest of the query, with the passage of a citation, and of the subject as they were shown (`shown_digest`): a
    vote belongs to every arena that holds the query, and does not count once its texts have changed. Null if
    unknown."""
    proof: Proof | None = None
    """`voter`: the program drew the item for this person; `draw`: it drew the item, but the name is unchecked;
    `none`: neither, so it is an opinion that counts nowhere. Null if stored before draws were proved."""

    @property
    def systems(self) -> tuple[str, ...]:
        """The systems of the answers voted on, in the order shown."""
        names = (getattr(self, name, None) for name in ("system", "system_a", "system_b"))
        return tuple(name for name in names if name is not None)

    @property
    def item(self) -> tuple[Any, ...]:
        """Key of the item voted on, regardless of the order shown: language, query, systems, and a citation's sentence
        and passage.
        """
        cited = (getattr(self, name) for name in ("sentence", "passage_id") if hasattr(self, name))
        return (self.language, self.query_id, *sorted(self.systems), *cited)


@dataclass(frozen=True, slots=True, kw_only=True)
class Vote(Submitted):
    """One person's verdict on one battle, in the order shown; or the undoing of an earlier vote."""

    system_a: str
    """The system shown first."""
    system_b: str
    """The system shown second; the order is drawn for each person and battle."""
    vote: Literal["A", "B", "tie", "both_bad", "skip", "undo"]
    """`A`: the first is better; `B`: the second; `tie`: equally good; `both_bad`: equally bad; `skip`: no opinion;
    `undo`: revokes the vote named by `undoes`."""
    control: bool
    """Whether the battle was drawn by simple random sampling, so that it counts for agreement."""
    why: str
    """Why the queue chose it (`mirage.people.votes.queue`); `imported`: it came with a file; `opinion`: no queue
    did."""
    inclusion: Annotated[float, Range(1e-300, 1)] | None = None
    """Inclusion probability of this battle among those that the queue asks, all of which come in random order; its
    inverse is the weight of a vote in corrected ratings. Null if unknown: such votes count only as `control` allows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence(Submitted):
    """A person's vote on whether a passage supports the sentence that cites it."""

    system: str
    """The system that answered."""
    sentence: schema.Count
    """Number of the sentence, from 0, in the answer's reason, or its answer where no reason is marked
    (`mirage.stages.features.support.cited_places`)."""
    passage_id: str
    """The passage it cites."""
    vote: Literal["yes", "no", "unclear", "undo"]
    """Whether the passage supports the sentence; `undo`: revokes the vote named by `undoes`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Note(Submitted):
    """A person's note on an answer or a battle: categories of what is wrong, a text, or both."""

    system: str | None = None
    """The system whose answer the note is on; null for a note on a battle."""
    system_a: str | None = None
    """The first system of the battle; null for a note on an answer."""
    system_b: str | None = None
    """The second system of the battle; null for a note on an answer."""
    vote: Literal["note", "undo"]
    """`note`; `undo`: revokes the note named by `undoes`."""
    categories: str | None = None
    """Names of categories, with commas between them; null without any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelVote(Submitted):
    """A person's vote on the label of a query (can its passages answer it?), for an audit."""

    vote: Literal["yes", "no", "unclear", "skip", "undo"]
    """Whether the passages answer the query; `skip`: no opinion; `undo`: revokes the vote named by `undoes`."""


Row = Vote | Evidence | Note | LabelVote
AnyRow = TypeVar("AnyRow", Vote, Evidence, Note, LabelVote)


def split_categories(text: str | None) -> tuple[str, ...]:
    """Return the names in the categories of a note, each once, in their order."""
    names = (normalise_name(" ".join(name.split())) for name in (text or "").split(","))
    return tuple(dict.fromkeys(name for name in names if name))


def _check_note(note: Note) -> Note:
    if len(note.systems) != (1 if note.system is not None else 2):
        raise BadInput("a note is on one answer or one battle", do="give either system, or system_a and system_b")
    return replace(note, categories=",".join(split_categories(note.categories)) or None)


@dataclass(frozen=True, eq=False)
class VoteKind:
    """A kind of votes, as an entry of `KINDS`."""

    row: type[Any]
    """Class of its rows: the columns of the log, of exported files and of the SQL table."""
    says: Mapping[str, Any]
    """Meaning of each vote, in the words of the table that votes are compared with: the decision of a battle, the
    grade of a citation, the label of a query; other votes are not opinions."""
    subject: Literal["answers", "passages"] = "answers"
    """Table of the texts it is on, the systems' answers or the query's passages: it does not count once they change."""
    cites: bool = False
    """Whether the passage that it is on was shown with the query."""
    check: Callable[[Any], Any] = lambda row: row
    """Check and normalise a row whose columns are valid."""


KINDS: Mapping[str, VoteKind] = {
    "battles": VoteKind(Vote, {word: VERDICTS[word] for word in READABLE}),
    "citations": VoteKind(Evidence, {"yes": "full", "no": "none"}, cites=True),
    "notes": VoteKind(Note, {}, check=_check_note),
    "labels": VoteKind(LabelVote, {"yes": "relevant", "no": "non_relevant"}, subject="passages"),
}
"""Kinds of votes by name: on battles and citations, notes, and on labels of queries."""
_BY_ROW = {kind.row: kind for kind in KINDS.values()}


def kind_of(row: Row) -> VoteKind:
    """Return the kind of a row."""
    return _BY_ROW[type(row)]
