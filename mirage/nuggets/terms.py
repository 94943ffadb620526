"""Which nuggets an answer states, by shared words: free, in any language, and a floor.

It knows no meaning: a denial that repeats the words of a nugget counts as stating it, and other words for the same fact
do not. What it says is worth a comparison with a model's word, not more.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from mirage import schema
from mirage.nuggets.bank import banks
from mirage.schema import Assignment, NuggetAssignment
from mirage.text import Span, sentences, terms

if TYPE_CHECKING:
    import pyarrow as pa

TERMS = "baseline/terms"
"""Its name as an assigner."""
SUPPORT, PARTIAL = 0.8, 0.5
"""From which share of a nugget's weight an answer states it, and states a part of it."""
_ALIKE = 0.9
"""Jaro-Winkler similarity, in [0, 1], from which two words are forms of one: it weighs the beginnings of words more,
and endings are what most languages inflect."""
_SHORTEST = 4
"""Letters of a word that may match another form."""
_CITATION = re.compile(r"\[[^\[\]\n]*\]")
"""What stands in brackets cites a passage: its digits are no number of the answer."""
_HEAVIEST = 8
"""No word weighs more letters. Short words, which every sentence has, weigh little in every language."""


def match_terms(nugget: str, answer: str, language: str, query: str = "") -> tuple[Assignment, str | None]:
    """Whether an answer states a nugget, and the sentences that do.

    The terms of the nugget, without those of the query, are looked for in every two neighbouring sentences of the
    answer, exactly or as another form of the word. Each weighs its letters; a number weighs most, and a nugget whose
    numbers are not all there is stated in part at most.

    Args:
        nugget: text of the nugget.
        answer: the raw answer.
        language: code of its language, for its sentences.
        query: text of the query: what it says already tells nothing.
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
    for span in _windows(plain, language):
        present = _present(wanted, set(terms(plain[slice(*span)])))
        share = sum(weights[name] for name in present) / total
        if share > best:
            best, where = share, span
            numbers = all(name in present for name in wanted if _is_number(name))
    if where is None or best < PARTIAL:
        return "not_support", None
    return "support" if best >= SUPPORT and numbers else "partial_support", answer[slice(*where)]


def _windows(text: str, language: str) -> list[Span]:
    """Every sentence, then every two neighbours: of two that state as much the shorter comes first."""
    spans = sentences(text, language)
    return [*spans, *((first[0], second[1]) for first, second in itertools.pairwise(spans))]


def _present(wanted: Sequence[str], there: Collection[str]) -> set[str]:
    """The terms that are there, as they are or in another form."""
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


def _is_number(term: str) -> bool:
    return any(character.isnumeric() for character in term)


def assign_by_terms(nuggets: pa.Table, answers: pa.Table, queries: pa.Table | None = None) -> pa.Table:
    """Match every nugget with every answer of its query that has a text: `schema.NuggetAssignment` rows.

    Args:
        nuggets: `schema.Nugget` rows.
        answers: `schema.Answer` rows.
        queries: `schema.Query` rows, whose words then tell nothing; None where they are not known.
    """
    by_query = banks(nuggets)
    texts: dict[tuple[str, str], str] = {}
    if queries is not None:
        columns = (queries[name].to_pylist() for name in ("language", "query_id", "text"))
        texts = {(language, query_id): text or "" for language, query_id, text in zip(*columns, strict=True)}
    rows = []
    columns = (answers[name].to_pylist() for name in (*schema.key("answers"), "text"))
    for language, query_id, system, text in zip(*columns, strict=True):
        if text is None or not text.strip():
            continue
        query = texts.get((language, query_id), "")
        for name, nugget in by_query.get((language, query_id), ()):
            assignment, quote = match_terms(nugget, text, language, query)
            rows.append(NuggetAssignment(language, query_id, system, name, TERMS, assignment, quote, None, None))
    return schema.sort("nugget_assignments", schema.from_rows("nugget_assignments", rows))
