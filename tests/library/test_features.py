"""The features that need no model: what they measure, when they do not, and what becomes of a failure."""

import gzip
import json
import tracemalloc
from dataclasses import fields
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import pytrec_eval
from commands import run_python
from features_cases import SENTENCES
from golden.cases import read_table
from hypothesis import given, settings
from hypothesis import strategies as st
from py3langid.langid import MODEL_FILE, LanguageIdentifier

from mirage import schema
from mirage.errors import BadInput
from mirage.stages.features.assessed import ASSESSED
from mirage.stages.features.citation import average_precision, recall
from mirage.stages.features.families import FAMILIES, FEATURES
from mirage.stages.features.means import means
from mirage.stages.features.spec import Tools
from mirage.stages.features.table import compute, measurable_features
from mirage.text.detection import DECIDED, language_probabilities, probabilities_of
from mirage.text.languages import LANGUAGES, language


def tables(
    texts: dict[str, str | None],
    *,
    language: str = "en",
    template: str | None = "vanilla",
    labels: list[bool | None] | None = None,
    passages: int = 10,
) -> tuple[pa.Table, pa.Table, pa.Table]:
    """One query `q`, passages `1#0`, `2#0` ... and one answer a system."""
    labels = labels or [None] * passages
    queries = [schema.Query(language, "q", None, "What?", None)]
    passage_rows = [
        schema.Passage(language, "q", f"{n}#0", n, None, "Text.", label) for n, label in enumerate(labels, start=1)
    ]
    answers = []
    for system, text in texts.items():
        status = "missing" if text is None else "ok" if text.strip() else "empty"
        answers.append(schema.Answer(language, "q", system, text, status, template, None, None))
    return (
        schema.from_rows("queries", queries),
        schema.from_rows("passages", passage_rows),
        schema.from_rows("answers", answers),
    )


def measure(text: str | None, **options: Any) -> dict[str, float | str]:
    """Value or reason of every feature of one answer."""
    rows = compute(*tables({"s": text}, **options)).to_pylist()
    assert all((row["value"] is None) != (row["reason"] is None) for row in rows)
    return {row["feature"]: row["reason"] if row["value"] is None else row["value"] for row in rows}


# --- declarations


def test_every_feature_is_declared_whole() -> None:
    assert len(FEATURES) == sum(len(family.specs) for family in FAMILIES)
    for name, spec in FEATURES.items():
        assert spec.name == name
        assert spec.title
        assert spec.source
        assert spec.meaning.endswith(".")
        assert spec.low is None or spec.high is None or spec.low < spec.high
        assert set(spec.needs) <= {*schema.TABLES, *(field.name for field in fields(Tools))}


def test_pitfall_25_importing_features_loads_no_network_gpu_library_or_detector() -> None:
    heavy = ("torch", "vllm", "transformers", "datasets", "openai", "py3langid", "scipy", "pandas", "pyarrow")
    code = f"import mirage.stages.features, sys; print([m for m in {heavy!r} if m in sys.modules])"
    assert run_python(code).strip() == "[]"


# --- the table


def test_every_answer_has_one_row_a_feature_sorted_and_within_the_contract() -> None:
    queries, passages, answers = tables({"b": "Paris [1].", "a": None, "c": "", "d": "[2] [77]"})
    table = compute(queries, passages, answers)
    schema.validate("features", table)
    assert table.equals(schema.sort("features", table))
    of_tables = [name for name in measurable_features() if not set(ASSESSED) & set(FEATURES[name].needs)]
    assert len(table) == 4 * len(of_tables)
    for row in table.to_pylist():
        spec = FEATURES[row["feature"]]
        if row["value"] is not None:
            assert spec.low is None or row["value"] >= spec.low
            assert spec.high is None or row["value"] <= spec.high


@pytest.mark.parametrize(
    ("text", "reason"), [(None, "no reply (missing)"), ("", "empty reply"), (" \n", "empty reply")]
)
def test_pitfall_19_a_missing_answer_has_no_value_and_a_reason_never_zero(text: str | None, reason: str) -> None:
    assert set(measure(text).values()) == {reason}


def test_computing_twice_gives_the_same_and_leaves_the_input_alone_pitfall_20() -> None:
    given_tables = tables({"s": SENTENCES["en"] + " [3]", "t": "[1] 42"}, labels=[True] + [False] * 9)
    before = [table.to_pylist() for table in given_tables]
    assert compute(*given_tables).equals(compute(*given_tables))
    assert [table.to_pylist() for table in given_tables] == before


def test_an_answer_without_its_query_is_refused_by_name() -> None:
    queries, passages, answers = tables({"s": "x"})
    with pytest.raises(BadInput, match="query_id='q'"):
        compute(queries.slice(0, 0), passages, answers)


# --- length


def test_length_counts_code_points_of_the_raw_answer() -> None:
    assert measure(" Ja [1]\n")["length"] == 8
    assert measure("हिन्दी")["length"] == 6


