"""Flat RAG records: one row per answer, with its question and the passages shown to its system."""

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from shlex import quote
from typing import Any, get_args

from mirage import schema
from mirage.errors import BadInput
from mirage.io import values
from mirage.io.formats import shapes
from mirage.io.formats.battles import by_people
from mirage.io.formats.build import Builder, Format, describe
from mirage.io.formats.fields import FIELDS, FOUND, fold_field, is_measure, number
from mirage.io.formats.spec import GivenAnswer, GivenScore, Item, Record, Sample, ShownPassage, load_names
from mirage.io.formats.status import find_status, read_error, read_status, status_fields
from mirage.io.values import unpack
from mirage.text.languages import known_code

_GOLD = "answer"
_TAGS = ("domain", "type")
_TAGGED = (*_TAGS, "tags")
_NEEDED = tuple(FIELDS[field] for field in ("question", "contexts", "answer", "system"))
KNOWN = frozenset(name for names in FIELDS.values() for name in names)
_SYSTEMS = frozenset(map(fold_field, FOUND["system"]))
_STATUSES = frozenset(get_args(schema.Status))
_WORSE = "noise_sensitivity"
"""Beginning of measures that are shares of errors."""
OWN = "file"
"""Rater of a file's own scores."""
_OF_MEASURES = frozenset(load_names("rag")["measures"])
"""Fields that hold several measures by name."""
_FLAGS = re.compile(
    r"(?:is_?|answer_|response_)?(?:correct|accurate|faithful|grounded|supported|relevant|passed|pass|hit|match)(?:@\d+|_at_\w+)?"
    r"|exact_match|em|accuracy|correctness",
    re.IGNORECASE,
)
_GRADES = dict.fromkeys(("correct", "pass", "passed", "👍"), 1.0)
_GRADES |= dict.fromkeys(("incorrect", "fail", "failed", "👎"), 0.0)
"""Scores by the words of graders."""
_SHARE = re.compile(r"(?P<part>\d+(?:[.,]\d+)?) ?(?:%|/ ?(?P<whole>[1-9]\d*))")
_NO_MEASURE = re.compile(
    r"|unnamed: \d+|[knp]|(?:n|num|number|max|min)[_ .-].*|(?:.*[_ .-])?(?:ids?|idx|index|no|nr|num|number|row|rank|at"
    r"|position|order|seed|temperature|top_?[kpn]|epoch|trial|attempt|retry|retries|fold|batch|page|line|offset|start|end"
    r"|year|month|day|date|time|timestamp|created|port|version|counts?|size|len|length|chars|words|tokens|cost|price|usd"
    r"|latency|duration|m?s|secs?|seconds|elapsed|runtime|level|hops?|turns?)",
    re.IGNORECASE,
)
"""Names of numbers that are not scores of an answer."""
_PASSAGE = load_names("passage")
_NUMBER = re.compile(r"^[ \t]*\[(\d{1,3})\][ \t:.]*", re.MULTILINE)


def recognise(sample: Sample) -> str | None:
    """Return why a file counts as flat RAG records; None if it does not."""
    names = {field: next((name for name in FIELDS[field] if name in sample.fields), None) for field in FIELDS}
    if names["question"] is None or (names["answer"] is None and names["contexts"] is None):
        return None
    present = [names[field] for field in ("question", "contexts", "answer", "system") if names[field]]
    return f"its records have {', '.join(filter(None, present))}"


_Plan = Mapping[str, tuple[str, ...]]
"""Names in a record by field."""


@dataclass(frozen=True, slots=True)
class _Fields:
    """A record by our names of its fields."""

    value: Mapping[str, Any]
    plan: _Plan
    where: str

    def find(self, field: str) -> tuple[str, Any]:
        """Return the name and the value of a field."""
        return values.first(self.value, *self.plan.get(field, (field,)))

    def get(self, field: str) -> Any:
        """Return the value of a field; None if there is none."""
        return self.find(field)[1] if field in self.plan else None

    def id(self, field: str) -> str | None:
        """Return an id or a name."""
        return values.identifier(self.get(field), field, self.where)


_NO_FIELD = "it is not a field of rag"


