"""Systems without a model: what they answer, on any arena, and always the same."""

import math

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mirage import open_arena, schema
from mirage.stages.generate.baselines import ABSTENTIONS, BASELINES, K1, B, baseline_answers, bm25
from mirage.stages.outcomes.tables import parse_outcome
from mirage.text.answers import compose_answer
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


def test_the_extract_cites_its_sentences_by_match_and_rows_order_changes_nothing() -> None:
    queries, passages = arena()
    texts = answers(queries, passages)
    built, keeper = "The lighthouse was built in 1832.", "The lighthouse keeper also fished."
    first = str(texts["baseline/bm25-3"])
    assert first.startswith(f"##Reason: {built} [d#1] {keeper} [d#2] ")
    assert first.endswith(f"##Answer: {built} [d#1]")
    assert texts["baseline/abstain"] == "##Reason: {}\n##Answer: {}".format(*ABSTENTIONS["en"])
    assert list(texts) == list(BASELINES)
    assert answers(queries, passages.take([3, 1, 0, 2])) == texts
    blank = answers(*arena([("d#0", " \n"), ("d#1", "It was built.")]))
    assert blank["baseline/bm25-3"] == "##Reason: It was built. [d#1]\n##Answer: It was built. [d#1]"


@pytest.mark.parametrize(
    ("query", "reason"), [("When?", "no passage text is known"), (None, "the text of the query is not known")]
)
def test_what_cannot_be_answered_without_texts_is_missing_with_the_reason(query: str | None, reason: str) -> None:
    extract, abstention = baseline_answers(*arena([("d#0", None)], query=query)).to_pylist()
    assert (extract["status"], extract["text"], extract["reason"]) == ("missing", None, reason)
    assert abstention["status"] == "ok"


@pytest.mark.parametrize("code", LANGUAGES)
def test_an_abstention_is_written_in_its_language(code: str) -> None:
    assert set(ABSTENTIONS) == set(LANGUAGES)
    for sentence in ABSTENTIONS[code]:
        assert language_probabilities(sentence)[code] > 0.95
    assert parse_outcome(compose_answer(*ABSTENTIONS[code]), language=code).outcome == "abstained"


def test_the_baselines_of_the_sample_are_made_again_alike() -> None:
    """In 18 languages; the sample was made by another process."""
    sample = open_arena("sample")
    made = baseline_answers(sample.read("queries"), sample.read("passages"))
    stored = {(*(row[k] for k in schema.key("answers")), row["text"]) for row in sample.read("answers").to_pylist()}
    assert {(*(row[k] for k in schema.key("answers")), row["text"]) for row in made.to_pylist()} <= stored


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
