"""People's votes: durable in SQL, a queue of what to vote on, agreement with the judges, ratings corrected by them.

    votes = Votes()                                    # SQLite in the user's folder, or MIRAGE_VOTES_URL
    pool = gather(language="sw", answers=answers, judgments=judgments, ratings=ratings)
    (item,) = next_items(pool, voter="amina", seen=mine, n=1)
    votes.submit(Vote(vote_id=token(), time=now(), arena="sample", voter="amina", vote="A", ...))
    rows = votes_on(arena, votes.rows(Vote)).counting
    agreement(rows, judgments)
    correct(rows, decisions(judgments)["gpt-4o"], language="sw", judge="gpt-4o").table()

`rows.py` says what a vote is and which ones stand, `belonging.py` which of them are an arena's, `database.py` keeps
them (`tables.py`: the connections), `queue.py`
chooses, `verdicts.py` lays votes and judgments side by side, `agreement.py` compares them, `correct.py` corrects a
judge's ranking (`powered.py`: the method), `citations.py` says how people see the citations, `assignments.py` how far
they agree with who assigned nuggets, `raters.py` what people gave answers elsewhere, in scores that came with a file.
"""

from mirage.schema import PEOPLE
from mirage.votes.agreement import ENOUGH, LEAST, Agreement, agreement, alpha, kappa
from mirage.votes.assignments import AssignerAgreement, assigner_agreement
from mirage.votes.belonging import ArenaVotes, belonging, votes_on
from mirage.votes.citations import ENOUGH_ANSWERS, EVERYBODY, CitationSupport, support_grades, supported
from mirage.votes.correct import (
    LEAST_EACH,
    LEAST_QUERIES,
    CorrectedRating,
    Correction,
    correct,
    correction_needs,
    join_corrections,
)
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
from mirage.votes.rows import (
    IMPORTED,
    LONGEST,
    UNDO,
    AnyRow,
    Evidence,
    NuggetVote,
    Row,
    Vote,
    checked,
    digest,
    item,
    now,
    shown_digest,
    standing,
    token,
)
from mirage.votes.tables import URL
from mirage.votes.verdicts import battle, imported, label, people

__all__ = [
    "COMMON",
    "CONTROL",
    "ENOUGH",
    "ENOUGH_ANSWERS",
    "EVERYBODY",
    "FILLER",
    "FORMAT",
    "IMPORTED",
    "LEAST",
    "LEAST_EACH",
    "LEAST_QUERIES",
    "LONGEST",
    "PEOPLE",
    "RANDOM",
    "REASONS",
    "UNDO",
    "URL",
    "Agreement",
    "AnyRow",
    "ArenaVotes",
    "AssignerAgreement",
    "CitationSupport",
    "CorrectedRating",
    "Correction",
    "Evidence",
    "NuggetVote",
    "Pool",
    "Progress",
    "Row",
    "Vote",
    "VoteItem",
    "Votes",
    "agreement",
    "alpha",
    "assigner_agreement",
    "battle",
    "belonging",
    "cast",
    "checked",
    "correct",
    "correction_needs",
    "digest",
    "gather_pool",
    "imported",
    "item",
    "join_corrections",
    "kappa",
    "label",
    "next_items",
    "now",
    "people",
    "progress",
    "shown_digest",
    "standing",
    "support_grades",
    "supported",
    "token",
    "votes_on",
]
