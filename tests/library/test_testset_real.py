"""Labels of a test set over people's labels: the error of a model that knows them to a stated error is recovered."""

import csv
import gzip
import json
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

from mirage.io.sources.nomiracl.prompt import split_prompt
from mirage.llm.completion import Reply
from mirage.stages.testset.checks import CheckedQuestion, SearchedCorpus, add_copies, read_check, start_check
from mirage.stages.testset.questions import Fact, QuestionRequest, WrittenQuestion
from mirage.stages.testset.settings import CorpusPassage
from mirage.stages.testset.stage import draw_unanswerable
from mirage.stats.intervals import wilson

CODE, QUESTIONS, ERROR = "sw", 60, 0.15
"""Language; questions; share of them whose source does not answer, and for which the model finds nothing."""

pytestmark = pytest.mark.data


def labels_of(folder: Path) -> dict[str, dict[str, int]]:
    """MIRACL's labels: by query, the passages with their label."""
    labels = defaultdict(dict)
    with gzip.open(folder / "miracl" / f"qrels.{CODE}.tsv.gz", "rt", encoding="utf-8") as stream:
        for query, _, passage, label in csv.reader(stream, delimiter="\t"):
            labels[query][passage] = int(label)
    return labels


def passages_of(folder: Path) -> list[CorpusPassage]:
    """The passages in NoMIRACL's published prompts."""
    texts: dict[str, str] = {}
    for subset in ("relevant", "non_relevant"):
        with gzip.open(folder / "nomiracl" / subset / f"{CODE}.test.vanilla_prompt.jsonl.gz", "rt") as stream:
            for row in map(json.loads, stream):
                if row.get("prompt"):
                    texts.update(zip(row["docids"], split_prompt(row["prompt"], query_id="")[1], strict=True))
    return [CorpusPassage(name, None, text, CODE, "") for name, text in sorted(texts.items())]


def test_the_error_of_the_labels_is_that_of_the_model(shared: Path) -> None:
    draw = np.random.default_rng(20)
    labels, corpus = labels_of(shared), SearchedCorpus(passages_of(shared))
    with gzip.open(shared / "miracl" / f"topics.{CODE}.tsv.gz", "rt", encoding="utf-8") as stream:
        topics = dict(csv.reader(stream, delimiter="\t", quoting=csv.QUOTE_NONE))
    relevant = {
        query: [name for name, label in found.items() if label and name in corpus.rows]
        for query, found in labels.items()
    }
    checked: list[CheckedQuestion] = []
    for query in [query for query, names in relevant.items() if names][:QUESTIONS]:
        wrong = draw.random() < ERROR
        others = [name for name, label in labels[query].items() if not label and name in corpus.rows]
        source = others[0] if wrong and others else relevant[query][0]
        passage = corpus.passages[corpus.rows[source]]
        quote = " ".join(passage.text.split()[:12])
        row = QuestionRequest(CODE, "fact", passage).draft(text=topics[query], query_id=query)
        one, asked = start_check(WrittenQuestion(row, (Fact(quote, "vital", quote),)), corpus)
        assert asked is not None
        says = [
            {"passage": k, "finding": "answers" if p.passage_id in relevant[query] and not wrong else "nothing"}
            for k, p in enumerate(asked.passages, 1)
        ]
        one.found.update(read_check(asked, Reply("k", json.dumps(says), "ok", None, 1, 1, None, 1)))
        add_copies(one.found, corpus)
        checked.append(one)
    unanswerable = draw_unanswerable(checked, 0.5, rng=draw)
    removed = {row for number in unanswerable for row in checked[number].rows("answers")}
    errors = {"answerable": 0, "unanswerable": 0}
    for number, one in enumerate(checked):
        names = set(relevant[str(one.question.draft.query_id)])
        if number in unanswerable:
            kept = [row for row in one.rows("nothing") if row not in removed][:10]
            errors["unanswerable"] += any(corpus.passages[row].passage_id in names for row in kept)
        else:
            errors["answerable"] += not any(corpus.passages[row].passage_id in names for row in one.rows("answers"))
    for kind, n in (("unanswerable", len(unanswerable)), ("answerable", len(checked) - len(unanswerable))):
        assert n >= 25
        low, high = wilson(errors[kind], n)
        assert low <= ERROR <= high, (kind, errors, n)
