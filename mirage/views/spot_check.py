"""Views of the Spot check: the next item to vote on, and the result revealed after the vote.

System names are hidden until the vote: an item carries them for the database only.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from mirage.battles.decision import FIRST, SECOND, Battle, Decision, decisions
from mirage.battles.judge import judges
from mirage.battles.verdict_rows import COLUMNS
from mirage.people.votes.kinds import Evidence, Vote
from mirage.people.votes.queue import Pool
from mirage.people.votes.rows import battle, shown_digest
from mirage.people.votes.stage import vote_pool
from mirage.ranking.judges import Judge
from mirage.stages.features.spec import MeasuredAnswer
from mirage.stages.features.support import cited_places
from mirage.stages.shown import shown_with
from mirage.store.arena import Arena
from mirage.store.query_rows import of_query
from mirage.text.answers import is_numbered
from mirage.views.battle import BattleView
from mirage.views.cache import memoize

_CITES = r"[\[［【]|(?i:conte[xk]|контекст|passage|document)"
"""Pattern found in any answer with citations (`mirage.text.answers.citations`)."""


@dataclass(frozen=True, slots=True)
class JudgeOpinion:
    """Decision of one judge on a battle, over both orders."""

    judge: str
    """The judge in a sentence."""
    winner: str | None
    """The better system; null for a tie."""
    flipped: bool
    """Whether its two orders disagree, which counts as a tie."""
    agrees: bool | None
    """Whether the vote agrees; null for a skip, and where labels make no difference."""


@dataclass(frozen=True, slots=True)
class VoteResult:
    """Systems and verdicts behind a vote, revealed after it."""

    vote: Vote
    winner: str | None
    """The system voted for; null for a tie, both bad and a skip."""
    verdicts: tuple[JudgeOpinion, ...]
    """Opinions by judge, the arena's default judge first; judges without a verdict are omitted."""


@dataclass(frozen=True, slots=True)
class CitationPair:
    """One sentence of an answer and one passage that it cites."""

    row = Evidence

    language: str
    query_id: str
    system: str
    sentence: int
    """Number of the sentence (`votes.Evidence`)."""
    start: int
    """Start of the sentence in the answer."""
    end: int
    """End of the sentence (exclusive)."""
    words: str
    """The sentence without citations."""
    passage_id: str
    shown: str
    """Digest of query and passage, and of the answer (`rows.shown_digest`)."""

    @property
    def key(self) -> tuple[Any, ...]:
        """Return the key of its votes and the digest of its text."""
        return self.language, self.query_id, self.system, self.sentence, self.passage_id, self.shown


@memoize
def pool(arena: Arena, language: str) -> Pool:
    """Return the battles of a language that can be voted on."""
    return vote_pool(arena, language)


@lru_cache(maxsize=4096)
def vote_result(arena: Arena, vote: Vote) -> VoteResult:
    """Return the systems of a battle and the judges' opinions, after the vote."""
    key = battle(vote)
    own = {"A": vote.system_a, "B": vote.system_b}.get(vote.vote)
    default = "".join(judges(arena)[:1])
    computed = {default: _computed_decisions(arena, default, key.first, key.second)} if default else {}
    decided = computed | _verdict_decisions(arena, vote.language)
    verdicts = []
    for name in sorted(decided, key=lambda name: (name != default, name)):
        if (decision := decided[name].get(key)) is not None:
            winner = {FIRST: key.first, SECOND: key.second}.get(decision.label)
            # Where labels do not differ they say nothing of the answers, unlike a judge that calls a tie.
            silent = winner is None and bool(computed.get(name))
            agrees = None if vote.vote == "skip" or silent else winner == own
            phrase = Judge.from_name(name).phrase(arena) if name == default else name
            verdicts.append(JudgeOpinion(phrase, winner, not decision.consistent, agrees))
    return VoteResult(vote, own, tuple(verdicts))


