"""A test set from a corpus: questions, checks, and the arena of both subsets.

make_testset(Path("arena"), passages, settings, calls=calls)
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from mirage import schema
from mirage.errors import ArenaError, NotEnoughData
from mirage.llm import calls as llm_calls
from mirage.llm.asking import ArenaCalls, Conversations, plan_calls
from mirage.llm.calls import ChatModel, Cost
from mirage.llm.completion import Reply
from mirage.stages.nuggets.bank import nugget_id
from mirage.stages.testset.checks import (
    MODEL_CHECKED,
    CheckedQuestion,
    CheckRequest,
    SearchedCorpus,
    add_copies,
    read_check,
    start_check,
)
from mirage.stages.testset.questions import TYPES, QuestionRequest, WrittenQuestion, drop_repeated, read_question
from mirage.stages.testset.settings import CorpusPassage, TestsetSettings
from mirage.stats.rows import group
from mirage.store import writing
from mirage.store.arena import Arena, is_arena
from mirage.store.files import write_text
from mirage.store.writing import Provenance
from mirage.text.languages import base

CORPUS_FILE = "source/corpus.jsonl"
"""The remaining corpus, in the arena's folder."""
ATTEMPTS = 4
"""Maximum requests per question, since dropped questions are replaced."""
_SHORTEST = 80
"""Minimum characters of a passage to write a question from."""
Say = Callable[[str], None]
"""Callback for progress messages."""


@dataclass(frozen=True)
class TestsetResult:
    """Result of making a test set."""

    __test__ = False

    arena: Arena
    """The arena."""
    counts: Mapping[str, Counter[str]]
    """Queries by language and subset, `relevant` or `non_relevant`, and `dropped` questions."""
    reasons: Counter[str]
    """Dropped questions by reason."""
    removed: int
    """Number of passages removed from the corpus."""
    undecided: int
    """Number of passages without a valid finding by the model."""
    cost: Cost
    """Cost of the calls of this run."""


def plan_testset(path: Path, passages: Sequence[CorpusPassage], settings: TestsetSettings, model: ChatModel) -> Cost:
    """Return the maximum cost of a test set if every question is accepted; nothing is sent or written.

    Raises:
        NotEnoughData: if no passage is long enough for a question.
    """
    corpus = SearchedCorpus(passages)
    requests = [one for code in settings.languages for one in _requests(code, corpus, settings, settings.n)]
    checks = []
    for request in requests:
        rows = corpus.search(request.passage.searched, MODEL_CHECKED)
        text = request.passage.text[:300]
        found = tuple(corpus.passages[row] for row in rows)
        checks.append(CheckRequest(request.language, text, (text,) * 3, tuple(rows), found))
    return llm_calls.total(plan_calls(path, Conversations(of), model) for of in (requests, checks))


def make_testset(
    path: Path,
    passages: Sequence[CorpusPassage],
    settings: TestsetSettings,
    *,
    calls: ArenaCalls,
    sources: Sequence[Mapping[str, Any]] = (),
    say: Say = lambda _: None,
) -> TestsetResult:
    """Make a test set, and write its arena and the remaining corpus.

    Replies are committed to the ledger in the arena's folder as they arrive, and the arena is written at the end: a
    rerun with the same corpus and options resumes without paying twice.

    Args:
        path: the arena's folder; must not contain an arena.
        passages: the corpus.
        settings: options.
        calls: the model that writes the questions and checks the passages.
        sources: the files of the corpus, for the manifest.
        say: called with progress messages.

    Raises:
        ArenaError: if the folder has an arena already, or cannot be written.
        NotEnoughData: if the corpus or its questions are too few, or the budget was reached.
        Unreachable: if the service rejects every call.
    """
    if is_arena(path):
        raise ArenaError("the folder already has an arena", where=str(path), do="give another folder")
    corpus = SearchedCorpus(passages)
    say(f"{len(passages):,} passages indexed.")
    run = _Run(path, calls)
    questions, dropped = [], []
    for code in settings.languages:
        accepted, rejected = _write_questions(code, corpus, settings, run)
        questions += accepted
        dropped += rejected
    if not questions:
        reasons = Counter(str(draft.reason) for draft in dropped).most_common(1)
        raise NotEnoughData(
            f"none of {len(dropped):,} questions was accepted",
            where=reasons[0][0] if reasons else "",
            do="try another model, or other languages and passages",
        )
    say(f"{len(questions):,} questions accepted, {len(dropped):,} dropped.")
    if len(questions) < settings.n * len(settings.languages):
        say("Fewer than requested: the corpus has no more passages, or too many questions were dropped.")
    checked = _check(questions, corpus, run)
    rng = np.random.default_rng([settings.seed, 2])
    unanswerable = draw_unanswerable(checked, settings.unanswerable, rng=rng)
    removed = frozenset(row for number in unanswerable for row in _answering_rows(checked[number]))
    author = calls.model.settings.model
    tables = group(_rows(checked, unanswerable, removed, corpus, settings, author=author))
    tables["drafts"] += dropped
    if "queries" not in tables:
        raise NotEnoughData(
            "no question has a passage known not to answer it",
            do="add documents, or use a model that checks the passages",
        )
    arena = _write(path, tables, corpus, removed, settings, calls=calls, sources=sources)
    counts: dict[str, Counter[str]] = {code: Counter() for code in settings.languages}
    for row in tables["queries"]:
        counts[row.language][row.subset] += 1
    reasons_of = Counter[str]()
    for draft in tables["drafts"]:
        if draft.query_id is None:
            counts[draft.language]["dropped"] += 1
            reasons_of[str(draft.reason)] += 1
    undecided = sum(len(one.rows(None)) for one in checked)
    return TestsetResult(arena, counts, reasons_of, len(removed), undecided, llm_calls.total(run.costs))


