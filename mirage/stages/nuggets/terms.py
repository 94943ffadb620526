"""Assignment of nuggets by shared words: free, in any language, a lower bound.

It ignores meaning: a denial that repeats the words of a nugget counts as stating it, and paraphrases do not. It serves
as a baseline for a model's assignments.
"""

import itertools
import re
from collections.abc import Collection, Sequence
from functools import lru_cache

import pyarrow as pa

from mirage import schema
from mirage.schema import Assignment, NuggetAssignment
from mirage.stages.nuggets.bank import banks
from mirage.stages.shown import query_texts
from mirage.stats.rows import read_rows
from mirage.text.segmentation import sentences, terms

TERMS = "baseline/terms"
"""Its name as an assigner."""
SUPPORT, PARTIAL = 0.8, 0.5
"""Minimum share of a nugget's weight for support, and for partial support."""
_ALIKE = 0.9
"""Minimum Jaro-Winkler similarity, in [0, 1], of two inflections: it weighs prefixes more, and most languages inflect
endings.
"""
_SHORTEST = 4
"""Minimum letters of a word to match its inflections."""
_CITATION = re.compile(r"\[[^\[\]\n]*\]")
"""Bracketed text is a citation, whose digits are not numbers of the answer."""
_HEAVIEST = 8
"""Maximum weight of a word in letters. Short words, which every sentence has, weigh little in every language."""


def match_terms(nugget: str, answer: str, language: str, query: str = "") -> tuple[Assignment, str | None]:
    """Decide whether an answer states a nugget, and return the sentences that do.

    The terms of the nugget that are not in the query are looked up in every two adjacent sentences of the answer,
    exactly or inflected. Each is weighted by its length; numbers weigh most, and a nugget with a missing number has at
    most partial support.

    Args:
        nugget: text of the nugget.
        answer: the raw answer.
        language: code of its language, for its sentences.
        query: text of the query, whose words do not count.
    """
    known = set(terms(query))
    names = list(dict.fromkeys(terms(nugget)))
    wanted = [name for name in names if name not in known] or names
    weights = {name: _HEAVIEST if _is_number(name) else min(len(name), _HEAVIEST) for name in wanted}
    total = sum(weights.values())
    if not total:
        return "not_support", None
    best, where, numbers = 0.0, None, False
    plain = _CITATION.sub(lambda match: " " * len(match[0]), answer)
    spans = sentences(plain, language)
    anywhere = set[str]().union(*(terms(plain[slice(*span)]) for span in spans))
    if sum(weights[name] for name in _occurring_terms(wanted, anywhere)) / total < PARTIAL:
        return "not_support", None  # no two sentences can state more than all of them
    # Every two adjacent sentences come last, so that shorter matches come first.
    for span in (*spans, *((one[0], other[1]) for one, other in itertools.pairwise(spans))):
        present = _occurring_terms(wanted, set(terms(plain[slice(*span)])))
        share = sum(weights[name] for name in present) / total
        if share > best:
            best, where = share, span
            numbers = all(name in present for name in wanted if _is_number(name))
    if where is None or best < PARTIAL:
        return "not_support", None
    return "support" if best >= SUPPORT and numbers else "partial_support", answer[slice(*where)]


def _occurring_terms(wanted: Sequence[str], there: Collection[str]) -> set[str]:
    """Return the terms that occur, exactly or inflected."""
    from rapidfuzz.distance import JaroWinkler
    from rapidfuzz.process import extractOne

    present = {name for name in wanted if name in there}
    forms = [name for name in there if len(name) >= _SHORTEST and not _is_number(name)]
    for name in wanted:
        if name in present or len(name) < _SHORTEST or _is_number(name):
            continue
        if extractOne(name, forms, scorer=JaroWinkler.similarity, score_cutoff=_ALIKE) is not None:
            present.add(name)
    return present


@lru_cache(maxsize=65_536)
def _is_number(term: str) -> bool:
    return any(character.isnumeric() for character in term)


def assign_by_terms(nuggets: pa.Table, answers: pa.Table, queries: pa.Table | None = None) -> pa.Table:
    """Match every nugget with every answer of its query that has a text; return `schema.NuggetAssignment` rows.

    Args:
        nuggets: `schema.Nugget` rows.
        answers: `schema.Answer` rows.
        queries: `schema.Query` rows, whose words do not count; None if unknown.
    """
    by_query = banks(nuggets)
    texts = query_texts(queries)
    rows = []
    for language, query_id, system, text in read_rows(answers, *schema.key("answers"), "text"):
        if text is None or not text.strip():
            continue
        query = texts.get((language, query_id)) or ""
        for name, nugget in by_query.get((language, query_id), ()):
            assignment, quote = match_terms(nugget, text, language, query)
            rows.append(NuggetAssignment(language, query_id, system, name, TERMS, assignment, quote, None, None))
    return schema.sort("nugget_assignments", schema.from_rows("nugget_assignments", rows))
