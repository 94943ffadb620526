"""Error analysis: notes on answers and battles, with categories of a taxonomy that a team edits.

    taxonomy = load_taxonomy(arena)                            # beside the arena, in the user's folder, or the bundled
    notes = notes_on(arena, log).counting                      # of the rows of the vote log
    count_categories(notes, taxonomy.names)                    # by system and language, with 95% intervals

Notes are rows of the vote log (`mirage.people.votes.rows.Note`), so they are durable, belong to the texts they were
written on, and are undone by a later row. `taxonomy.py` reads the categories, `counts.py` counts them, `stage.py` joins
both with an arena and reads files of notes.
"""

from mirage.people.notes.counts import BATTLES, EVERYTHING, CategoryCount, count_categories
from mirage.people.notes.stage import category_counts, import_notes, make_note, notes_on
from mirage.people.notes.taxonomy import Category, Taxonomy, load_taxonomy

__all__ = [
    "BATTLES",
    "EVERYTHING",
    "Category",
    "CategoryCount",
    "Taxonomy",
    "category_counts",
    "count_categories",
    "import_notes",
    "load_taxonomy",
    "make_note",
    "notes_on",
]