class _Run:
    """The calls of one test set, within one budget."""

    def __init__(self, path: Path, calls: ArenaCalls) -> None:
        self.path, self.calls = path, calls
        self.costs: list[Cost] = []

    def replies(self, requests: Sequence[Any]) -> Sequence[Reply]:
        """Return the reply to each request.

        Raises:
            NotEnoughData: if the budget was reached.
            Unreachable: if the service ended the run, or every call failed.
        """
        replies = self.calls.replies(self.path, requests)
        self.costs.append(replies.cost)
        replies.need_any()
        answered = [reply for reply in replies.by_number if reply is not None]
        if len(answered) < len(requests):
            raise NotEnoughData(
                f"the budget is reached: {len(requests) - len(answered):,} calls remain",
                do="rerun the command with a higher --budget; replies so far are cached and cost nothing",
            )
        return answered


def _write_questions(
    code: str, corpus: SearchedCorpus, settings: TestsetSettings, run: _Run
) -> tuple[list[WrittenQuestion], list[schema.Draft]]:
    """Generate the questions of one language, replacing dropped questions; return both."""
    requests = _requests(code, corpus, settings, ATTEMPTS * settings.n)
    questions: list[WrittenQuestion] = []
    dropped: list[schema.Draft] = []
    start = 0
    while part := requests[start : start + settings.n - len(questions)]:
        start += len(part)
        read = [read_question(*pair) for pair in zip(part, run.replies(part), strict=True)]
        new, repeated = drop_repeated([one for one in read if isinstance(one, WrittenQuestion)], questions)
        questions += new
        dropped += [one for one in read if isinstance(one, schema.Draft)] + repeated
    return questions, dropped


def _requests(code: str, corpus: SearchedCorpus, settings: TestsetSettings, n: int) -> list[QuestionRequest]:
    """Return up to n requests in one language, from passages drawn at random.

    Raises:
        NotEnoughData: if no passage is long enough.
    """
    long = [row for row, passage in enumerate(corpus.passages) if len(passage.text) >= _SHORTEST]
    own = [row for row in long if base(corpus.passages[row].language or "") == base(code)]
    rows = own or long
    if not rows:
        raise NotEnoughData(
            f"no passage has {_SHORTEST} characters, the minimum for a question", do="add longer documents to --corpus"
        )
    rng = np.random.default_rng([settings.seed, 1, *code.encode()])
    drawn = rng.permutation(rows)[:n].tolist()
    return [QuestionRequest(code, TYPES[number % len(TYPES)], corpus.passages[row]) for number, row in enumerate(drawn)]


def _check(questions: Sequence[WrittenQuestion], corpus: SearchedCorpus, run: _Run) -> list[CheckedQuestion]:
    """Check which passages answer each question."""
    started = [start_check(question, corpus) for question in questions]
    requests = [request for _, request in started if request is not None]
    replies = iter(run.replies(requests) if requests else ())
    for checked, request in started:
        if request is not None:
            checked.found.update(read_check(request, next(replies)))
            add_copies(checked.found, corpus)
    return [checked for checked, _ in started]


def _answering_rows(checked: CheckedQuestion) -> list[int]:
    """Return the rows to remove so that nothing answers a question: also those that may answer."""
    return checked.rows("answers") + checked.rows(None)


