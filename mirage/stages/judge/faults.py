"""Faults planted in answers by rules, without a model: the items of a judge's passport.

The items are a separate arena in the folder of the arena, so that no ranking counts them. Its systems are `original`
and the faults: each query has one answer of the arena under `original`, and the same answer with each fault. Judges
decide its battles like any others, with a ledger of its own. A fault that cannot be planted is a missing answer with
the reason.
"""

import hashlib
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from mirage import schema
from mirage.errors import NotEnoughData
from mirage.stages.judge.pairs import OrderedPair
from mirage.stages.shown import ShownPassages, query_texts
from mirage.stats.rows import group, read_rows
from mirage.store.arena import Arena, is_arena, open_arena
from mirage.store.folders import refuse_link
from mirage.store.upsert import by_key, matching, upsert
from mirage.text.answers import Citation, blank_citations, citations, is_numbered, parse_answer
from mirage.text.languages import base
from mirage.text.segmentation import sentences, terms, words

ORIGINAL = "original"
"""System name of the unchanged answers."""
CONTROL = "copy"
"""System name of the copies: an item against its own copy has no winner."""
WITHIN = 0.1
"""Maximum relative change in an answer's length, except by padding."""
QUERIES = 30
"""Queries per language, by default."""
_PADDED = 1.5
"""Length of a padded answer, relative to the original."""
_SYSTEMS = 8
"""Maximum number of answers per query to consider as the original."""
_FOREIGN = 200
"""Maximum number of sentences of other queries to choose from."""
_TEXTS = ("queries", "passages", "retrieved", "turns", "references")
"""Tables to copy the chosen queries' rows of."""
_LEAST_WORDS, _CHARACTERS = 6, {"ja": 15, "th": 25, "zh": 12}
_WHOLE = r"^[\p{Lu}\p{Lt}\p{Lo}\p{N}\"«„“‘'「『(].*(?<!\b[\p{L}\d]|\b\d\d)[.!?。．！？।؟۔॥][\"»“”’'」』)]*$"
"""A whole sentence: it begins with a capital, or a letter without case, and ends with a stop that is not that of an
initial or an ordinal.
"""
_NUMBER = r"(?<![\p{Latin}\p{N}#])\p{Nd}++(?![#])"


class CannotPlant(Exception):
    """Raised with the reason why a fault cannot be planted."""


@dataclass(frozen=True)
class AnswerToChange:
    """An answer with the inputs of the faults."""

    language: str
    """Code of its language."""
    text: str
    """The answer."""
    passages: Mapping[str, str | None]
    """The passages shown to its system by id, in order; None without a text."""
    numbered: bool | None
    """Whether the prompt numbered its passages."""
    foreign: tuple[str, ...] = ()
    """Sentences from passages of other queries in the same language."""
    translations: tuple[str, ...] = ()
    """Answers in other languages, the best replacement first."""

    @cached_property
    def citations(self) -> tuple[Citation, ...]:
        """Citations of passages that were shown."""
        return tuple(c for c in citations(self.text, tuple(self.passages), numbered=self.numbered) if c.known)

    @cached_property
    def blank(self) -> str:
        """The answer with spaces in place of its citations."""
        return blank_citations(self.text, self.citations)

    @cached_property
    def sentences(self) -> tuple[tuple[int, int], ...]:
        """Spans of the sentences, without headings."""
        parts = parse_answer(self.text)
        spans: list[tuple[int, int]] = []
        for start, end in sorted(filter(None, (parts.preamble_span, parts.reason_span, parts.answer_span))):
            spans += [(start + a, start + b) for a, b in sentences(self.blank[start:end], self.language)]
        return tuple((a, b) for a, b in spans if any(map(str.isalnum, self.blank[a:b])))


def plant(fault: str, answer: AnswerToChange) -> str:
    """Return an answer with a fault of `FAULTS`.

    Raises:
        CannotPlant: if the answer has no place for the fault, or its length would change by more than 10%.
    """
    faulty = FAULTS[fault](answer)
    if fault != CONTROL and faulty.strip() == answer.text.strip():
        raise CannotPlant("the fault changes nothing in this answer")
    if fault != "padding" and not _fits(answer, faulty):
        raise CannotPlant("no replacement keeps the length within 10%")
    return faulty


