"""Systems without a model: what they answer, on any arena, and always the same."""

from __future__ import annotations

import math
import subprocess
import sys

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from conftest import ROOT
from hypothesis import given
from hypothesis import strategies as st
from sample_source import read_sample

from mirage import schema
from mirage.errors import UnknownName
from mirage.stages.generate.baselines import ABSTENTIONS, BASELINES, K1, B, BaselineInput, baseline_answers, bm25
from mirage.stages.outcomes import parse_outcome
from mirage.text.answers import citations, cited_ids, compose_answer, parse_answer
from mirage.text.detection import language_probabilities
from mirage.text.languages import LANGUAGES

PASSAGES = [
    ("d#0", "The harbour is old. Ships load grain there."),
    ("d#1", "The lighthouse was built in 1832. It stands on a rock."),
    ("d#2", "Fishing is the main trade. The lighthouse keeper also fished."),
    ("d#3", "Winters are mild. Snow is rare."),
]


def arena(
    passages: list[tuple[str, str | None]] | None = None, *, query: str | None = "When was the lighthouse built?"
) -> tuple[pa.Table, pa.Table]:
    reason = None if query else "the prompt was not published"
    queries = schema.from_rows("queries", [schema.Query("en", "q", None, query, reason)])
    shown = PASSAGES if passages is None else passages
    rows = [schema.Passage("en", "q", p, n, None, text, p == "d#1") for n, (p, text) in enumerate(shown, start=1)]
    return queries, schema.from_rows("passages", rows)


def answers(queries: pa.Table, passages: pa.Table) -> dict[str, str | None]:
    table = baseline_answers(queries, passages)
    schema.validate("answers", table)
    return dict(zip(table["system"].to_pylist(), table["text"].to_pylist(), strict=True))


def test_every_baseline_answers_in_the_published_form_and_cites_as_it_says() -> None:
    texts = answers(*arena())
    built, keeper = "The lighthouse was built in 1832.", "The lighthouse keeper also fished."
    assert texts["baseline/lead"] == "##Reason: The harbour is old. [d#0]\n##Answer: The harbour is old. [d#0]"
    assert texts["baseline/bm25"] == f"##Reason: {built} [d#1]\n##Answer: {built} [d#1]"
    three = texts["baseline/bm25-3"]
    assert three is not None
    assert three.startswith(f"##Reason: {built} [d#1] {keeper} [d#2] ")
    assert texts["baseline/bm25-uncited"] is not None
    assert "[" not in texts["baseline/bm25-uncited"]
    extract = texts["baseline/extract"]
    assert extract is not None
    # The best sentence, the rest of its passage, and one sentence of each other passage.
    assert extract.startswith(f"##Reason: {built} [d#1] It stands on a rock. [d#1] {keeper} [d#2] ")
    assert (
        texts["baseline/half"]
        == f"##Reason: {built} [d#1] It stands on a rock. [d#1] {keeper} [d#2]\n##Answer: {built} [d#1]"
    )
    assert "d#1" not in str(texts["baseline/no-best"])
    verbose = str(texts["baseline/verbose"])
    assert all(sentence in verbose for _, text in PASSAGES for sentence in text.split(". "))
    assert texts["baseline/latin"] == texts["baseline/cautious"] == extract
    assert texts["baseline/abstain"] == "##Reason: {}\n##Answer: {}".format(*ABSTENTIONS["en"])
    assert list(texts) == list(BASELINES)


def test_the_cautious_one_abstains_where_no_passage_has_enough_words_of_the_query() -> None:
    texts = answers(*arena(query="Which composer wrote an opera about Ships?"))
    assert texts["baseline/cautious"] == texts["baseline/abstain"]
    assert texts["baseline/extract"] != texts["baseline/abstain"]


@given(
    query=st.text("abc ", min_size=1, max_size=12),
    passages=st.lists(st.text("abc .", max_size=20), max_size=4),
)
def test_coverage_is_a_share_that_no_order_of_passages_changes(query: str, passages: list[str]) -> None:
    shown = tuple((f"d#{n}", text) for n, text in enumerate(passages))
    share = BaselineInput("en", query, shown).coverage
    assert 0 <= share <= 1 + 1e-12
    assert BaselineInput("en", query, shown[::-1]).coverage == pytest.approx(share)
    assert BaselineInput("en", query, (*shown, ("all", query))).coverage in (0.0, pytest.approx(1.0))


def test_the_baseline_of_latin_script_answers_other_scripts_in_english() -> None:
    given = [("p", "Маяк построен в 1832 году."), ("r", "Он стоит на скале.")]
    rows = [schema.Passage("ru", "q", name, n, None, text, True) for n, (name, text) in enumerate(given, start=1)]
    queries = schema.from_rows("queries", [schema.Query("ru", "q", None, "Когда построен маяк?", None)])
    text = answers(queries, schema.from_rows("passages", rows))["baseline/latin"]
    assert text is not None
    assert text.startswith("##Reason: Of all the passages, this one")
    assert "[p]" in text


