"""What the Spot check page shows: what to vote on next, and who was who afterwards.

What names a system is kept apart from what is drawn before the vote: an item carries names for the database alone.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from mirage import schema, votes
from mirage.answers import is_numbered
from mirage.battles.decision import decisions
from mirage.features.spec import MeasuredAnswer
from mirage.features.support import cited_places
from mirage.store.question import of_question
from mirage.views import battle as battles
from mirage.votes.stage import counting, vote_pool

if TYPE_CHECKING:
    from mirage.store import Arena

WHY: Mapping[str, str] = {
    "random": "drawn at random, so it counts for the agreement",
    "flipped": "a judge named different winners in the two orders",
    "judges disagree": "judges name different winners",
    "close ranks": "the two stand next to each other in a ranking and cannot be told apart",
    "not judged": "no judge has decided it",
    "filler": "nothing more telling was left",
}
"""Why the queue chooses a battle, in words."""
_CITES = r"[\[［【]|(?i:conte[xk]|контекст|passage|document)"
"""What a reply that cites anything holds (`mirage.answers.citations`)."""


@dataclass(frozen=True, slots=True)
class JudgeOpinion:
    """What one judge said of a battle, both orders together."""

    judge: str
    winner: str | None
    """The better system; null for a tie."""
    read: bool
    """Whether a verdict could be read."""
    flipped: bool
    """Whether its two orders do not agree, which counts as a tie."""
    agrees: bool | None
    """Whether the vote says the same; null where one of the two says nothing."""


@dataclass(frozen=True, slots=True)
class VoteResult:
    """What a vote turns out to be about."""

    vote: votes.Vote
    winner: str | None
    """The system voted for; null for a tie, both bad and a skip."""
    verdicts: tuple[JudgeOpinion, ...]
    """By judge."""
    why: str
    """Why the queue chose it, in words."""


@dataclass(frozen=True, slots=True)
class CitationPair:
    """One sentence of a reply and one passage that it cites."""

    language: str
    query_id: str
    system: str
    sentence: int
    """Number of the sentence (`votes.Evidence`)."""
    start: int
    """Where it begins in the reply."""
    end: int
    """Where it ends (exclusive)."""
    words: str
    """The sentence without citations."""
    passage_id: str
    shown: str
    """Digest of the reply."""

    @property
    def key(self) -> tuple[str, ...]:
        """What it is about, and which text of it."""
        return self.language, self.query_id, self.system, str(self.sentence), self.passage_id, self.shown


@lru_cache(maxsize=36)
def pool(arena: Arena, language: str) -> votes.Pool:
    """The battles of a language that can be voted on."""
    return vote_pool(arena, language)


def past(arena: Arena, database: votes.Votes, language: str) -> list[votes.Vote]:
    """Everybody's votes on an arena's battles of a language, those that stand on the answers as they are.

    Raises:
        Unreachable: if the database does not answer.
    """
    return counting(arena, database.rows(votes.Vote, arena=arena.name, language=language))


def past_evidence(arena: Arena, database: votes.Votes, language: str) -> list[votes.Evidence]:
    """Everybody's votes on an arena's citations of a language that stand.

    Raises:
        Unreachable: if the database does not answer.
    """
    return votes.standing(database.rows(votes.Evidence, arena=arena.name, language=language))


def vote_result(arena: Arena, vote: votes.Vote) -> VoteResult:
    """Who was who in a battle that was voted on, and what each judge said."""
    shown = battles.battle_view(arena, (vote.language, vote.query_id), vote.system_a, vote.system_b)
    by_judge = decisions(schema.from_rows("judgments", list(shown.judgments)))
    label = votes.label(vote)
    names = dict(enumerate(votes.battle(vote)[2:]))
    verdicts = []
    for judge in shown.judges:
        verdict = by_judge.get(judge, {}).get(votes.battle(vote))
        verdicts.append(
            JudgeOpinion(
                judge=judge,
                winner=None if verdict is None else names.get(verdict.label),
                read=verdict is not None,
                flipped=verdict is not None and not verdict.consistent,
                agrees=None if verdict is None or label is None else verdict.label == label,
            )
        )
    reasons = "; ".join(WHY.get(reason, reason) for reason in vote.why.split(", "))
    return VoteResult(vote, None if label is None else names.get(label), tuple(verdicts), reasons)


def battle_digest(shown: battles.BattleView) -> str | None:
    """Digest of the two answers of a battle; null where one has no text."""
    first, second = shown.first.text, shown.second.text
    return None if first is None or second is None else votes.digest(first, second)


@lru_cache(maxsize=36)
def citing(arena: Arena, language: str) -> tuple[tuple[str, str], ...]:
    """Question and system of the replies of a language that seem to cite something, in an order drawn once for all."""
    rows = arena.sql(
        "SELECT query_id, system FROM answers "
        "WHERE language = ? AND status IN ('ok', 'truncated') AND regexp_matches(text, ?)",
        [language, _CITES],
    )
    replies = zip(rows["query_id"].to_pylist(), rows["system"].to_pylist(), strict=True)
    return tuple(sorted(replies, key=lambda reply: (_drawn(*reply), reply)))


def next_pair(arena: Arena, language: str, seen: Iterable[votes.Evidence]) -> CitationPair | None:
    """The first sentence and passage that a voter has not voted on; None when there are no more.

    Everybody meets the same order, so that people meet on the same items.

    Args:
        arena: the arena; it has answers and passages.
        language: a code.
        seen: the voter's votes on citations that stand.
    """
    keys: Collection[tuple[str, ...]] = {
        (vote.language, vote.query_id, vote.system, str(vote.sentence), vote.passage_id, vote.shown or "")
        for vote in seen
    }
    for query, system in citing(arena, language):
        for pair in pairs(arena, language, query, system):
            if pair.key not in keys:
                return pair
    return None


@lru_cache(maxsize=4096)
def pairs(arena: Arena, language: str, query_id: str, system: str) -> tuple[CitationPair, ...]:
    """Every sentence of a reply with every passage it cites whose text is known."""
    key = (language, query_id)
    passages = sorted(of_question(arena, "passages", key), key=lambda row: row["position"])
    known_ids = {row["passage_id"] for row in passages if row["text"]}
    (row,) = (row for row in of_question(arena, "answers", key) if row["system"] == system)
    numbered = is_numbered(row["template"], row["numbered"])
    ids = tuple(row["passage_id"] for row in passages)
    reply = MeasuredAnswer(language, row["text"], numbered, ids, (None,) * len(passages))
    shown = votes.digest(row["text"])
    return tuple(
        CitationPair(
            language, query_id, system, sentence.number, sentence.start, sentence.end, sentence.words, passage, shown
        )
        for sentence in cited_places(reply)
        for passage in sentence.passage_ids
        if passage in known_ids
    )


def evidence(
    pair: CitationPair,
    *,
    vote: Literal["yes", "no", "unclear"],
    vote_id: str,
    arena: str,
    voter: str,
    note: str | None,
    seconds: float | None,
    session: str | None = None,
) -> votes.Evidence:
    """A vote on a citation, to be submitted; the arguments are those of `votes.cast`.

    Raises:
        BadInput: if a value is not one of its column's.
    """
    return votes.checked(
        votes.Evidence(
            vote_id=vote_id,
            time=votes.now(),
            arena=arena,
            language=pair.language,
            query_id=pair.query_id,
            system=pair.system,
            sentence=pair.sentence,
            passage_id=pair.passage_id,
            voter=voter,
            vote=vote,
            note=note or None,
            undoes=None,
            seconds=seconds,
            session=session,
            shown=pair.shown,
        )
    )


def _drawn(query: str, system: str) -> bytes:
    return hashlib.blake2b(f"{query}\0{system}".encode("utf-8", "surrogatepass"), digest_size=8).digest()