def _fits(answer: AnswerToChange, text: str) -> bool:
    return abs(len(text) - len(answer.text)) <= WITHIN * len(answer.text)


def _change_number(answer: AnswerToChange) -> str:
    """Change one digit of the longest number wherever it occurs."""
    found = list(_compile(_NUMBER).finditer(answer.blank))
    if not found:
        raise CannotPlant("the answer has no number in digits")
    number = max((match[0] for match in found), key=len)
    place = max(0, len(number) - 2)
    digit = int(number[place])
    changed = (digit + 3) % 10 or (1 if place == 0 else 0)
    other = number[:place] + chr(ord(number[place]) - digit + changed) + number[place + 1 :]
    return _replace(answer.text, [(*match.span(), other) for match in found if match[0] == number])


def _move_citations(answer: AnswerToChange) -> str:
    """Make every citation name the passage that shares least with the answer, in the form it is written in."""
    if not answer.citations:
        raise CannotPlant("the answer has no citation")
    cited, said = {c.passage_id for c in answer.citations}, set(terms(answer.blank))
    others = [(len(said & set(terms(text))), name) for name, text in answer.passages.items() if text]
    others = [(shared, name) for shared, name in others if name not in cited]
    if not others:
        raise CannotPlant("the answer cites every passage")
    moved, place = min(others)[1], list(answer.passages).index(min(others)[1]) + 1
    edits = {}
    for c in answer.citations:
        new = moved
        if c.label != c.passage_id:
            digit = next((character for character in c.label if character.isdecimal()), "0")
            new = "".join(chr(ord(digit) - unicodedata.decimal(digit) + int(each)) for each in str(place))
        edits[c.start, c.end] = answer.text[c.start : c.end].replace(c.label, new, 1)
    return _replace(answer.text, [(*span, new) for span, new in edits.items()])


def _add_unsupported(answer: AnswerToChange) -> str:
    """Append the first sentence of a passage of another query that is short enough, or put one in place of another than
    the last, before its citations.
    """
    if not answer.foreign:
        raise CannotPlant("no passage of another query of the language has a whole sentence with a figure")
    for text in answer.foreign:
        if len(text) <= WITHIN * len(answer.text) - 1:
            return f"{answer.text.rstrip()} {text}"
    spare = [(a, a + len(answer.blank[a:b].rstrip())) for a, b in answer.sentences[:-1]]
    if not spare:
        raise CannotPlant("the answer has only one sentence")
    _, span, text = min((abs(len(text) - (b - a)), (a, b), text) for a, b in spare for text in answer.foreign)
    return _replace(answer.text, [(*span, text)])


def _switch_language(answer: AnswerToChange) -> str:
    """Replace the answer by one in another language, to the parallel query if there is one."""
    if not answer.translations:
        raise CannotPlant("the arena has answers in one language only")
    return next((text for text in answer.translations if _fits(answer, text)), answer.translations[0])


def _pad(answer: AnswerToChange) -> str:
    """Append the answer's own sentences until it is 50% longer."""
    if not answer.sentences:
        raise CannotPlant("the answer has no sentence")
    text, k = answer.text.rstrip(), 0
    while len(text) < _PADDED * len(answer.text):
        text += f" {' '.join(answer.blank[slice(*answer.sentences[k % len(answer.sentences)])].split())}"
        k += 1
    return text


FAULTS: dict[str, Callable[[AnswerToChange], str]] = {
    "changed-number": _change_number,
    "moved-citation": _move_citations,
    "unsupported": _add_unsupported,
    "wrong-language": _switch_language,
    "padding": _pad,
    CONTROL: lambda answer: answer.text,
}
"""The function that plants each fault, by the system name of the faulty answers; the control is last."""


def is_statement(sentence: str, language: str) -> bool:
    """Return whether a sentence of a passage states something by itself, unlike a list's number or a heading: a whole
    sentence with a figure, of at least six words, or as many characters as these take.
    """
    code = base(language)
    least = _CHARACTERS.get(code)
    if not (len(sentence) >= least if least else len(words(sentence)) >= _LEAST_WORDS):
        return False
    return any(map(str.isdecimal, sentence)) and (code == "th" or bool(_compile(_WHOLE).search(sentence)))


