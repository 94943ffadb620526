"""People's votes: durable in SQL, a queue of what to vote on, agreement with the judges, ratings corrected by them.

    votes = Votes()                                    # SQLite in the user's folder, or MIRAGE_VOTES_URL
    pool = gather(language="sw", answers=answers, judgments=judgments, ratings=ratings)
    (item,) = next_items(pool, voter="amina", seen=mine, n=1)
    votes.submit(Vote(vote_id=token(), time=now(), arena="sample", voter="amina", vote="A", ...))
    rows = standing(votes.rows(Vote, arena="sample"))
    agreement(rows, judgments)
    correct(rows, decisions(judgments)["gpt-4o"], language="sw", judge="gpt-4o").table()

`rows.py` says what a vote is and which ones stand, `database.py` keeps them (`tables.py`: the connections), `queue.py`
chooses, `verdicts.py` lays votes and judgments side by side, `agreement.py` compares them, `correct.py` corrects a
judge's ranking (`powered.py`: the method), `citations.py` says how people see the citations.
"""

from mirage.votes.agreement import ENOUGH, LEAST, PEOPLE, Agreement, agreement, alpha, kappa
from mirage.votes.citations import ENOUGH_REPLIES, EVERYBODY, CitationSupport, supported
from mirage.votes.correct import LEAST_EACH, LEAST_QUESTIONS, CorrectedRating, Correction, correct, join_corrections
from mirage.votes.database import FORMAT, Votes
from mirage.votes.queue import (
    COMMON,
    CONTROL,
    FILLER,
    RANDOM,
    REASONS,
    Pool,
    Progress,
    VoteItem,
    cast,
    gather_pool,
    next_items,
    progress,
)
from mirage.votes.rows import LONGEST, UNDO, Evidence, Row, Vote, checked, digest, item, now, standing, token
from mirage.votes.tables import URL
from mirage.votes.verdicts import battle, label, people

__all__ = [
    "COMMON",
    "CONTROL",
    "ENOUGH",
    "ENOUGH_REPLIES",
    "EVERYBODY",
    "FILLER",
    "FORMAT",
    "LEAST",
    "LEAST_EACH",
    "LEAST_QUESTIONS",
    "LONGEST",
    "PEOPLE",
    "RANDOM",
    "REASONS",
    "UNDO",
    "URL",
    "Agreement",
    "CitationSupport",
    "CorrectedRating",
    "Correction",
    "Evidence",
    "Pool",
    "Progress",
    "Row",
    "Vote",
    "VoteItem",
    "Votes",
    "agreement",
    "alpha",
    "battle",
    "cast",
    "checked",
    "correct",
    "digest",
    "gather_pool",
    "item",
    "join_corrections",
    "kappa",
    "label",
    "next_items",
    "now",
    "people",
    "progress",
    "standing",
    "supported",
    "token",
]
