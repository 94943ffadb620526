"""The builder: collects records of any format, and builds the tables of an arena.

Ids are derived from content if a source has none. Queries and passages are shared by the systems. The order of records
does not affect the tables: positions and languages, which depend on all records, are determined at the end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, get_args

from mirage import schema
from mirage.errors import BadInput, UnknownName
from mirage.io.formats.spec import GivenAnswer, GivenScore, GivenVerdict, QueryKey, ShownPassage
from mirage.stages.nuggets import nugget_id as made_id
from mirage.text.content import as_json, clean_text, content_id, digest, passage_digest, whole
from mirage.text.languages import known_code
from mirage.text.languages import language as language_of
from mirage.text.names import Names, need_visible, normalise_name
from mirage.text.thoughts import store_answer

if TYPE_CHECKING:
    import pyarrow as pa

UNKNOWN = "?"
"""Prefix of an unknown language, which is determined after the last record."""
_CHUNK = 8192
"""Texts held as Python objects before conversion to Arrow, which takes a third of the memory."""
_FITTING = {
    "no text": ("missing", "refused", "api_error"),
    "an empty text": ("empty", "truncated"),
    "a text": ("ok", "truncated", "refused", "api_error"),
}
"""Statuses of an answer by its text; the first if the source gives none."""


class Texts:
    """Compact storage of many texts by number."""

    def __init__(self) -> None:
        self._arrays: list[Any] = []
        self._last: list[str | None] = []

    def __len__(self) -> int:
        return len(self._arrays) * _CHUNK + len(self._last)

    def add(self, text: str | None) -> int:
        """Store a text and return its number."""
        self._last.append(text)
        number = len(self) - 1
        if len(self._last) == _CHUNK:
            import pyarrow as pa

            self._arrays.append(pa.array(self._last, pa.string()))
            self._last = []
        return number

    def __getitem__(self, number: int) -> str | None:
        chunk, place = divmod(number, _CHUNK)
        if chunk == len(self._arrays):
            return self._last[place]
        text: str | None = self._arrays[chunk][place].as_py()
        return text

    def take(self, numbers: Sequence[int | None]) -> pa.ChunkedArray:
        """Return the texts of some numbers as an Arrow array; null for no number."""
        import pyarrow as pa

        every = pa.chunked_array([*self._arrays, pa.array(self._last, pa.string())], pa.string())
        if len(numbers) == len(every) and all(number == place for place, number in enumerate(numbers)):
            return every
        return every.take(pa.array(numbers, pa.int64()))


@dataclass(slots=True)
class PassageSeen:
    """A passage of a query while reading."""

    text: int | None
    """Number of its text; None if no record has it."""
    digest: bytes | None
    where: str
    title: str | None
    relevant: bool | None
    url: str | None
    metadata: str | None
    pooled: bool | None
    language: str | None = None
    """Code of its language; None if the source gives none."""


@dataclass(slots=True)
class AnswerSeen:
    """An answer while reading."""

    text: int
    """Number of its text."""
    digest: bytes | None
    where: str
    status: str
    reason: str | None
    template: str | None
    numbered: bool | None
    thoughts: int | None
    """Number of its thoughts; None for none."""
    shown: tuple[str, ...]
    """Ids of the shown passages, in order; empty if unknown."""
    run_date: str | None = None
    retriever: str | None = None
    depth: int | None = None


@dataclass(slots=True)
class QuerySeen:
    """A query while reading."""

    language: str
    query_id: str
    where: str
    text: str | None = None
    subset: str | None = None
    reference: str | None = None
    turns: tuple[tuple[str, str], ...] = ()
    tags: set[tuple[str, str]] = field(default_factory=set)
    passages: dict[str, PassageSeen] = field(default_factory=dict)
    orders: dict[tuple[str, ...], str] = field(default_factory=dict)
    """Orders in which its passages were shown, each with the first system by name; the empty text if unknown."""
    answers: dict[str, AnswerSeen] = field(default_factory=dict)
    """By system."""
    retrieved: dict[str, tuple[dict[str, Any], ...]] = field(default_factory=dict)
    """By retriever: rows of `schema.Retrieved` without their key, in order."""
    judgments: dict[tuple[str, str, str, str | None, int | None], tuple[Any, ...]] = field(default_factory=dict)
    """By judge, the two systems in the order shown, voter and repeat: verdict, points, rationale, reason, person,
    criterion, prompt, place.
    """
    scores: dict[tuple[str, str, str], tuple[Any, ...]] = field(default_factory=dict)
    """By system, measure and rater: person, value, low, high, reason, place."""
    samples: dict[tuple[str, int], tuple[Any, ...]] = field(default_factory=dict)
    """By system and number: text, status, template, reason, place."""
    nuggets: dict[tuple[str], tuple[Any, ...]] = field(default_factory=dict)
    """By id: text, importance, passage, author, place."""
    assignments: dict[tuple[str, str, str], tuple[Any, ...]] = field(default_factory=dict)
    """By system, nugget and assigner: assignment, quote, reason, place."""


class Collector:
    """Collected records by query (`spec.Builder`); `finish.finish_tables` builds tables from them."""

    def __init__(self) -> None:
        self.queries: dict[QueryKey, QuerySeen] = {}
        self.texts = Texts()
        """Texts of the answers."""
        self.passage_texts = Texts()
        self.systems: dict[str, dict[str, Any]] = {}
        self.guesses: dict[str, str] = {}
        """What was assumed, by a word for it, and why."""
        self.omitted: dict[tuple[str, str], int] = {}
        """What has no place in an arena and why, with how often."""
        self.counts: dict[str, int] = {}
        """How often something happened that the summary counts."""
        self.seen: set[str] = set()
        """Locations of the records."""
        self.fresh: set[str] = set()
        """Those of records that added something."""
        self.unnamed: set[str] = set()
        """Those of records without an id of the query."""
        self._codes: dict[str, str] = {}
        self._names = Names()

    def query(
        self,
        text: str | None,
        *,
        where: str,
        query_id: str | None = None,
        language: str | None = None,
        subset: str | None = None,
        reference: str | None = None,
        tags: Mapping[str, str | Sequence[str]] | None = None,
        turns: Sequence[tuple[str, str]] = (),
    ) -> QueryKey:
        """See `spec.Builder`."""
        text = clean_text(text, "the query", where)
        query_id = query_id and normalise_name(query_id)
        if not query_id:
            if text is None:
                raise BadInput("there is neither a query nor its id", where=where, do="map a field: --map THEIRS=id")
            query_id = content_id(text, *(part for turn in turns for part in turn))
            self.unnamed.add(where)
        if language and (language := language.strip()):
            code = self._codes.get(language) or self._code(language, where)
        else:
            code = UNKNOWN + (content_id(text) if text else "")
        key = code, query_id
        entry = self.queries.get(key)
        if entry is None:
            whole(query_id, "the id of the query", where)
            self._names.check(query_id, "id", where, code)
            entry = self.queries[key] = QuerySeen(code, query_id, where)
            self.fresh.add(where)
        self.seen.add(where)
        before = entry.text, entry.subset, entry.reference, entry.turns, len(entry.tags)
        if text is not None and entry.text != text:
            entry.text = _check_agreement("text", entry.text, text, entry, where)
            entry.where = where
        if subset is not None:
            if subset not in get_args(schema.Subset):
                raise UnknownName("subset", subset, get_args(schema.Subset), where=where)
            entry.subset = _check_agreement("subset", entry.subset, subset, entry, where)
        if reference := clean_text(reference, "the reference answer", where):
            entry.reference = _check_agreement("reference answer", entry.reference, reference, entry, where)
        if turns:
            entry.turns = _check_agreement("conversation", entry.turns or None, _turns(turns, where), entry, where)
        if tags:
            entry.tags |= _tags(tags)
        if before != (entry.text, entry.subset, entry.reference, entry.turns, len(entry.tags)):
            self.fresh.add(where)
        return key

    def passages(self, query: QueryKey, passages: Sequence[ShownPassage], *, where: str) -> tuple[str, ...]:
        """See `spec.Builder`."""
        entry = self.queries[query]
        order: list[str] = []
        unnamed = 0
        for passage in passages:
            text = clean_text(passage.text, "a passage", where)
            title = clean_text(passage.title, "a title", where) if passage.title else None
            key, made_id = (None, "") if text is None else passage_digest(text, title)
            passage_id = passage.passage_id and normalise_name(passage.passage_id)
            if not passage_id:
                if text is None:
                    raise BadInput("there is neither a passage nor its id", where=where)
                passage_id = made_id
                unnamed += 1
            order.append(passage_id)
            seen = entry.passages.get(passage_id)
            if seen is None:
                self.fresh.add(where)
                whole(passage_id, "the id of a passage", where)
                need_visible(passage_id, "the id of a passage", where)
                number = None if text is None else self.passage_texts.add(text)
                metadata = as_json(passage.metadata)
                entry.passages[passage_id] = PassageSeen(
                    number,
                    key,
                    where,
                    title,
                    passage.relevant,
                    passage.url,
                    metadata,
                    passage.pooled,
                    known_code(passage.language),
                )
                continue
            before = replace(seen)
            if key is not None and seen.digest != key:
                if seen.digest is not None:
                    raise _two(f"texts of passage {passage_id}", seen.where, entry, where)
                seen.text, seen.digest, seen.where = self.passage_texts.add(text), key, where
            self._complete(seen, passage, title, entry, where)
            if before != seen:
                self.fresh.add(where)
        if unnamed:
            self.counts["passage_id"] = self.counts.get("passage_id", 0) + unnamed
        ids = tuple(order)
        if ids and ids not in entry.orders:
            entry.orders[ids] = ""
            self.fresh.add(where)
        return ids

    def _complete(
        self, seen: PassageSeen, passage: ShownPassage, title: str | None, entry: QuerySeen, where: str
    ) -> None:
        """Add facts on a passage; of several titles, addresses and metadata the alphabetically first is kept."""
        if passage.relevant is not None:
            seen.relevant = _check_agreement("label of a passage", seen.relevant, passage.relevant, entry, where)
        # What one source gives as a system saw it is no pool.
        seen.pooled = seen.pooled and passage.pooled
        if code := known_code(passage.language):
            seen.language = _check_agreement("language of a passage", seen.language, code, entry, where)
        if title:
            seen.title = min(title, seen.title or title)
        if passage.url:
            seen.url = min(passage.url, seen.url or passage.url)
        if metadata := as_json(passage.metadata):
            seen.metadata = min(metadata, seen.metadata or metadata)

    def answer(self, query: QueryKey, answer: GivenAnswer, *, where: str) -> None:
        """See `spec.Builder`."""
        entry, system = self.queries[query], self._name(answer.system, "system", where)
        content = None if answer.text is None else whole(answer.text, "the answer", where)
        parted = store_answer(answer.text, answer.status, answer.reason, answer.thoughts)
        # CSV writes no text as an empty one.
        text = parted.text if parted.status not in _FITTING["no text"] or (parted.text or "").strip() else None
        reason, thoughts = parted.reason, parted.thoughts
        status = _status(parted.status, text, where)
        if answer.sample:
            row = (text, status, answer.template, reason)
            what = f"answers of {system} as sample {answer.sample}"
            self._put(entry, entry.samples, (system, answer.sample), row, what, where)
            return
        ids = tuple(answer.shown)
        if ids:
            before = entry.orders.get(ids)
            entry.orders[ids] = system if not before else min(before, system)
        key = None if content is None else digest(content)
        seen = entry.answers.get(system)
        if seen is None:
            self.fresh.add(where)
            number = self.texts.add(text)
            if thoughts is not None:
                whole(thoughts, "the thoughts", where)
            beside = None if thoughts is None else self.texts.add(thoughts)
            shown_by = None if answer.retriever is None else self._name(answer.retriever, "retriever", where)
            entry.answers[system] = AnswerSeen(
                *(number, key, where, status, reason, answer.template, answer.numbered, beside, ids),
                *(answer.run_date, shown_by, answer.depth),
            )
            return
        if (seen.digest, seen.status) != (key, status):
            raise _two(f"answers of {system}", seen.where, entry, where)
        if ids != seen.shown:
            # One row a passage: the answer repeats, and each row adds what it was shown.
            self.counts["folded"] = self.counts.get("folded", 0) + 1
            self.fresh.add(where)
            for order in (seen.shown, ids):
                if entry.orders.get(order) == system:
                    entry.orders.pop(order)
            seen.shown = tuple(dict.fromkeys((*seen.shown, *ids)))
            entry.orders[seen.shown] = min(entry.orders.get(seen.shown) or system, system)

    def retrieved(
        self, query: QueryKey, retriever: str, passages: Sequence[tuple[ShownPassage, float | None]], *, where: str
    ) -> None:
        """See `spec.Builder`."""
        entry, retriever = self.queries[query], self._name(retriever, "retriever", where)
        rows = tuple(
            {
                "passage_id": _passage_id(passage, where),
                "rank": rank,
                "score": score,
                "title": clean_text(passage.title, "a title", where) if passage.title else None,
                "text": clean_text(passage.text, "a passage", where),
                "passage_language": known_code(passage.language),
            }
            for rank, (passage, score) in enumerate(passages, start=1)
        )
        if retriever not in entry.retrieved:
            self.fresh.add(where)
        if entry.retrieved.setdefault(retriever, rows) != rows:
            raise _two(f"runs of {retriever}", entry.where, entry, where)

    def judgment(self, query: QueryKey, given: GivenVerdict, *, where: str) -> None:
        """See `spec.Builder`."""
        entry = self.queries[query]
        judge = self._name(schema.criterion_judge(given.judge, given.criterion), "judge", where)
        system_a, system_b = (self._name(name, "system", where) for name in (given.system_a, given.system_b))
        verdict, points = given.verdict, given.points
        if system_a == system_b:
            raise BadInput(f"{system_a} is compared with itself", where=where)
        if points is not None and not 0 <= points <= 1:
            raise BadInput(f"points are {points!r}, not a number in [0, 1]", where=where)
        if verdict is None:
            verdict = "unparsed" if points is None else schema.verdict_of(points)
        verdict = schema.verdict_word(verdict)
        if verdict not in get_args(schema.Verdict):
            raise UnknownName("verdict", verdict, get_args(schema.Verdict), where=where)
        if verdict == "unparsed" and points is not None:
            raise BadInput("there are points, but the verdict is unparsed", where=where)
        if verdict != "unparsed" and given.reason:
            raise BadInput(f"the verdict is {verdict}, but there is a reason why there is none", where=where)
        if given.inclusion is not None and not 0 < given.inclusion <= 1:
            raise BadInput(f"inclusion is {given.inclusion!r}, not a number in (0, 1]", where=where)
        said = (verdict, points, given.rationale, given.reason, given.person or None)
        row = (*said, given.inclusion, given.criterion, given.prompt)
        voter = None if given.voter is None else self._name(given.voter, "voter", where)
        names = (judge, system_a, system_b, voter, given.repeat or None)
        self._put(entry, entry.judgments, names, row, f"verdicts of {judge} on {system_a} and {system_b}", where)

    def score(self, query: QueryKey, score: GivenScore, *, where: str) -> None:
        """See `spec.Builder`."""
        entry = self.queries[query]
        system, measure = self._name(score.system, "system", where), self._name(score.measure, "measure", where)
        names = system, measure, self._name(score.rater, "rater", where)
        value, reason = score.value, score.reason
        if value is None and reason is None:
            reason = "the file has no number here"
        row = (score.person, value, score.low, score.high, reason if value is None else None)
        what = f"scores of {score.rater} for {score.measure} of {score.system}"
        self._put(entry, entry.scores, names, row, what, where)

    def nugget(
        self,
        query: QueryKey,
        text: str,
        importance: str,
        *,
        where: str,
        author: str,
        nugget_id: str | None = None,
        passage_id: str | None = None,
    ) -> str:
        """See `spec.Builder`."""
        entry = self.queries[query]
        content = clean_text(text, "a nugget", where)
        if content is None:
            raise BadInput("a nugget has no text", where=where)
        if importance not in get_args(schema.NuggetImportance):
            raise UnknownName("importance", importance, get_args(schema.NuggetImportance), where=where)
        name = nugget_id or made_id(content)
        whole(name, "the id of a nugget", where)
        need_visible(name, "the id of a nugget", where)
        row = (content, importance, passage_id, self._name(author, "author", where))
        self._put(entry, entry.nuggets, (name,), row, f"nuggets {name}", where)
        return name

    def assignment(
        self,
        query: QueryKey,
        system: str,
        nugget_id: str,
        assigner: str,
        assignment: str | None,
        *,
        where: str,
        quote: str | None = None,
        reason: str | None = None,
    ) -> None:
        """See `spec.Builder`."""
        entry = self.queries[query]
        if assignment is not None and assignment not in get_args(schema.Assignment):
            raise UnknownName("assignment", assignment, get_args(schema.Assignment), where=where)
        if assignment is None and reason is None:
            reason = "the file has no assignment here"
        names = self._name(system, "system", where), nugget_id, self._name(assigner, "assigner", where)
        row = (assignment, quote, reason if assignment is None else None)
        what = f"assignments of nugget {nugget_id} to {system} by {assigner}"
        self._put(entry, entry.assignments, names, row, what, where)

    def system(self, name: str, **facts: Any) -> None:
        """See `spec.Builder`."""
        card = self.systems.setdefault(self._name(name, "system", ""), {})
        known = [column.name for column in schema.columns("systems")]
        for fact, value in facts.items():
            if fact not in known:
                raise UnknownName("fact of a system card", fact, known)
            if value is not None and card.setdefault(fact, value) != value:
                raise BadInput(
                    f"{name} has two values of {fact}: {card[fact]!r} and {value!r}", do="keep the right one"
                )

    def note_guess(self, what: str, why: str) -> None:
        """See `spec.Builder`."""
        self.guesses.setdefault(what, why)

    def left_out(self, what: str, why: str, n: int = 1) -> None:
        """See `spec.Builder`."""
        self.omitted[what, why] = self.omitted.get((what, why), 0) + n

    def _put(
        self, entry: QuerySeen, rows: dict[Any, tuple[Any, ...]], key: Any, row: tuple[Any, ...], what: str, where: str
    ) -> None:
        """Add a row with its location; a repeated one must be equal."""
        seen = rows.setdefault(key, (*row, where))
        if seen[:-1] != row:
            raise _two(what, seen[-1], entry, where)
        if seen[-1] == where:
            self.fresh.add(where)

    def _name(self, name: str, kind: str, where: str) -> str:
        """Return a normalised name that is not confused with another of its kind."""
        name = normalise_name(name) if isinstance(name, str) else name
        if not name or not isinstance(name, str):
            raise BadInput(f"{kind} is {name!r}, not a name", where=where, do=f"set it: --set {kind}=NAME")
        if not name.isascii():
            whole(name, kind, where)
        self._names.check(name, kind, where)
        return name

    def _code(self, name: str, where: str) -> str:
        try:
            code = language_of(name, where=where).code
        except UnknownName as error:
            error.do = f"{error.do} Or say which it is: --value language:{name}=CODE"
            raise
        self._codes[name] = code
        return code


def _tags(tags: Mapping[str, str | Sequence[str]]) -> set[tuple[str, str]]:
    pairs = ((tag, [values] if isinstance(values, str) else values) for tag, values in tags.items())
    return {(tag, str(value).strip()) for tag, values in pairs for value in values if str(value).strip()}


def _turns(turns: Sequence[tuple[str, str]], where: str) -> tuple[tuple[str, str], ...]:
    for turn in turns:
        for part in turn:
            whole(part, "a turn", where)
    return tuple((str(speaker), str(text)) for speaker, text in turns)


def _passage_id(passage: ShownPassage, where: str) -> str:
    passage_id = normalise_name(passage.passage_id or "")
    if not passage_id:
        raise BadInput("a retrieved passage has no id", where=where, do="give every passage its id")
    whole(passage_id, "the id of a passage", where)
    need_visible(passage_id, "the id of a passage", where)
    return passage_id


def _status(status: str | None, text: str | None, where: str) -> str:
    """Return the status of an answer, from its text if the source gives none."""
    content = "no text" if text is None else "a text" if text.strip() else "an empty text"
    if status is None:
        return _FITTING[content][0]
    if status not in get_args(schema.Status):
        raise UnknownName("status", status, get_args(schema.Status), where=where)
    if status not in _FITTING[content]:
        raise BadInput(f"status is {status}, but there is {content}", where=where)
    return status


def _check_agreement(name: str, old: Any, new: Any, entry: QuerySeen, where: str) -> Any:
    """Return a value that records may repeat, but not contradict."""
    if old is not None and old != new:
        raise _two(f"values of {name}", entry.where, entry, where)
    return new


def _two(what: str, before: str, entry: QuerySeen, where: str) -> BadInput:
    return BadInput(
        f"query {entry.query_id} has two different {what}",
        where=f"{before} and {where}",
        do="keep one, or use separate ids for the two queries",
    )
