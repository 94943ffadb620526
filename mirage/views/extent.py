"""View of the extent of a ranking: what the arena measures and how large it is, and what a selection leaves of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mirage.battles.judge import judge_facts
from mirage.ranking.judges import size
from mirage.store.search import sample_numbers
from mirage.text.languages import name_of
from mirage.text.segmentation import MANY, count_text
from mirage.views.system_cards import release_words

if TYPE_CHECKING:
    from mirage.ranking.judges import Judge
    from mirage.store.arena import Arena
    from mirage.views.board import BoardView

MEASURES = "Does it know when it cannot answer? Truth is not checked."
"""What a ranking by relevance labels says, and what it does not."""


def describe_data(arena: Arena, judge: Judge) -> str:
    """Describe what the whole arena measures by a judge, and its size."""
    data = size(arena, judge)
    over = f"{count_text(data.queries, 'query')} in {count_text(len(data.languages), 'language')}."
    released = release_words(arena, data.systems)
    if not judge.rests_on_labels:
        counts = count_text(data.answers, judge.counted.removesuffix("s"))
        several = len(judge.members(arena))
        decider = count_text(several, "judge") if several > 1 else judge.phrase(arena)
        about = judge_facts(arena).get(judge.name)
        decider += f" ({about.words})" if about is not None and about.words else ""
        return f"{counts} by {decider} on {len(data.systems)} systems{released}, {over}"
    noun = "real answer" if arena.label == "real replies" else "answer"
    systems = count_text(len(data.systems), "system")
    if "samples" in arena.tables:
        over += f" Of up to {len(sample_numbers(arena))} samples of an answer the first counts."
    return f"{MEASURES} {count_text(data.answers, noun)} of {systems}{released} to {over}"


def describe_selection(arena: Arena, judge: Judge, board: BoardView) -> str:
    """Describe what a board counts of the whole arena, and why the rest is excluded; empty if it counts everything."""
    data, names = size(arena, judge), [name_of(code) for code in board.languages]
    if len(names) == len(data.languages) and board.n_queries == data.queries and not board.left_out:
        return ""
    summary = f"{board.n_queries:,} of {data.queries:,} queries in "
    summary += ", ".join(names) if len(names) <= 6 else f"{len(names)} of {len(data.languages)} languages"
    omitted = [f"{name_of(code)} ({reason})" for code, reason in board.lacking.items() if code not in board.without]
    omitted = omitted if len(omitted) <= MANY else [count_text(len(omitted), "language")]
    why = "too few classified answers" if judge.rests_on_labels else "no battles in some of these languages"
    omitted += [f"{system} ({why})" for system in board.left_out]
    return f" Shown: {summary}" + (f"; excluded: {', '.join(omitted)}" if omitted else "") + "."
