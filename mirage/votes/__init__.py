"""People's votes: durable in SQL, a queue of what to vote on, agreement with the judges, a ranking corrected by them.

    votes = Votes()                                    # SQLite in the user's folder, or MIRAGE_VOTES_URL
    votes.submit(Vote(token(), now(), "sample", "sw", "12", "aya-101", "mine", "amina", "A", ...))

`rows.py` says what a vote is and which ones stand, `database.py` keeps them.
"""

from mirage.votes.database import FORMAT, Votes
from mirage.votes.rows import UNDO, Evidence, Row, Vote, checked, digest, item, now, standing, token
from mirage.votes.tables import URL

__all__ = [
    "FORMAT",
    "UNDO",
    "URL",
    "Evidence",
    "Row",
    "Vote",
    "Votes",
    "checked",
    "digest",
    "item",
    "now",
    "standing",
    "token",
]
