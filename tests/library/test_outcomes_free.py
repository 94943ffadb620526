"""Outcomes of free answers: the prompt decides the rules; a claim outweighs a gap, asking back is an outcome."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from arena_writer import make_query, read_rows, write_arena
from commands import mirage
from golden.cases import read_golden, read_table
from hypothesis import given
from hypothesis import strategies as st
from misbehaving import Act, Call, Service, error, reply

from benchmarks import outcomes as labels
from benchmarks.outcome_accuracy import accuracy, measured_accuracy
from mirage import open_arena, schema
from mirage.pipeline.recompute import recompute
from mirage.stages.outcomes import second_opinion, vocabulary
from mirage.stages.outcomes.by_model import FORM
from mirage.stages.outcomes.confusion import confusion
from mirage.stages.outcomes.parsed import RULES
from mirage.stages.outcomes.rates import is_by_model, rates, unclassified_note
from mirage.stages.outcomes.tables import outcomes, parse_outcome
from mirage.store.runs import settings_of
from mirage.text.answers import NOMIRACL_TEMPLATES
from mirage.text.languages import LANGUAGES
from mirage.text.marks import read_mark


def free(answer: str, language: str = "en", query: str = "") -> Any:
    return parse_outcome(answer, language=language, template="rag", query=query)


def answers(*rows: tuple[str, str, str | None]) -> pa.Table:
    """Answers of one system a row: system, text, template."""
    systems, texts, templates = (list(column) for column in zip(*rows, strict=True))
    return schema.from_columns(
        "answers",
        {
            "language": ["en"] * len(rows),
            "query_id": ["1"] * len(rows),
            "system": systems,
            "text": texts,
            "status": ["ok"] * len(rows),
            "template": templates,
        },
    )


QUERIES = schema.from_columns(
    "queries", {"language": ["en"], "query_id": ["1"], "text": ["When?"], "subset": ["non_relevant"]}
)


# --- one answer ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("language", sorted(vocabulary.LANGUAGES))
def test_a_vocabulary_reads_its_examples_as_labelled(language: str) -> None:
    examples = vocabulary.examples(language)
    assert {example.right for example in examples} >= {"answered", "abstained"}
    for example in examples:
        parsed = free(example.answer, language, example.query)
        assert parsed.outcome == example.right, (example, parsed)
        if parsed.span_start is not None:
            assert example.answer[parsed.span_start : parsed.span_end].strip()


def test_answers_from_the_field(shared: Path) -> None:
    """Nine ordinary RAG answers, in three languages, with the right outcome in a tag."""
    path = shared / "field" / "outcomes-longform.jsonl"
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    for row in rows:
        assert "right=" + free(row["answer"], row["language"]).outcome == row["domain"], row["answer"]


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_the_rules_read_the_labels_they_were_written_on(language: str) -> None:
    labelled = labels.read_labels("dev")[language]
    wrong = [answer for query, answer, right in labelled if free(answer, language, query).outcome != right]
    # A third of these answers are refusals, many of hard kinds; precision on real prose is worth more than they are.
    assert len(wrong) <= 0.06 * len(labelled), wrong


def test_golden_free_answers() -> None:
    """Evidence beside a gap, gaps of the sources and of somebody else, each rule."""
    cases = read_golden("outcomes_free")
    parsed = [free(case["answer"], case["language"], case["query"]) for case in cases]
    wrong = [
        (case, one)
        for case, one in zip(cases, parsed, strict=True)
        if one.outcome != case["outcome"] or one.rule != case.get("rule", one.rule)
    ]
    assert wrong == []
    assert {one.rule for one in parsed} <= set(RULES)


def test_a_gap_is_a_negated_saying_of_the_sources_in_every_domain() -> None:
    """Law, medicine, manuals, news and support in 18 languages: ordinary negation is a claim, also after a source was
    named; a list of sources, a referral, a greeting, a courtesy and numbered reasoning are neither claim nor gap."""
    path = labels.LABELS / "domains.jsonl"
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    for of in (rows, *([row for row in rows if (row["domain"] == "law") is law] for law in (True, False))):
        found = [(free(row["answer"], row["language"], row["query"]).outcome, row["right"]) for row in of]
        both = found.count(("abstained", "abstained"))
        assert both / sum(outcome == "abstained" for outcome, _ in found) >= 0.88
        assert both / sum(right == "abstained" for _, right in found) >= 0.84


def test_the_query_reaches_the_outcomes_of_a_table() -> None:
    answer = "Cultivation and taste are described at length. The caffeine content is not given anywhere."
    column = QUERIES.schema.get_field_index("text")
    queries = QUERIES.set_column(column, QUERIES.schema.field(column), [["What is the caffeine content?"]])
    rows = outcomes(queries, answers(("a", answer, "rag"))).to_pylist()
    assert [row["outcome"] for row in rows if row["parser"] == "strict"] == ["abstained"]
    assert free(answer, query="How is its cultivation described, at what length?").outcome == "answered"


def test_thoughts_are_not_read() -> None:
    text = "<think>The documents do not say it. Or do they?</think>The mill was built in 1780 [1]."
    parsed = free(text)
    assert (parsed.outcome, parsed.rule) == ("answered", "claim")
    assert text[parsed.span_start : parsed.span_end].startswith("The mill")


def test_the_span_stands_in_the_raw_answer() -> None:
    text = "**Sorry**, but the _documents_ do **not** mention it [1]."
    parsed = free(text)
    assert parsed.outcome == "abstained"
    assert "the _documents_ do **not** mention it" in text[parsed.span_start : parsed.span_end]


@given(st.text(max_size=300), st.sampled_from(sorted(LANGUAGES)))
def test_any_text_has_an_outcome_and_a_span_inside_it(answer: str, language: str) -> None:
    parsed = free(answer, language)
    assert parsed.rule in RULES
    if parsed.span_start is not None and parsed.span_end is not None:
        assert 0 <= parsed.span_start < parsed.span_end <= len(answer)


# --- the prompt decides ----------------------------------------------------------------------------------------------


def test_the_prompt_decides_which_rules_hold() -> None:
    text = "It was built in 1902. However, it is unclear how its iron was made."
    rows = [(f"{template}", text, template) for template in (*NOMIRACL_TEMPLATES, "rag", None, "mine")]
    table = outcomes(QUERIES, answers(*rows)).to_pylist()
    strict = {row["system"]: row for row in table if row["parser"] == "strict"}
    assert {strict[template]["rule"] for template in NOMIRACL_TEMPLATES} == {"says_absent"}
    assert {strict[name]["rule"] for name in ("rag", "None", "mine")} == {"claim_beside_gap"}
    published = {row["outcome"] for row in table if row["parser"] == "published"}
    assert published == {"unparsed"}


# --- rates -----------------------------------------------------------------------------------------------------------


def test_asking_back_is_unclassified() -> None:
    rows = [("a", "Which one do you mean?", "rag")]
    table = rates(outcomes(QUERIES, answers(*rows)))
    row = table.to_pylist()[0]
    assert (row["clarification"], row["unparsed"], row["unclassified"], row["rate"]) == (1, 0, 1.0, None)
    assert confusion(table).to_pylist()[0]["non_relevant_unclassified"] == 1


def test_many_unclassified_answers_are_said(tmp_path: Path) -> None:
    arena = tmp_path / "arena"
    write_arena(arena, {"queries": QUERIES, "answers": answers(("a", "...", "rag"), ("b", "1902", "rag"))})
    assert "a 100%" in mirage("measure", "outcomes", arena).stderr
    assert "a 100%" in mirage("report", "rates", arena).stderr
    few = rates(outcomes(QUERIES, answers(("b", "1902", "rag"))))
    assert unclassified_note(few) is None


# --- the figures shown -----------------------------------------------------------------------------------------------


def test_the_figures_shown_are_those_of_the_labels() -> None:
    rows = [row for row in measured_accuracy() if row.source == "written held"]
    assert accuracy("written held", labels.read_labels("held")) == rows
    assert {row.language for row in rows} == {*LANGUAGES, "all"}


def test_abstentions_are_found_in_the_answers_of_real_systems() -> None:
    rows = [row for row in measured_accuracy() if row.language == "all"]
    real = [row for row in rows if row.source.split()[0] in ("mtrag", "nomiracl")]
    right, read, abstained = (sum(getattr(row, name) for row in real) for name in ("right", "read", "abstained"))
    assert min(right / read, right / abstained) >= 0.85
    # NoMIRACL's free replies were drawn rich in refusals; MTRAG's have the proportions of the field.
    assert all(row.wrong <= (0.03 if row.source.startswith("mtrag") else 0.07) * row.n for row in real)
    (prose,) = [row for row in rows if row.source == "passages"]
    assert prose.read <= 0.004 * prose.n


def test_the_rules_are_better_than_both_baselines_and_in_no_language_worse() -> None:
    for row in measured_accuracy():
        if row.source == "written held":
            assert (row.wrong + row.unparsed) / row.n < min(row.phrase_wrong, row.length_wrong)


def test_sentences_of_passages_are_claims() -> None:
    """What a passage says is no refusal: at most one sentence in fifty of the bundled sample is taken for one."""
    passages = read_rows(open_arena("sample"), "passages")
    texts = {(row["language"], text) for row in passages for text in re.split(r"(?<=[.!?。।])\s*", row["text"])}
    texts = {(language, text) for language, text in texts if len(text) > 20}
    for code in sorted(LANGUAGES):
        of_language = [text for language, text in texts if language == code]
        refused = [text for text in of_language if free(text, code).outcome != "answered"]
        assert len(refused) <= len(of_language) / 50, refused


# --- by a model ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(*read_table("outcomes_by_model"))
def test_an_outcome_is_the_one_that_the_model_sets(text: str, shown: tuple[str, ...], outcome: str | None) -> None:
    assert read_mark(FORM, text, shown) == outcome


def test_a_model_classifies_in_a_language_without_a_vocabulary(tmp_path: Path) -> None:
    texts = {"vi": "Tài liệu không nêu năm xây dựng.", "id": "Dokumen tidak menyebutkan tahunnya."}
    tables = {
        "queries": [make_query(code, f"q{n}", "non_relevant", "?") for code in texts for n in range(3)],
        "answers": [
            schema.Answer(code, f"q{n}", "s", text if n else f"{text} {n}", "ok", None, "rag", None, numbered=False)
            for code, text in texts.items()
            for n in range(3)
        ],
    }
    path = tmp_path / "arena"
    write_arena(path, tables)

    def outcomes_by_language() -> dict[str, set[tuple[str, str]]]:
        rows = [row for row in read_rows(path, "outcomes") if row["parser"] == "strict"]
        return {code: {(row["outcome"], row["rule"]) for row in rows if row["language"] == code} for code in texts}

    result = mirage("measure", "outcomes", path)
    assert outcomes_by_language()["vi"] == {("unparsed", "language_not_understood")}
    assert "--outcomes-by" in result.stderr

    def ill(call: Call) -> Act:
        return error(500, "overloaded") if f"{texts['vi']} 0" in call.content else reply("Outcome: [[abstained]]")

    with Service(ill) as service:
        options = ("--outcomes-by", "m", "--base-url", service.url, "--retries", 0)
        mirage("measure", "outcomes", path, *options, "--dry-run")
        assert not service.calls
        result = mirage("measure", "outcomes", path, *options)
        right = [example.right == "abstained" for example in vocabulary.examples("id")]
        assert f"{sum(right)} of {len(right)}" in result.stderr
        assert outcomes_by_language() == {
            "vi": {("abstained", "by_model"), ("unparsed", "by_model_unread")},
            "id": {("abstained", "by_model")},
        }
        service.behave = lambda _: reply("Outcome: [[abstained]]")
        before = len(service.calls)
        mirage("measure", "outcomes", path, *options)
        assert len(service.calls) - before == 1
        assert outcomes_by_language()["vi"] == {("abstained", "by_model")}
        mirage("measure", path)  # what a model decided is not out of date
        assert outcomes_by_language()["vi"] == {("abstained", "by_model")}
    assert settings_of(open_arena(path), "outcomes", "outcomes")["model"] == "m"
    assert [each.reason for each in recompute(open_arena(path)) if each.subject == "outcomes"] == [
        "classified by a model"
    ]
    mirage("measure", "outcomes", path, "--model", "m", code=2)


# --- a second opinion ------------------------------------------------------------------------------------------------


def test_a_second_opinion_unclassifies_where_it_differs_and_is_asked_about_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first word of an answer is what these vectors see: `no` abstains, `yes` answers, `or` is unsure."""

    def vectors(texts: Sequence[str]) -> np.ndarray:
        firsts = [text.split()[0].strip(".,") for text in texts]
        return np.array([[first == "No", first == "Yes"] for first in firsts], float)

    texts = {
        "en": ["No source names the mill.", "Yes, it was built in 1902.", "No bridge crosses the river."],
        "vi": ["No có.", "Yes có.", "Or có."],
    }
    tables = {
        "queries": [make_query(code, f"q{n}", "non_relevant", "?") for code in texts for n in range(3)],
        "answers": [
            schema.Answer(code, f"q{n}", "s", text, "ok", None, "rag", None, numbered=False)
            for code, of in texts.items()
            for n, text in enumerate(of)
        ],
    }
    path = tmp_path / "arena"
    write_arena(path, tables)
    monkeypatch.setattr(second_opinion, "fitted_coefficients", lambda: (0.0, 5.0, -5.0, 0.0, 0.0))
    monkeypatch.setattr(second_opinion, "load_vectors", lambda: vectors)
    result = mirage("measure", "outcomes", path, "--second-opinion")
    assert "1 answers are unclassified" in result.stderr
    assert "not validated in this language" in result.stderr
    rows = [row for row in read_rows(path, "outcomes") if row["parser"] == "strict"]
    assert [
        (row["outcome"], row["rule"]) for row in sorted(rows, key=lambda row: (row["language"], row["query_id"]))
    ] == [
        ("abstained", "states_gap"),
        ("answered", "claim"),
        ("unparsed", "second_opinion_differs"),
        ("abstained", "second_opinion"),
        ("answered", "second_opinion"),
        ("unparsed", "language_not_understood"),
    ]
    assert is_by_model(open_arena(path).read("outcomes"))
    with Service(lambda _: reply("Outcome: [[answered]]")) as service:
        options = ("--outcomes-by", "m", "--base-url", service.url, "--retries", 0, "--concurrency", 1)
        mirage("measure", "outcomes", path, *options)
        assert "No bridge crosses" in service.calls[0].content


def test_the_coefficients_of_the_second_opinion_are_of_its_columns() -> None:
    """A constant, the embedding, the similarity to forty refusals of many languages, and the length."""
    assert len(second_opinion.fitted_coefficients()) == 1 + 384 + 2
    assert len(set(second_opinion.refusals_shown())) == 40
