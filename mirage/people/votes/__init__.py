"""People's votes: a durable SQL log, a queue of battles, agreement with judges, and ratings corrected by votes.

    votes = Votes()                                    # SQLite in the user's folder, or MIRAGE_VOTES_URL
    pool = gather_pool(language="sw", answers=answers, judgments=judgments)
    (item,) = next_items(pool, voter="amina", seen=mine, n=1)
    votes.submit(Vote(vote_id=token(), time=now(), arena="sample", voter="amina", vote="A", ...))
    rows = votes_on(arena, votes.rows(Vote)).counting
    agreement(rows, judgments)
    correct(rows, decisions(judgments)["gpt-4o"], language="sw", judge="gpt-4o").table()

`kinds.py` is the registry of the kinds of votes, `rows.py` says which are valid, `belonging.py` assigns them to arenas,
`database.py` stores them, `queue.py` chooses battles, `labels.py` audits the labels of queries, `ballots.py` writes
sheets of either. `agreement.py` compares votes with judges, `correct.py` corrects a judge's ranking (`powered.py`: the
method), and `raters.py` analyses imported scores.
"""

from mirage.people.votes.agreement import Agreement, agreement
from mirage.people.votes.belonging import ArenaVotes, votes_on
from mirage.people.votes.correct import (
    LEAST_EACH,
    LEAST_QUERIES,
    Correction,
    correct,
    correction_needs,
    join_corrections,
)
from mirage.people.votes.database import URL, Votes
from mirage.people.votes.kinds import (
    IMPORTED,
    KINDS,
    UNNAMED,
    AnyRow,
    Evidence,
    LabelVote,
    Note,
    Row,
    Vote,
    split_categories,
)
from mirage.people.votes.opinions import ENOUGH
from mirage.people.votes.queue import (
    FLIPPED,
    RANDOM,
    Pool,
    VoteItem,
    gather_pool,
    next_items,
    progress,
)
from mirage.people.votes.rows import (
    LONGEST,
    battle,
    cast,
    digest,
    imported_votes,
    label,
    now,
    people,
    shown_digest,
    standing,
    token,
    validate_row,
)
from mirage.schema import PEOPLE

__all__ = [
    "ENOUGH",
    "FLIPPED",
    "IMPORTED",
    "KINDS",
    "LEAST_EACH",
    "LEAST_QUERIES",
    "LONGEST",
    "PEOPLE",
    "RANDOM",
    "UNNAMED",
    "URL",
    "Agreement",
    "AnyRow",
    "ArenaVotes",
    "Correction",
    "Evidence",
    "LabelVote",
    "Note",
    "Pool",
    "Row",
    "Vote",
    "VoteItem",
    "Votes",
    "agreement",
    "battle",
    "cast",
    "correct",
    "correction_needs",
    "digest",
    "gather_pool",
    "imported_votes",
    "join_corrections",
    "label",
    "next_items",
    "now",
    "people",
    "progress",
    "shown_digest",
    "split_categories",
    "standing",
    "token",
    "validate_row",
    "votes_on",
]