@lru_cache(1024)
def _plan(names: tuple[str, ...], mapped: bool) -> _Plan:
    """Return the names of each field in records of some names; with `mapped` the user has said which is `answer`."""
    plan = {field: tuple(name for name in FIELDS[field] if name in names) for field in FIELDS}
    if len(plan["answer"]) > 1 and plan["answer"][0] == _GOLD:
        # Beside a model's output, data sets call the right answer so.
        gold = {"answer": plan["answer"][1:], "reference": (*plan["reference"], _GOLD)}
        plan |= {"answer": (_GOLD,)} if mapped else gold
    return {field: present for field, present in plan.items() if present}


@lru_cache(256)
def _why_left_out(name: str) -> str:
    if (near := values.nearest_name(name, KNOWN)) is None:
        return _NO_FIELD
    field = next(field for field, names in FIELDS.items() if near in names)
    return f"not a field of rag; did you mean {near}? --map {name}={field}"


@lru_cache(4096)
def _plain_passages(texts: tuple[str, ...]) -> Sequence[ShownPassage]:
    """Return passages of texts, which systems mostly share: the same object for the same texts."""
    return shown_passages(list(texts), (), "", "contexts")


def items(record: Record, builder: Builder) -> Iterator[Item]:
    """Return the query of a record, with its passages and the answer, if it has any."""
    value, where = record.value, record.where
    plan = _plan(tuple(value), _GOLD in record.mapped)
    if _GOLD in plan.get("reference", ()):
        other = plan["answer"][0]
        why = f"{other} is the system's, and answer the reference; else leave that out: --map {other}=other"
        builder.note_guess("answer", why)
    if further := () if value.keys() <= KNOWN else value.keys() - KNOWN:
        values.refuse_misspelt(value, where, *_NEEDED)
    status, reason, ended = find_status(value, status_fields(tuple(further))) if further else (None, None, [])
    fields = _Fields(value, plan, where)
    query_id = fields.id("id")
    name, question = fields.find("question")
    asked = shapes.conversation(question, name, where)
    if asked.question is None and query_id is None:
        raise values.missing("question", value, where, also=FIELDS["question"])
    name, contexts = fields.find("contexts")
    labels = values.as_list(fields.get("relevant"))
    if type(contexts) is list and not labels and set(map(type, contexts)) <= {str}:
        passages = _plain_passages(tuple(contexts))
    else:
        passages = shown_passages(contexts, labels, where, name)
    answers = []
    if "answer" in plan or "status" in plan or asked.answer is not None:
        answers.append(_fail(_answer(fields, asked, builder), status, reason))
    if "wanted" in plan:
        wanted = shown_passages(fields.get("wanted"), (), where, "reference_contexts")
        passages = _add_wanted(passages, wanted, builder, answered=any(answer.text is not None for answer in answers))
    others = [name for name in further if name not in ended]
    measured = _own_scores(value, others, answers[0].system, builder) if answers else {}
    for name in others:
        if name not in measured:
            builder.left_out(name, _why_left_out(name))
    scores = [_score(fields, answer.system, builder) for answer in answers if "score" in plan]
    scores += itertools.chain(*measured.values())
    yield Item(
        asked.question,
        query_id=query_id,
        language=fields.id("language"),
        subset=fields.id("subset"),
        reference=_reference(fields.get("reference"), where),
        tags=None if plan.keys().isdisjoint(_TAGGED) else _tags(fields),
        turns=asked.turns or shapes.turns(values.as_list(fields.get("turns")), "turns", where),
        passages=passages,
        answers=answers,
        scores=scores,
    )


def _add_wanted(
    shown: Sequence[ShownPassage], wanted: Sequence[ShownPassage], builder: Builder, *, answered: bool
) -> list[ShownPassage]:
    """Return the passages of a record, labelled by those it refers to; in a test set also these."""
    texts = {passage.text for passage in wanted}
    labelled = [replace(passage, relevant=True) if passage.text in texts else passage for passage in shown]
    texts = {passage.text for passage in shown}
    others = [replace(passage, relevant=True, pooled=True) for passage in wanted if passage.text not in texts]
    if answered and others:
        builder.left_out("reference_contexts", "this system was not shown them", len(others))
    return labelled if answered else [*labelled, *others]