def _replace(text: str, edits: Iterable[tuple[int, int, str]]) -> str:
    """Return a text with the pieces between these starts and ends replaced."""
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    return text


@cache
def _compile(pattern: str) -> Any:
    import regex  # the standard `re` breaks words at Hindi vowel signs

    return regex.compile(pattern, regex.V1)


# --- items of an arena ------------------------------------------------------------------------------------------------


def passport_path(path: Path) -> Path:
    """Return the folder of an arena's items."""
    return path / "passport"


def has_items(path: Path) -> bool:
    """Return whether an arena has items."""
    return is_arena(passport_path(path))


def draw_items(
    path: Path, *, queries: int | None = None, seed: int = 0, languages: Sequence[str] | None = None, made_by: str
) -> Arena:
    """Plant every fault in one answer to each of some queries, and store the items; existing items stay as they are.

    The queries are those with the lowest hashes, the same in every language that has their ids. The original is the
    answer in which most faults can be planted.

    Args:
        path: the arena's folder.
        queries: queries per language; None for 30, or for the existing items of a language that has some.
        seed: seed of the draw.
        languages: codes; None for all with answers.
        made_by: the command, for the manifest.

    Returns:
        The arena of the items.

    Raises:
        TableMissing: if the arena lacks queries, passages or answers.
        NotEnoughData: if no query has an answer and the texts to judge it.
    """
    arena = open_arena(path)
    for table in ("queries", "answers"):
        arena.need(table)
    if "retrieved" not in arena.tables:
        arena.need("passages")
    refuse_link(passport_path(path))
    there = _queries(open_arena(passport_path(path))) if has_items(path) else {}
    drawn = {
        code: sorted(ids, key=lambda name: _hash(seed, name))[: queries or len(there.get(code, ())) or QUERIES]
        for code, ids in _queries(arena).items()
    }
    new = {
        code: missing
        for code, ids in drawn.items()
        if (languages is None or code in languages)
        and (missing := [name for name in ids if name not in there.get(code, ())])
    }
    if new and (rows := _plant_all(arena, new, drawn, seed)):
        parts = {name: by_key(name, table) for name, table in rows.items() if len(table)}
        texts = {
            "title": f"Passport of {arena.title}",
            "label": "planted faults",
            "about": "Answers of the arena beside copies with a planted fault, to test judges.",
            "licence": str(arena.manifest.get("licence", "")),
        }
        return upsert(passport_path(path), parts, made_by=made_by, texts=lambda _: texts).arena
    if not there:
        raise NotEnoughData(
            "no query has an answer with the texts of the query and of a passage",
            do="add them: mirage import FILE --into DIR",
        )
    return open_arena(passport_path(path))


def item_pairs(items: Arena, languages: Sequence[str] | None = None) -> list[OrderedPair]:
    """Return the battles of the items: each original against each of its faulty copies and its exact copy.

    Raises:
        NotEnoughData: if there are none in these languages.
    """
    rows = items.sql("SELECT language, query_id, system FROM answers WHERE status = 'ok' ORDER BY ALL")
    pairs = [
        OrderedPair(language, query, ORIGINAL, system)
        for language, query, system in read_rows(rows, *rows.column_names)
        if system in FAULTS and (languages is None or language in languages)
    ]
    if not pairs:
        raise NotEnoughData("no fault can be planted in these languages", do="name other languages")
    return pairs


def _queries(arena: Arena) -> dict[str, list[str]]:
    """Return the ids of the queries with a usable answer, by language."""
    rows = arena.sql("SELECT DISTINCT language, query_id FROM answers WHERE status = 'ok' ORDER BY ALL")
    return group(read_rows(rows, "language", "query_id"))


def _hash(*about: object) -> bytes:
    return hashlib.sha256("\0".join(map(str, about)).encode()).digest()


def _read(arena: Arena, drawn: Mapping[str, Sequence[str]]) -> dict[str, pa.Table]:
    """Read the rows of some queries by language."""
    tables: dict[str, pa.Table] = {}
    for name in filter(arena.tables.__contains__, (*_TEXTS, "answers")):
        parts = []
        for code, ids in drawn.items():
            part = arena.read_optional(name, languages=[code])
            if part is not None:
                parts.append(part.filter(pc.is_in(part["query_id"], pa.array(ids, pa.string()))))
        tables[name] = pa.concat_tables(parts)
    return tables