@memoize
def _verdict_decisions(arena: Arena, language: str) -> dict[str, dict[Battle, Decision]]:
    """Return the battles of a language with a verdict, by judge."""
    if language not in arena.languages("judgments"):
        return {}
    return dict(decisions(arena.read("judgments", columns=COLUMNS, languages=[language])))


@lru_cache(maxsize=256)
def _computed_decisions(arena: Arena, name: str, first: str, second: str) -> dict[Battle, Decision]:
    """Return the battles of two systems that a judge decides without calls."""
    judge = Judge.from_name(name)
    return {} if judge.asked else dict(decisions(judge.read_pair(arena, first, second)).get(name, {}))


def count_agreeing(arena: Arena, votes: Iterable[Vote]) -> dict[str, tuple[int, int]]:
    """Return by judge how many of some votes it agrees with, and how many can be compared with it; the arena's default
    judge first.
    """
    counts: dict[str, tuple[int, int]] = {}
    for verdict in (verdict for vote in votes for verdict in vote_result(arena, vote).verdicts):
        if verdict.agrees is not None:
            agreed, n = counts.get(verdict.judge, (0, 0))
            counts[verdict.judge] = agreed + verdict.agrees, n + 1
    return counts


def battle_digest(shown: BattleView) -> str | None:
    """Return the digest of the query and both answers of a battle; null if an answer has no text."""
    first, second = shown.first.text, shown.second.text
    return None if first is None or second is None else shown_digest([shown.query.text or ""], [first, second])


@memoize
def citing_answers(arena: Arena, language: str) -> tuple[tuple[str, str], ...]:
    """Return query and system of the answers of a language that appear to cite, in a fixed random order."""
    rows = arena.sql(
        "SELECT query_id, system FROM answers "
        "WHERE language = ? AND status IN ('ok', 'truncated') AND regexp_matches(text, ?)",
        [language, _CITES],
    )
    answers = zip(rows["query_id"].to_pylist(), rows["system"].to_pylist(), strict=True)
    return tuple(sorted(answers, key=lambda answer: (_draw_order(*answer), answer)))


def next_pair(arena: Arena, language: str, seen: Iterable[Evidence]) -> CitationPair | None:
    """Return the first sentence and passage that a voter has not voted on; None if there are no more.

    The order is the same for all voters, so that several people vote on the same items.

    Args:
        arena: the arena; it has answers and passages.
        language: a code.
        seen: the voter's votes on citations that count.
    """
    voted = {vote.item for vote in seen}
    for query, system in citing_answers(arena, language):
        for pair in pairs(arena, language, query, system):
            if pair.key[:-1] not in voted:
                return pair
    return None


@lru_cache(maxsize=4096)
def pairs(arena: Arena, language: str, query_id: str, system: str) -> tuple[CitationPair, ...]:
    """Return every sentence of an answer with each passage it cites that has a text."""
    key = (language, query_id)
    (row,) = (row for row in of_query(arena, "answers", key) if row["system"] == system)
    passages = shown_with(arena, key).of(key, row.get("retriever"), row.get("depth"))
    texts = {passage_id: text for passage_id, _, _, text, *_ in passages if text}
    numbered = is_numbered(row["template"], row["numbered"])
    ids = tuple(passage_id for passage_id, *_ in passages)
    answer = MeasuredAnswer(language, row["text"], numbered, ids, (None,) * len(passages))
    query = next((row["text"] for row in of_query(arena, "queries", key)), None) or ""
    return tuple(
        CitationPair(
            *(language, query_id, system, sentence.number, sentence.start, sentence.end, sentence.words, passage),
            shown=shown_digest([query, texts[passage]], [row["text"]]),
        )
        for sentence in cited_places(answer)
        for passage in sentence.passage_ids
        if passage in texts
    )


def _draw_order(query: str, system: str) -> bytes:
    return hashlib.blake2b(f"{query}\0{system}".encode("utf-8", "surrogatepass"), digest_size=8).digest()
