"""A test set from a corpus: questions, checks, and the arena of both subsets.

make_testset(Path("arena"), passages, settings, calls=calls)
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from mirage import llm, schema, store
from mirage.errors import ArenaError, NotEnoughData
from mirage.stages.nuggets.bank import nugget_id
from mirage.stages.testset.checks import (
    MODEL_CHECKED,
    CheckedQuestion,
    CheckRequest,
    SearchedCorpus,
    add_copies,
    check_by_words,
    check_request,
    check_rows,
    read_check,
)
from mirage.stages.testset.coverage import CLUSTERS, cluster, go_round
from mirage.stages.testset.questions import (
    QuestionRequest,
    WrittenQuestion,
    drop_repeated,
    kept_facts,
    passages_for,
    read_question,
)
from mirage.stages.testset.settings import CorpusPassage, TestsetSettings
from mirage.stages.testset.twins import Split, split_questions
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

    arena: store.Arena
    """The arena."""
    counts: Mapping[str, Counter[str]]
    """Queries by language and subset, `relevant` or `non_relevant`, and `dropped` questions."""
    reasons: Counter[str]
    """Dropped questions by reason."""
    removed: int
    """Number of passages removed from the corpus."""
    undecided: int
    """Number of passages without a valid finding by the model."""
    cost: llm.Cost
    """Cost of the calls of this run."""


def plan_testset(
    path: Path, passages: Sequence[CorpusPassage], settings: TestsetSettings, model: llm.ChatModel
) -> llm.Cost:
    """Return the maximum cost of a test set if every question is accepted; nothing is sent or written.

    Raises:
        NotEnoughData: if no passage is long enough for a question.
    """
    corpus = SearchedCorpus(passages)
    requests = [one for code in settings.languages for one in _requests(code, corpus, settings, settings.n)]
    checks = []
    for request in requests:
        rows = corpus.search(request.passages[0].searched, MODEL_CHECKED)
        text = request.passages[0].text[:300]
        found = tuple(corpus.passages[row] for row in rows)
        checks.append(CheckRequest(request.language, text, (text,) * 3, tuple(rows), found))
    return llm.total(
        [
            llm.plan_calls(path, llm.Conversations(requests), model),
            llm.plan_calls(path, llm.Conversations(checks), model),
        ]
    )


def make_testset(
    path: Path,
    passages: Sequence[CorpusPassage],
    settings: TestsetSettings,
    *,
    calls: llm.ArenaCalls,
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
    import numpy as np

    if store.is_arena(path):
        raise ArenaError("the folder already has an arena", where=str(path), do="give another folder")
    corpus = SearchedCorpus(passages)
    say(f"{len(passages):,} passages indexed, {len(corpus.copies):,} of them with near-duplicates.")
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
    checked, undecided = _check(questions, corpus, settings, run)
    rng = np.random.default_rng([settings.seed, 2])
    split = split_questions(checked, settings.unanswerable, rng=rng)
    tables, lost = _tables(checked, split, corpus, settings, author=calls.model.settings.model)
    dropped += lost
    drafts = [*(one.question.draft for one in checked), *dropped]
    lost_ids = {draft.draft_id for draft in lost}
    tables["drafts"] = [draft for draft in drafts if draft.query_id is None or draft.draft_id not in lost_ids]
    if not tables["queries"]:
        raise NotEnoughData(
            "no question has a passage known not to answer it",
            do="add documents, or use a model that checks the passages",
        )
    arena = _write(path, tables, corpus, split, settings, calls=calls, sources=sources)
    counts: dict[str, Counter[str]] = {code: Counter() for code in settings.languages}
    for row in tables["queries"]:
        counts[row.language][row.subset] += 1
    for draft in dropped:
        counts[draft.language]["dropped"] += 1
    reasons_of = Counter(str(draft.reason) for draft in dropped)
    return TestsetResult(arena, counts, reasons_of, len(split.removed), undecided, llm.total(run.costs))


class _Run:
    """The calls of one test set, within one budget."""

    def __init__(self, path: Path, calls: llm.ArenaCalls) -> None:
        self.path, self.calls = path, calls
        self.costs: list[llm.Cost] = []
        self.budget = calls.model.limits.budget

    def replies(self, requests: Sequence[Any]) -> Sequence[llm.Reply]:
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
    """Return up to n requests in one language, from passages that cover the corpus.

    Raises:
        NotEnoughData: if no passage is long enough.
    """
    import numpy as np

    long = [row for row, passage in enumerate(corpus.passages) if len(passage.text) >= _SHORTEST]
    own = [row for row in long if base(corpus.passages[row].language or "") == base(code)]
    rows = corpus.without_copies(long if settings.across or not own else own)
    if not rows:
        raise NotEnoughData(
            f"no passage has {_SHORTEST} characters, the minimum for a question", do="add longer documents to --corpus"
        )
    rng = np.random.default_rng([settings.seed, 1, *code.encode()])
    labels = cluster([corpus.passages[row].searched for row in rows], min(settings.n, CLUSTERS), rng=rng)
    types = [settings.types[k] for k in rng.permutation(len(settings.types))]
    requests = []
    used: set[int] = set()
    for number, place in enumerate(go_round(labels, rng=rng)[:n]):
        row, kind = rows[place], types[number % len(types)]
        shown = [row]
        if (several := passages_for(kind)) > 1:
            known = set(rows)
            near = [other for other in corpus.search(corpus.passages[row].searched, 20) if other in known]
            # Unused passages come first, since questions that share a passage are drawn together.
            near.sort(key=used.__contains__)
            shown = corpus.without_copies(dict.fromkeys([row, *near]))[:several]
        if len(shown) == 1 and several > 1:
            kind = "fact" if "fact" in settings.types else kind
        used.update(shown)
        requests.append(QuestionRequest(code, kind, tuple(corpus.passages[k] for k in shown)))
    return requests


def _check(
    questions: Sequence[WrittenQuestion], corpus: SearchedCorpus, settings: TestsetSettings, run: _Run
) -> tuple[list[CheckedQuestion], int]:
    """Check which passages answer each question; return the checks and the number of undecided passages."""
    checked = [check_by_words(question, corpus) for question in questions]
    pairs = [(one, request) for one in checked if (request := check_request(one, corpus, settings.depth)) is not None]
    undecided = 0
    if pairs:
        replies = run.replies([request for _, request in pairs])
        for (one, request), reply in zip(pairs, replies, strict=True):
            for row, result in read_check(request, reply).items():
                one.add(row, result)
                undecided += result.finding is None
            add_copies(one, corpus)
    return checked, undecided


Rows = dict[str, list[Any]]


def _tables(
    checked: Sequence[CheckedQuestion], split: Split, corpus: SearchedCorpus, settings: TestsetSettings, *, author: str
) -> tuple[Rows, list[schema.Draft]]:
    """Return the rows of each table, and the drafts without a remaining passage to show."""
    import numpy as np

    names = ("queries", "turns", "tags", "references", "passages", "documents", "nuggets", "passage_checks")
    tables: Rows = {name: [] for name in names}
    lost = []
    for number, one in enumerate(checked):
        draft = one.question.draft
        key = draft.language, str(draft.query_id)
        unanswerable = number in split.unanswerable
        relevant = [] if unanswerable else one.answering()
        silent = [row for row in one.silent() if row not in split.removed]
        shown = relevant + silent[: max(settings.depth - len(relevant), 2)]
        if not silent:
            lost.append(replace(draft, query_id=None, reason="no remaining passage is known not to answer"))
            continue
        tables["queries"].append(schema.Query(*key, "non_relevant" if unanswerable else "relevant", draft.text, None))
        tables["tags"].append(schema.Tag(*key, "type", draft.type))
        tables["turns"] += [schema.Turn(*key, k, *turn) for k, turn in enumerate(one.question.turns, 1)]
        rng = np.random.default_rng([settings.seed, 3, *draft.draft_id.encode()])
        for position, place in enumerate(rng.permutation(len(shown)).tolist(), 1):
            passage = corpus.passages[shown[place]]
            label = shown[place] in relevant
            tables["passages"].append(
                schema.Passage(*key, passage.passage_id, position, passage.title, passage.text, label)
            )
            about = json.dumps({"file": passage.file}, ensure_ascii=False)
            tables["documents"].append(schema.Document(*key, passage.passage_id, None, about))
        if not unanswerable:
            tables["references"].append(schema.Reference(*key, str(draft.answer)))
            tables["nuggets"] += [
                schema.Nugget(*key, nugget_id(text), text, fact.importance, fact.passage_id, author)
                for text, fact in kept_facts(one.question).items()
            ]
        tables["passage_checks"] += check_rows(one, corpus, key[1], split.removed.__contains__)
    return tables, lost


def _write(
    path: Path,
    tables: Rows,
    corpus: SearchedCorpus,
    split: Split,
    settings: TestsetSettings,
    *,
    calls: llm.ArenaCalls,
    sources: Sequence[Mapping[str, Any]],
) -> store.Arena:
    """Write the remaining corpus, then the arena."""
    lines = [
        {"docid": p.passage_id, "title": p.title, "text": p.text, **({"language": p.language} if p.language else {})}
        for row, p in enumerate(corpus.passages)
        if row not in split.removed
    ]
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    store.write_text(path / CORPUS_FILE, text)
    notes = [f"testset: questions by {llm.describe(calls.model.settings)}", settings.note()]
    notes.append("labels are made by a program and not audited")
    return store.write(
        path,
        {name: schema.sort(name, schema.from_rows(name, rows)) for name, rows in tables.items() if rows},
        title=path.name,
        about="A test set made from a corpus: questions by a model, some without an answer in the remaining corpus.",
        made_by=store.Provenance(calls.made_by, sources, notes),
    )