def _plant_all(
    arena: Arena, new: Mapping[str, Sequence[str]], drawn: Mapping[str, Sequence[str]], seed: int
) -> dict[str, pa.Table]:
    """Return the rows of the items of new queries, by table; empty if no query can be judged."""
    tables = _read(arena, drawn)
    answers = [row for row in tables.pop("answers").to_pylist() if row["status"] == "ok" and row["text"].strip()]
    by_query = group(((row["language"], row["query_id"]), row) for row in answers)
    shown = ShownPassages(tables.get("passages"), tables.get("retrieved"), columns=("passage_id", "text"))
    passages = tables["passages" if "passages" in tables else "retrieved"]
    of_language = group((row[0], row[1:]) for row in read_rows(passages, "language", "query_id", "passage_id", "text"))
    asked = query_texts(tables["queries"])
    items: list[schema.Answer] = []
    for code, ids in new.items():
        elsewhere = [row for row in answers if row["language"] != code]
        for query in [name for name in ids if asked.get((code, name))]:
            foreign = _foreign_sentences(of_language.get(code, []), code, query, seed)
            rows = sorted(by_query.get((code, query), ()), key=lambda row: _hash(seed, row["query_id"], row["system"]))
            items += _items(rows[:_SYSTEMS], shown, foreign, elsewhere)
    if not items:
        return {}
    planted = schema.from_rows("answers", items)
    copied = {name: matching(table, planted, schema.key("queries")) for name, table in tables.items()}
    return copied | {"answers": planted}


def _foreign_sentences(passages: Iterable[tuple[Any, ...]], code: str, query: str, seed: int) -> tuple[str, ...]:
    """Return sentences from the passages of a language's other queries: query, id and text of each."""
    rows = list(passages)
    own = {text for name, _, text in rows if name == query}
    others = [row for row in rows if row[0] != query and row[2] and row[2] not in own]
    others.sort(key=lambda row: _hash(seed, query, row[1]))
    found = (text[start:end] for *_, text in others[:_FOREIGN] for start, end in sentences(text, code))
    return tuple(dict.fromkeys(text for text in found if is_statement(text, code)))[:_FOREIGN]


def _items(
    rows: Sequence[Mapping[str, Any]],
    shown: ShownPassages,
    foreign: tuple[str, ...],
    elsewhere: Sequence[Mapping[str, Any]],
) -> list[schema.Answer]:
    """Return the original and the faulty answers of the answers to a query; empty if none can be judged."""
    best: list[schema.Answer] = []
    for row in rows:
        code, numbered = row["language"], is_numbered(row["template"], row["numbered"])
        passages = dict(shown.of((code, row["query_id"]), row["retriever"], row["depth"]))
        if any(passages.values()):
            answer = AnswerToChange(code, row["text"], passages, numbered, foreign, _translations(row, elsewhere))
            best = max(best, _plant(row, answer), key=lambda planted: sum(item.status == "ok" for item in planted))
    return best


def _translations(answer: Mapping[str, Any], elsewhere: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """Return the system's answers to the query in other languages, then the answer closest in length."""
    key = answer["query_id"], answer["system"]
    parallel = [row["text"] for row in elsewhere if (row["query_id"], row["system"]) == key]
    closest = min(elsewhere, key=lambda row: abs(len(row["text"]) - len(answer["text"])), default=None)
    return (*parallel, *([closest["text"]] if closest else []))


def _plant(row: Mapping[str, Any], answer: AnswerToChange) -> list[schema.Answer]:
    """Return an answer and its copies with each fault; those without a place for the fault are missing."""
    names = ("language", "query_id", "template", "numbered", "retriever", "depth")
    same = {name: row[name] for name in names if name in row}
    original = schema.Answer(**same, system=ORIGINAL, text=answer.text, status="ok", reason=None, call=None)
    items = [original]
    for name in FAULTS:
        try:
            items.append(replace(original, system=name, text=plant(name, answer)))
        except CannotPlant as error:
            items.append(replace(original, system=name, text=None, status="missing", reason=str(error)))
    return items