def _own_scores(
    value: Mapping[str, Any], names: Iterable[str], system: str, builder: Builder
) -> dict[str, list[GivenScore]]:
    """Return the numbers beside an answer as scores, by field; an object of measures holds several."""
    scores: dict[str, list[GivenScore]] = {}
    for name in names:
        content = unpack(value[name])
        if isinstance(content, list) and all(isinstance(entry, Mapping) and "name" in entry for entry in content):
            content = {entry["name"]: entry for entry in content}
        inner = content if isinstance(content, Mapping) and name.casefold() in _OF_MEASURES else {name: content}
        for measure, given in ((str(measure), given) for measure, given in inner.items()):
            if inner is content and isinstance(given, Mapping):
                given = given.get("score", given.get("value"))
            score = _read_measure(measure, given)
            absent = isinstance(given, float) or (inner is content and given is None)
            if score is not None or (absent and not _NO_MEASURE.fullmatch(measure)):
                rater = str(value.get("rater") or OWN) if inner is content else OWN
                ends = (1.0, 0.0) if measure.startswith(_WORSE) else (None, None)
                given_score = GivenScore(system, measure, rater, score, low=ends[0], high=ends[1])
                scores.setdefault(name, []).append(given_score)
            elif not is_measure(given):
                builder.texts.add(measure)
    return scores


def is_own_score(name: str, value: Any) -> bool:
    """Return whether a field of a record holds scores of its answer."""
    own = name.casefold() in _OF_MEASURES or _read_measure(name, value) is not None
    return name in FIELDS["score"] or (name not in KNOWN and own)


def _read_measure(name: str, value: Any) -> float | None:
    """Return a value that may measure an answer: a number, a grade, or a flag of such a name; None for any other."""
    if _FLAGS.fullmatch(name) and str(value).strip().casefold() in ("true", "false", "yes", "no"):
        return float(values.flag(value, name, "") or 0)
    if isinstance(value, bool):
        return None
    if isinstance(value, str) and (grade := _GRADES.get(value.strip().casefold())) is not None:
        return grade
    if isinstance(value, str) and (share := _SHARE.fullmatch(value.strip())):
        value = float(share["part"].replace(",", ".")) / float(share["whole"] or 100)
    return None if _NO_MEASURE.fullmatch(name) else number(value)


def _fail(answer: GivenAnswer, status: str | None, reason: str | None) -> GivenAnswer:
    """Give an answer the status that other fields say, if it fits its text."""
    said = bool((answer.text or "").strip())
    word = answer.status
    if word is not None and word not in _STATUSES:
        status, reason = (read_status(word) or word), reason or f"status is {word}"
    elif word is not None:
        return answer
    if status in (None, "ok") or (said and status in ("missing", "empty")):
        return replace(answer, status=None)
    if not said and status != "empty":
        return replace(answer, text=None, status="missing" if status == "truncated" else status, reason=reason)
    return replace(answer, status=status, reason=None if status == "truncated" else reason)


def _answer(fields: _Fields, asked: shapes.Conversation, builder: Builder) -> GivenAnswer:
    """Return the answer of a record, which may be empty, or the end of the conversation that is its question."""
    value, plan, where = fields.value, fields.plan, fields.where
    answers = ((name, value[name]) for name in plan.get("answer", ()) if value[name] is not None)
    name, content = next(answers, ("answer", None))
    error = None
    if isinstance(content, Mapping) and content.keys().isdisjoint(shapes.INNER) and content.get("error"):
        error = read_error(content["error"], name)
        content = None
    said = shapes.answer(content, name, where) if content is not None or asked.answer is None else asked
    if isinstance(content, list) and len(content) > 1 and isinstance(content[0], str):
        builder.note_guess("answer", "a list of texts is read as the sentences of one answer")
    for part in content if isinstance(content, list) else [content]:
        for name in part.keys() - shapes.READ if isinstance(part, Mapping) else ():
            builder.left_out(f"answer.{name}", "an answer is one text")
    system = fields.id("system")
    if system is None:
        near = next((theirs for theirs in value if fold_field(theirs) in _SYSTEMS), None)
        raise values.missing("system", value, where, also=FIELDS["system"], near=near)
    thoughts = shapes.text(fields.get("thoughts"), "thoughts", where)
    return GivenAnswer(
        system,
        said.answer,
        status="api_error" if error else fields.id("status"),
        reason=error,
        template=fields.id("template"),
        numbered=values.flag(fields.get("numbered"), "numbered", where),
        thoughts=thoughts if "thoughts" in plan else said.thoughts,
        run_date=values.day(fields.get("run_date"), where),
        sample=values.repeat(value, "sample", where) if "sample" in plan else 0,
    )