# --- language


@pytest.mark.parametrize("code", LANGUAGES)
def test_a_sentence_is_in_its_language(code: str) -> None:
    values = measure(SENTENCES[code], language=code)
    assert values["target_language"] > 0.9
    assert values["english_language"] == values["target_language"] if code == "en" else values["english_language"] < 0.1


@settings(deadline=None)
@given(
    st.lists(
        st.text(max_size=90)
        | st.builds(lambda text, n: text * n, st.sampled_from(sorted(SENTENCES.values())), st.integers(1, 9)),
        max_size=9,
    ),
    st.booleans(),
)
def test_many_texts_at_once_have_the_probabilities_of_each_alone(texts: list[str], every: bool) -> None:
    together = probabilities_of(texts, every=every)
    assert len(together) == len(texts)
    for text, shares in zip(texts, together, strict=True):
        assert dict(shares) == pytest.approx(dict(language_probabilities(text, every=every)), abs=1e-7)


@pytest.mark.parametrize("every", [False, True])
def test_probabilities_are_those_of_the_detector_but_for_its_single_precision(every: bool) -> None:
    model = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    if not every:
        model.set_languages([code for code in LANGUAGES if code in model.nb_classes])
    for text in (*SENTENCES.values(), "", "1", SENTENCES["te"] * 40):
        expected: dict[str, float] = {}
        for name, share in model.rank(text):
            expected[language(name).code] = expected.get(language(name).code, 0.0) + share
        assert dict(language_probabilities(text, every=every)) == pytest.approx(expected, abs=1e-5)


def test_probabilities_are_the_same_to_twelve_digits_on_every_blas_kernel() -> None:
    code = (
        "import json, sys; from mirage.text.detection import language_probabilities as shares\n"
        "print(json.dumps([dict(shares(text, every=every)) for text in json.load(sys.stdin) for every in (0, 1)]))"
    )
    typed = json.dumps([text * n for text in SENTENCES.values() for n in (1, 20)])
    printed = [json.loads(run_python(code, typed=typed, OPENBLAS_CORETYPE=kernel)) for kernel in ("Nehalem", "")]
    for first, second in zip(*printed, strict=True):
        assert first == pytest.approx(second, abs=1e-12)


def test_a_long_text_takes_no_room_for_each_text_beside_it() -> None:
    texts = [f"{n} {SENTENCES['en']} {SENTENCES['en']}" for n in range(100)]
    probabilities_of(texts)
    tracemalloc.start()
    probabilities_of([*texts, SENTENCES["en"] * 2_000])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 30 * 2**20


@pytest.mark.parametrize("text", ["42", "[1]", "1999-2004.", "...", "[12#0, 13#0] [3]", "१९"])
def test_an_answer_without_letters_has_no_language(text: str) -> None:
    values = measure(text)
    assert values["target_language"] == values["english_language"] == "no letters"


@pytest.mark.parametrize("text", ["No", "ok", "Yes", "Wales", "Si"])
def test_an_answer_too_short_to_tell_has_no_language(text: str) -> None:
    assert max(language_probabilities(text).values()) < DECIDED
    assert measure(text)["target_language"] == "no language is likely enough"


def test_all_of_an_answer_counts_also_after_a_blank_line_pitfall_17() -> None:
    mixed = measure("Yes.\n\n" + SENTENCES["te"] * 3, language="te")
    assert mixed["target_language"] > 0.9


@pytest.mark.data
def test_passages_of_every_language_at_hand_are_told_apart(shared: Path) -> None:
    for file in sorted((shared / "nomiracl" / "non_relevant").glob("*.jsonl.gz")):
        code, texts = file.name[:2], []
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            for line in lines:
                prompt = json.loads(line)["prompt"]
                if prompt and len(texts) < 40:
                    texts.append(prompt.split("\n[1] ", 1)[1].split("\n\n[2] ", 1)[0])
        right = [max(shares, key=shares.__getitem__) == code for shares in map(language_probabilities, texts)]
        assert sum(right) >= 0.95 * len(right), code


# --- citations


def test_citations_count_different_passages_and_unknown_ones() -> None:
    values = measure("In [1], [3] and again context 1; also [2#0] and [77], [88#8] [77].")
    assert (values["n_citations"], values["n_unknown_citations"]) == (3, 2)
    assert measure("None.")["n_citations"] == 0


def test_positions_follow_the_prompt_not_the_order_of_rows() -> None:
    queries, passages, answers = tables({"s": "[1]"}, labels=[True] + [False] * 9)
    reversed_rows = passages.take(list(range(9, -1, -1)))
    assert compute(queries, reversed_rows, answers).equals(compute(queries, passages, answers))
    assert measure("[1]", labels=[True] + [False] * 9)["citation_MAP@10"] == 1