def test_wrong_citations_are_of_other_passages_and_of_irrelevant_ones_first() -> None:
    def pairs(text: str | None) -> list[tuple[str, str]]:
        assert text is not None
        reason = parse_answer(text).reason
        assert reason is not None
        mentions = citations(reason, [p for p, _ in PASSAGES], numbered=False)
        starts = [0, *(m.end for m in mentions)]
        return [(reason[a : m.start].strip(), str(m.passage_id)) for a, m in zip(starts, mentions, strict=False)]

    texts = answers(*arena())
    right, wrong = pairs(texts["baseline/bm25-3"]), pairs(texts["baseline/bm25-miscited"])
    assert [sentence for sentence, _ in right] == [sentence for sentence, _ in wrong]
    assert all(own != other for (_, own), (_, other) in zip(right, wrong, strict=True))
    assert "d#1" not in [other for _, other in wrong]
    assert len({other for _, other in wrong}) == 3
    # With one passage there is nothing to cite wrongly.
    assert "[" not in str(answers(*arena(PASSAGES[1:2]))["baseline/bm25-miscited"])


def test_positions_not_rows_decide_which_passage_is_first() -> None:
    queries, passages = arena()
    assert answers(queries, passages.take([3, 1, 0, 2])) == answers(queries, passages)


def test_what_cannot_be_answered_without_texts_is_missing_with_the_reason() -> None:
    nothing = baseline_answers(*arena([("d#0", None)], query=None)).to_pylist()
    for row in nothing:
        assert (row["status"] == "ok") == (row["system"] == "baseline/abstain")
        assert (row["text"] is None) == (row["reason"] is not None) == (row["status"] == "missing")
    assert {row["reason"] for row in nothing} == {
        None,
        "no passage text is known",
        "the text of the query is not known",
    }
    untexted = answers(*arena(query=None))
    assert untexted["baseline/lead"]
    assert untexted["baseline/bm25"] is None
    blank = answers(*arena([("d#0", " \n"), ("d#1", "It was built.")]))
    assert blank["baseline/lead"] == "##Reason: It was built. [d#1]\n##Answer: It was built. [d#1]"
    assert answers(*arena([]))["baseline/lead"] is None


def test_some_baselines_can_be_had_alone_and_unknown_ones_are_refused() -> None:
    table = baseline_answers(*arena(), only=["baseline/lead", "baseline/lead"])
    assert table["system"].to_pylist() == ["baseline/lead"]
    with pytest.raises(UnknownName, match="baseline/lead"):
        baseline_answers(*arena(), only=["baseline/leed"])


# --- in 18 languages


@pytest.mark.parametrize("code", LANGUAGES)
def test_an_abstention_is_written_in_its_language(code: str) -> None:
    assert set(ABSTENTIONS) == set(LANGUAGES)
    for sentence in ABSTENTIONS[code]:
        assert language_probabilities(sentence)[code] > 0.95
    assert parse_outcome(compose_answer(*ABSTENTIONS[code]), language=code).outcome == "abstained"


@pytest.mark.parametrize("code", LANGUAGES)
def test_bm25_finds_a_relevant_passage_more_often_than_the_lead(code: str) -> None:
    tables = read_sample(ROOT / "data" / "sample" / "source")
    queries, passages = (
        tables[name].filter(pc.equal(tables[name]["language"], code)) for name in ("queries", "passages")
    )
    relevant = {p["passage_id"] for p in passages.to_pylist() if p["relevant"]}
    ids = passages["passage_id"].to_pylist()
    hits = dict.fromkeys(BASELINES, 0)
    for row in baseline_answers(queries, passages).to_pylist():
        assert row["status"] == "ok"
        named = cited_ids(citations(row["text"], ids, numbered=False))
        hits[row["system"]] += bool(relevant & set(named))
    assert hits["baseline/lead"] <= hits["baseline/bm25"] <= hits["baseline/bm25-3"] == hits["baseline/english"]
    assert hits["baseline/bm25-3"] >= 4
    assert hits["baseline/extract"] <= hits["baseline/verbose"] == 8
    assert hits["baseline/half"] <= hits["baseline/extract"]
    assert hits["baseline/bm25-miscited"] == hits["baseline/bm25-uncited"] == hits["baseline/abstain"] == 0


def test_the_answers_do_not_depend_on_the_hash_seed() -> None:
    code = (
        "import hashlib; from pathlib import Path; from mirage import store\n"
        "from mirage.stages.generate.baselines import baseline_answers\n"
        "t = {name: store.open_arena(Path('data/sample')).read(name) for name in ('queries', 'passages')}\n"
        "made = baseline_answers(t['queries'], t['passages'])['text'].to_pylist()\n"
        "print(hashlib.sha256('|'.join(made).encode()).hexdigest())"
    )
    prints = {
        subprocess.run([sys.executable, "-c", code], cwd=ROOT, env={"PYTHONHASHSEED": seed}, capture_output=True).stdout
        for seed in ("0", "1")
    }
    assert len(prints) == 1
    assert len(prints.pop().strip()) == 64


# --- BM25


def test_bm25_by_hand() -> None:
    # N = 2, n(cat) = 1: idf = ln(1 + 1.5 / 1.5) = ln 2. Lengths 2 and 4, mean 3.
    scores = bm25(["cat", "bird"], [["cat", "dog"], ["dog", "dog", "dog", "fox"]])
    damping = K1 * (1 - B + B * 2 / 3)
    assert scores == pytest.approx([math.log(2) * (K1 + 1) / (1 + damping), 0])


@given(
    query=st.lists(st.sampled_from("abcd"), max_size=5),
    documents=st.lists(st.lists(st.sampled_from("abcde"), max_size=6), max_size=6),
)
def test_bm25_is_never_negative_and_zero_only_without_a_common_term(
    query: list[str], documents: list[list[str]]
) -> None:
    scores = bm25(query, documents)
    assert len(scores) == len(documents)
    for score, document in zip(scores, documents, strict=True):
        assert (score > 0) == bool(set(query) & set(document))