def _score(fields: _Fields, system: str, builder: Builder) -> GivenScore:
    name, score = fields.find("score")
    if (rater := fields.id("rater")) is None:
        builder.note_guess(name, "by a program, since no rater is named; scores by people name one (--set rater=human)")
        rater = OWN
    elif not by_people(rater):
        named = quote(f"rater:{rater}=human {rater}")
        builder.note_guess("rater", f"{rater} is read as a program; a person's name starts with human: --value {named}")
    value = _read_measure(name, score)
    value = values.number(score, name, fields.where) if value is None else value
    return GivenScore(system, name, rater, value, by_people(rater))


def _reference(value: Any, where: str) -> str | None:
    """Return the reference answer; several are joined by line breaks."""
    if isinstance(value, list):
        return "\n".join(filter(None, (shapes.text(entry, "reference", where) for entry in value))) or None
    return shapes.text(value, "reference", where)


def _tags(fields: _Fields) -> dict[str, list[str]]:
    tags: dict[str, list[str]] = {}
    given = fields.get("tags")
    named = given if isinstance(given, Mapping) else {"tag": given}
    for tag, content in (*((tag, fields.get(tag)) for tag in _TAGS), *named.items()):
        tags.setdefault(str(tag), []).extend(str(entry) for entry in values.as_list(content))
    return {tag: entries for tag, entries in tags.items() if entries}


def shown_passages(value: Any, labels: Sequence[Any], where: str, name: str) -> list[ShownPassage]:
    """Return the passages in a field of a record."""
    entries = _split_numbered(value) if isinstance(value, str) else None
    if entries is None:
        entries = values.as_list(value, where)
    if labels and len(labels) != len(entries):
        raise BadInput(
            f"there are {len(labels)} labels of {len(entries)} passages",
            where=where,
            do="write one label per passage in relevant, in their order",
        )
    while entries and not entries[-1]:
        entries.pop()
    return [
        _passage(entry, label, where, name) if entry else ShownPassage(None, passage_id="empty")
        for entry, label in zip(entries, labels or [None] * len(entries), strict=False)
    ]


def _split_numbered(text: str) -> list[str] | None:
    """Split one text that numbers its passages `[1] ...`; None if it does not."""
    marks = list(_NUMBER.finditer(text))
    if not marks or [int(mark[1]) for mark in marks] != list(range(1, len(marks) + 1)):
        return None
    ends = [*(mark.start() for mark in marks[1:]), len(text)]
    return [text[mark.end() : end].strip() for mark, end in zip(marks, ends, strict=True)]


def _passage(entry: Any, label: Any, where: str, name: str) -> ShownPassage:
    if not isinstance(entry, Mapping):
        return ShownPassage(shapes.text(entry, name, where), relevant=values.flag(label, "relevant", where))
    named = {ours: values.first(entry, *names) for ours, names in _PASSAGE.items()}
    text_name, text = named["text"]
    id_name, passage_id = named["id"]
    if text is None and passage_id is None:
        text_name, text = name, shapes.text(entry, name, where)
    (label_name, own_label), (url_name, url), (language_name, language) = (
        named[name] for name in ("relevant", "url", "language")
    )
    code = known_code(language if isinstance(language, str) else None)
    rest = {
        name: content
        for name, content in entry.items()
        if name not in (text_name, id_name, label_name, url_name, "title", language_name if code else None)
        and content not in (None, "", [], {})
    }
    return ShownPassage(
        shapes.text(text, f"{name}.{text_name}", where),
        passage_id=values.identifier(passage_id, "the id of a passage", where),
        title=shapes.text(entry.get("title"), "title", where),
        relevant=values.flag(label if own_label is None else own_label, "relevant", where),
        url=shapes.text(url, "url", where),
        metadata=rest or None,
        language=code,
    )


FORMAT = Format(*describe("rag"), recognise=recognise, items=items)