def draw_unanswerable(checked: Sequence[CheckedQuestion], share: float, *, rng: np.random.Generator) -> frozenset[int]:
    """Draw the questions that become unanswerable, a share of each language; return their numbers.

    The choice is random, so the subsets do not differ in style. Questions that share an answering passage, directly or
    transitively, are drawn together, since removing it affects both.

    Args:
        checked: the questions.
        share: share to make unanswerable, from 0 to 1.
        rng: draws the questions.
    """
    groups: list[tuple[set[int], list[int]]] = []
    for number, one in enumerate(checked):
        rows, numbers, others = set(_answering_rows(one)), [number], []
        for other in groups:
            if rows.isdisjoint(other[0]):
                others.append(other)
            else:
                rows, numbers = rows | other[0], [*other[1], *numbers]
        groups = [*others, (rows, numbers)]
    languages = [one.question.draft.language for one in checked]
    total, taken = Counter(languages), Counter[str]()
    chosen: set[int] = set()
    drawn = [groups[place][1] for place in rng.permutation(len(groups)).tolist()]
    # Groups first: single questions fill the rest.
    for numbers in sorted(drawn, key=lambda numbers: len(numbers) == 1):
        counts = Counter(languages[number] for number in numbers)
        if all(taken[code] + n <= round(share * total[code]) for code, n in counts.items()):
            chosen.update(numbers)
            taken.update(counts)
    return frozenset(chosen)


def _rows(
    checked: Sequence[CheckedQuestion],
    unanswerable: Set[int],
    removed: Set[int],
    corpus: SearchedCorpus,
    settings: TestsetSettings,
    *,
    author: str,
) -> Iterator[tuple[str, Any]]:
    """Yield the rows of the questions with their tables; a question without a remaining passage to show is dropped."""
    for number, one in enumerate(checked):
        draft = one.question.draft
        key = draft.language, str(draft.query_id)
        is_unanswerable = number in unanswerable
        relevant = [] if is_unanswerable else one.rows("answers")
        silent = [row for row in one.rows("nothing") if row not in removed]
        shown = relevant + silent[: max(settings.depth - len(relevant), 2)]
        if not silent:
            reason = "no remaining passage is known not to answer"
            yield "drafts", replace(draft, query_id=None, reason=reason)
            continue
        yield "drafts", draft
        yield "queries", schema.Query(*key, "non_relevant" if is_unanswerable else "relevant", draft.text, None)
        yield "tags", schema.Tag(*key, "type", draft.type)
        rng = np.random.default_rng([settings.seed, 3, *draft.draft_id.encode()])
        for position, place in enumerate(rng.permutation(len(shown)).tolist(), 1):
            passage, label = corpus.passages[shown[place]], shown[place] in relevant
            name = passage.passage_id
            yield "passages", schema.Passage(*key, name, position, passage.title, passage.text, label)
            about = json.dumps({"file": passage.file}, ensure_ascii=False)
            yield "documents", schema.Document(*key, name, None, about)
        if not is_unanswerable:
            yield "references", schema.Reference(*key, str(draft.answer))
            for text, fact in {fact.text: fact for fact in reversed(one.question.facts)}.items():
                yield "nuggets", schema.Nugget(*key, nugget_id(text), text, fact.importance, draft.passages, author)
        for row, found in one.found.items():
            name = corpus.passages[row].passage_id
            of = replace(found, language=key[0], query_id=key[1], passage_id=name)
            yield "passage_checks", replace(of, removed=row in removed)


def _write(
    path: Path,
    tables: Mapping[str, Sequence[Any]],
    corpus: SearchedCorpus,
    removed: Set[int],
    settings: TestsetSettings,
    *,
    calls: ArenaCalls,
    sources: Sequence[Mapping[str, Any]],
) -> Arena:
    """Write the remaining corpus, then the arena."""
    lines = [
        {"docid": p.passage_id, "title": p.title, "text": p.text, **({"language": p.language} if p.language else {})}
        for row, p in enumerate(corpus.passages)
        if row not in removed
    ]
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    write_text(path / CORPUS_FILE, text)
    notes = [f"testset: questions by {llm_calls.describe(llm_calls.parameters(calls.model.settings))}", settings.note()]
    notes.append("labels are made by a program and not audited")
    return writing.write(
        path,
        {name: schema.sort(name, schema.from_rows(name, rows)) for name, rows in tables.items()},
        title=path.name,
        about="A test set made from a corpus: questions by a model, some without an answer in the remaining corpus.",
        made_by=Provenance(calls.made_by, sources, notes, labels="model"),
    )