def test_unknown_passages_give_no_citation_features() -> None:
    queries, passages, answers = tables({"s": "[1]"})
    rows = compute(queries, passages.slice(0, 0), answers).to_pylist()
    reasons = {row["feature"]: row["reason"] for row in rows}
    assert reasons["n_citations"] == reasons["citation_MAP@10"] == "the passages are not known"
    assert reasons["length"] is None


def test_map_and_recall_need_a_label_for_every_passage_and_a_relevant_one() -> None:
    for name in ("citation_MAP@10", "citation_Recall@10"):
        assert measure("[1]")[name] == "the passages carry no relevance labels"
        assert measure("[1]", labels=[True, None])[name] == "the passages carry no relevance labels"
        assert measure("[1]", labels=[False] * 10)[name] == "no passage is relevant"
        assert measure("No citation.", labels=[True, False])[name] == 0


def test_map_follows_the_order_of_mention_pitfall_15() -> None:
    labels = [n in (1, 4) for n in range(1, 11)]
    assert measure("[4] [2] [1]", labels=labels)["citation_MAP@10"] == pytest.approx((1 + 2 / 3) / 2)
    assert measure("[2] [1] [4]", labels=labels)["citation_MAP@10"] == pytest.approx((1 / 2 + 2 / 3) / 2)


def test_an_invented_citation_holds_its_place_in_the_ranking() -> None:
    labels = [True] + [False] * 9
    assert measure("[99#9] [1]", labels=labels)["citation_MAP@10"] == pytest.approx(0.5)


@settings(deadline=None)
@given(
    ranking=st.lists(st.integers(0, 30), unique=True, min_size=1, max_size=20),
    relevant=st.sets(st.integers(0, 30), min_size=1, max_size=20),
)
def test_map_and_recall_agree_with_trec_eval(ranking: list[int], relevant: set[int]) -> None:
    # trec_eval divides by all relevant items, also by more than 10: ten cited of 20 relevant give a MAP@10 of 0.5.
    names = [str(n) for n in ranking]
    relevant_names = {str(n) for n in relevant}
    qrels = {"q": {str(n): int(n in relevant) for n in range(31)}}
    run = {"q": {name: float(len(names) - rank) for rank, name in enumerate(names)}}
    measures = pytrec_eval.RelevanceEvaluator(qrels, {"map_cut.10", "recall.10"}).evaluate(run)["q"]
    assert average_precision(names, relevant_names, 10) == pytest.approx(measures["map_cut_10"], abs=1e-6)
    assert recall(names, relevant_names, 10) == pytest.approx(measures["recall_10"], abs=1e-6)


# --- a system's value


def features(
    values: list[float | None], *, feature: str = "length", language: str = "en", system: str = "s"
) -> pa.Table:
    rows = [
        schema.Feature(language, f"q{n}", system, feature, value, None if value is not None else "no reply (missing)")
        for n, value in enumerate(values)
    ]
    return schema.from_rows("features", rows)


def test_a_mean_has_the_textbook_interval() -> None:
    # Mean 2.5, standard deviation 1.290994, t with 3 degrees of freedom 3.182446: 2.5 -+ 3.182446 * 1.290994 / 2.
    (mean,) = means(features([1, 2, 3, 4]))
    assert mean.mean == 2.5
    assert mean.low == pytest.approx(0.445739, abs=1e-6)
    assert mean.high == pytest.approx(4.554261, abs=1e-6)
    assert (mean.n, mean.total, mean.coverage) == (4, 4, 1)


def test_missing_values_stay_out_of_the_mean_and_show_in_the_coverage_pitfall_19() -> None:
    (mean,) = means(features([4, None, 6, None]))
    assert (mean.mean, mean.n, mean.total, mean.coverage) == (5, 2, 4, 0.5)
    (mean,) = means(features([None, None]))
    assert (mean.mean, mean.low, mean.high, mean.n, mean.coverage) == (None, None, None, 0, 0)
    (mean,) = means(features([7]))
    assert (mean.mean, mean.low, mean.high, mean.n) == (7, None, None, 1)


def test_an_interval_ends_where_the_feature_does() -> None:
    (mean,) = means(features([0, 0, 1], feature="target_language"))
    assert 0 < mean.low < 1 / 3 < mean.high < 1
    (mean,) = means(features([0, 0, 30]))
    assert mean.low == 0
    assert mean.high > 30


def test_a_language_that_the_detector_does_not_know_has_a_reason() -> None:
    """And English still has its value."""
    values = measure("This is an answer in plain English.", language="mi")
    assert isinstance(values["target_language"], str)
    assert values["english_language"] > 0.9


@pytest.mark.parametrize(*read_table("detected"))
def test_a_language_outside_of_the_18_and_a_regional_variant_are_detected(code: str, text: str) -> None:
    values = measure(text, language=code)
    assert values["target_language"] > 0.5
    assert values["english_language"] < 0.1
