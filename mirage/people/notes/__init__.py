"""Error analysis: notes on answers and battles, with categories of a taxonomy that a team edits.

    taxonomy = load_taxonomy(arena)                            # beside the arena, in the user's folder, or the bundled
    notes = notes_on(arena, log).counting                      # of the rows of the vote log

Notes are rows of the vote log (`mirage.people.votes.rows.Note`), so they are durable, belong to the texts they were
written on, and are undone by a later row. `taxonomy.py` reads the categories, `stage.py` joins notes with an arena.
"""

from mirage.people.notes.stage import make_note, notes_on
from mirage.people.notes.taxonomy import Category, Taxonomy, load_taxonomy

__all__ = ["Category", "Taxonomy", "load_taxonomy", "make_note", "notes_on"]
