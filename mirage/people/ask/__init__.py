"""A live arena: readers' questions, answered by two systems side by side, and their votes.

`settings.py` reads the file that turns it on, `pairs.py` chooses the two systems, `passages.py` searches the arena's
passages, `desk.py` answers a question, and `rows.py` writes question, passages, answers and vote into the live arena.
"""

from mirage.people.ask.desk import AskDesk, Asked, Side
from mirage.people.ask.rows import live_folder
from mirage.people.ask.settings import AskSettings, AskSystem, read_settings

__all__ = [
    "AskDesk",
    "AskSettings",
    "AskSystem",
    "Asked",
    "Side",
    "live_folder",
    "read_settings",
]
