"""Answers to outcomes and outcomes to rates, on golden cases, on properties and on the published outputs."""

import csv
import itertools
import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from conftest import ROOT
from golden.cases import read_golden
from hypothesis import example, given
from hypothesis import strategies as st

from mirage import open_arena, schema
from mirage.errors import BadInput, NotEnoughData, UnknownName
from mirage.io.sources.nomiracl.origin import SYSTEM_NAMES
from mirage.stages.outcomes.fold import fold
from mirage.stages.outcomes.parsed import RULES
from mirage.stages.outcomes.published import parse_published
from mirage.stages.outcomes.rates import keep_named, rates, unclassified_note
from mirage.stages.outcomes.strict import parse_strict
from mirage.stages.outcomes.tables import outcomes, parse_outcome
from mirage.stats.intervals import mean_interval, wilson
from mirage.text.languages import LANGUAGES

GOLDEN = ROOT / "tests" / "golden"
# The columns of `rates`, in the order the command prints them.
RATE_COLUMNS = ["language", "subset", "system", "n", "answers", "answered", "abstained", "clarification"]
RATE_COLUMNS += ["unparsed", "empty", "api_error", "missing", "rate", "rate_low", "rate_high"]
RATE_COLUMNS += ["rate_as_published", "as_published_low", "as_published_high", "as_published_n", "unclassified"]
RATE_COLUMNS += ["labels", "corrected", "corrected_low", "corrected_high", "audited", "label_error", "label_reason"]


# --- one answer ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", read_golden("outcomes"), ids=lambda case: f"{case['language']}-{case['rule']}")
def test_golden_answers(case: dict[str, Any]) -> None:
    """Pitfalls 12, 28 and 29 among them."""
    strict = parse_outcome(case["reply"], language=case["language"])
    span = None if strict.span_start is None else case["reply"][strict.span_start : strict.span_end]
    assert (strict.outcome, strict.rule, span) == (case["outcome"], case["rule"], case["said"]), case["why"]
    assert parse_published(case["reply"]).outcome == case["published"]


def test_an_unknown_language_is_named() -> None:
    with pytest.raises(UnknownName, match="language 'xx'"):
        parse_outcome("Yes", language="xx")


PIECES = st.sampled_from(
    [
        "Yes, answer is present",
        "yes, ANSWER is present",
        "answer is present",
        "No answer is not present",
        "I don't know",
        "I don’t know",
        'respond with "Yes, answer is present" or',
        "İ",
        "ﬁ",
        "\u200b",
        "[4]",
        "[৪]",
        "\n",
        "\t",
        " ",
        "1. ",
        "?",
        "نعم",
        "いいえ",
        "か゛",
        "उत्तर",
    ]
)
ANSWERS = st.one_of(st.text(max_size=80), st.lists(st.one_of(PIECES, st.text(max_size=6)), max_size=8).map("".join))


@given(ANSWERS, st.sampled_from(sorted(LANGUAGES)), st.sampled_from(["strict", "published"]))
def test_any_answer_has_an_outcome_a_known_rule_and_a_span_of_the_raw_text(
    answer: str, language: str, parser: schema.Parser
) -> None:
    parsed = parse_published(answer) if parser == "published" else parse_outcome(answer, language=language)
    assert parsed.rule in RULES
    assert (parsed.span_start is None) == (parsed.span_end is None)
    if parsed.outcome in ("answered", "abstained"):
        assert parsed.span_start is not None
    if parsed.span_start is not None and parsed.span_end is not None:
        assert 0 <= parsed.span_start < parsed.span_end <= len(answer)
    if parser == "published":
        assert parsed.outcome in ("answered", "abstained", "unparsed")


@given(ANSWERS)
def test_the_published_parser_is_the_published_rule_word_for_word(answer: str) -> None:
    text = answer.lower().replace("\n", " ").replace("\t", " ")
    yes, no = "yes, answer is present" in text, "i don't know" in text
    if yes and no:
        expected = "unparsed"
    elif no:
        expected = "abstained"
    elif yes or "answer is present" in text:
        expected = "answered"
    elif "answer is not present" in text:
        expected = "abstained"
    elif len(text) < 10 and re.search(r"\[\d+\]", text):
        expected = "answered"
    else:
        expected = "unparsed"
    parsed = parse_published(answer)
    assert parsed.outcome == expected
    if parsed.span_start is not None:
        span = answer[parsed.span_start : parsed.span_end].lower().replace("\n", " ").replace("\t", " ")
        assert span in ("i don't know", "yes, answer is present", "answer is present", "answer is not present") or (
            re.fullmatch(r"\[\d+\]", span)
        )


FOLDED = "İi e\u0301\u0300\u093a\u200f ﬁ½ك\u0640\n\t.ςΣ가\u1161\u3099か\u00a0"


@given(st.text(FOLDED, max_size=40), st.sampled_from(["en", "yo", "ar"]))
@example(".\u0300 İ", "en")
@example("\u00a0 iΣ", "en")
def test_a_text_folded_word_by_word_is_folded_as_a_whole(text: str, language: str) -> None:
    """Every folded character leads back to what it came from, and no word changes what its neighbours become."""
    whole = fold(text, language)
    bounds = [0, *(match.end() for match in re.finditer(" (?=[iİςΣかك])", text)), len(text)]
    parts = [(begin, fold(text[begin:end], language)) for begin, end in itertools.pairwise(bounds)]
    assert whole.text == "".join(part.text for _, part in parts)
    places = [begin + part.raw(k, k + 1)[0] for begin, part in parts for k in range(len(part.text))]
    assert [whole.raw(k, k + 1)[0] for k in range(len(whole.text))] == places


# --- intervals --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("k", "n", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilson_gives_the_intervals_of_newcombe_1998_table_1_method_3(k: int, n: int, low: float, high: float) -> None:
    assert wilson(k, n) == pytest.approx((low, high), abs=5e-5)


@given(st.integers(1, 5_000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_holds_the_proportion_and_mirrors(cell: tuple[int, int]) -> None:
    k, n = cell
    low, high = wilson(k, n)
    assert 0 <= low <= k / n <= high <= 1
    assert low < high
    assert wilson(n - k, n) == pytest.approx((1 - high, 1 - low), abs=1e-12)
    assert mean_interval([cell]) == pytest.approx((k / n, low, high))


def test_no_trials_have_no_interval() -> None:
    with pytest.raises(NotEnoughData):
        wilson(0, 0)
    with pytest.raises(NotEnoughData):
        mean_interval([])
    with pytest.raises(BadInput, match="5 successes in 4 trials"):
        wilson(5, 4)


@pytest.mark.parametrize(
    "shares",
    [
        np.linspace(0.05, 0.95, 17),
        np.full(17, 0.02),
        np.full(17, 0.005),
        np.concatenate([np.full(12, 0.9999), np.full(5, 0.99)]),
        np.array([0.005, 0.01, 0.5, 0.99, 0.3]),
        np.array([0.96]),
    ],
    ids=["spread", "all low", "all very low", "all near 1", "five mixed", "one"],
)
def test_the_interval_of_a_mean_covers_it_as_often_as_it_says(shares: np.ndarray) -> None:
    """Coverage by simulation, seed 1998: 95% nominal covers 92 to 98%."""
    generator = np.random.default_rng(1998)
    trials = generator.integers(60, 251, size=len(shares))
    draws = generator.binomial(trials, shares, size=(2_000, len(shares)))
    covered = 0
    for draw in draws:
        _, low, high = mean_interval([(int(k), int(n)) for k, n in zip(draw, trials, strict=True)])
        covered += low <= shares.mean() <= high
    assert 0.92 <= covered / len(draws) <= 0.98


# --- tables -----------------------------------------------------------------------------------------------------------


def queries(*rows: tuple[str, str, str | None]) -> pa.Table:
    language, query_id, subset = (list(c) for c in zip(*rows, strict=True))
    return schema.from_columns(
        "queries",
        {"language": language, "query_id": query_id, "subset": subset, "text": ["?"] * len(rows)},
    )


def answers(*rows: tuple[str, str, str, str | None, str]) -> pa.Table:
    names = ("language", "query_id", "system", "text", "status")
    columns = {n: list(c) for n, c in zip(names, zip(*rows, strict=True), strict=True)}
    return schema.from_columns("answers", columns | {"template": ["vanilla"] * len(rows)})


YES, IDK = "Yes, answer is present", "I don't know"


def outcome_table(*cells: tuple[str, str, str, str, int]) -> pa.Table:
    """Outcomes that both parsers read: language, subset, system, outcome, how many."""
    rows = []
    for language, subset, system, outcome, count in cells:
        right = {"relevant": "answered", "non_relevant": "abstained"}[subset]
        correct = outcome == right if outcome in ("answered", "abstained") else None
        for _ in range(count):
            key = (language, f"{subset}-{len(rows)}", system)
            rows += [
                schema.OutcomeRow(*key, parser, subset, outcome, "missing", None, None, correct)  # type: ignore[arg-type]
                for parser in ("strict", "published")
            ]
    return schema.from_rows("outcomes", rows)


def test_what_is_recorded_about_the_call_counts() -> None:
    """A missing answer is missing, a failed call an error, an empty answer empty, a refusal undecided."""
    table = outcomes(
        queries(("en", "1", "relevant")),
        answers(
            ("en", "1", "absent", None, "missing"),
            ("en", "1", "failed", None, "api_error"),
            ("en", "1", "failed with text", "The service is busy", "api_error"),
            ("en", "1", "refused", None, "refused"),
            ("en", "1", "cut off", YES, "truncated"),
            ("en", "1", "silent", "  ", "empty"),
            ("en", "1", "blank", None, "empty"),
        ),
    )
    schema.validate("outcomes", table)
    results = {(r["system"], r["parser"]): r["outcome"] for r in table.to_pylist()}
    expected = {
        "absent": ("missing", "missing"),
        "failed": ("api_error", "unparsed"),
        "failed with text": ("api_error", "unparsed"),
        "refused": ("unparsed", "unparsed"),
        "cut off": ("answered", "answered"),
        "silent": ("empty", "unparsed"),
        "blank": ("empty", "unparsed"),
    }
    assert {s: (results[s, "strict"], results[s, "published"]) for s in expected} == expected


@pytest.mark.parametrize("known", [queries(("en", "1", None)), queries(("de", "1", "relevant"))])
def test_an_answer_to_a_query_without_a_subset_is_refused_by_name(known: pa.Table) -> None:
    with pytest.raises(BadInput, match=r"no subset(.|\n)*language='en', query_id='1'"):
        outcomes(known, answers(("en", "1", "a", YES, "ok")))


def test_rates_of_one_language_by_hand() -> None:
    table = rates(
        outcome_table(
            ("en", "non_relevant", "a", "answered", 30),
            ("en", "non_relevant", "a", "abstained", 50),
            ("en", "non_relevant", "a", "unparsed", 8),
            ("en", "non_relevant", "a", "empty", 7),
            ("en", "non_relevant", "a", "api_error", 5),
            ("en", "non_relevant", "a", "missing", 10),
            ("en", "relevant", "a", "answered", 60),
            ("en", "relevant", "a", "abstained", 20),
        )
    )
    rows = {(r["language"], r["subset"]): r for r in table.to_pylist()}
    row = rows["en", "non_relevant"]
    assert [row[c] for c in RATE_COLUMNS[3:12]] == [80, 100, 30, 50, 0, 8, 7, 5, 10]
    assert row["rate"] == pytest.approx(30 / 80)
    assert (row["rate_low"], row["rate_high"]) == pytest.approx(wilson(30, 80))
    assert row["rate_as_published"] == pytest.approx(1 - 50 / 100)
    assert row["unclassified"] == pytest.approx(20 / 100)
    error = rows["en", "relevant"]
    assert error["rate"] == error["rate_as_published"] == pytest.approx(20 / 80)
    # With one language the joint row says the same.
    assert {**rows["all", "non_relevant"], "language": "en"} == pytest.approx(row)


def test_the_joint_row_is_the_mean_over_languages_and_its_counts_are_sums() -> None:
    table = rates(
        outcome_table(
            ("en", "relevant", "a", "abstained", 10),
            ("en", "relevant", "a", "answered", 90),
            ("de", "relevant", "a", "abstained", 20),
            ("de", "relevant", "a", "answered", 20),
            ("fr", "relevant", "a", "unparsed", 10),
            ("ja", "relevant", "a", "missing", 5),
        )
    )
    assert table["language"].to_pylist() == ["de", "en", "fr", "ja", "all"]
    rows = {r["language"]: r for r in table.to_pylist()}
    joint = rows["all"]
    assert (joint["n"], joint["answered"], joint["missing"]) == (140, 110, 5)
    # fr has no decided answer, ja no answer at all: they have no rate, and none is made up.
    assert rows["fr"]["rate"] is rows["fr"]["rate_low"] is rows["ja"]["unclassified"] is None
    assert joint["rate"] == pytest.approx((0.1 + 0.5) / 2)
    assert joint["rate_as_published"] == pytest.approx((0.1 + 0.5 + 1) / 3)
    assert joint["unclassified"] == pytest.approx(10 / 150)
    assert joint["rate_low"] < joint["rate"] < joint["rate_high"]


def test_pitfall_26_a_system_that_always_hallucinates_is_at_100_percent() -> None:
    row = rates(outcome_table(("en", "non_relevant", "a", "answered", 250))).to_pylist()[0]
    assert (row["rate"], row["rate_high"], row["rate_as_published"]) == (1.0, 1.0, 1.0)
    assert row["rate_low"] == pytest.approx(wilson(250, 250)[0])


def test_pitfall_32_unclassified_answers_lower_no_rate() -> None:
    decided = outcome_table(("en", "relevant", "a", "abstained", 10), ("en", "relevant", "a", "answered", 30))
    padded = outcome_table(
        ("en", "relevant", "a", "abstained", 10),
        ("en", "relevant", "a", "answered", 30),
        ("en", "relevant", "a", "unparsed", 40),
    )
    plain, more = (rates(t).to_pylist()[0] for t in (decided, padded))
    assert plain["rate"] == more["rate"] == 0.25
    assert (plain["unclassified"], more["unclassified"]) == (0.0, 0.5)
    assert (plain["rate_as_published"], more["rate_as_published"]) == (0.25, 0.625)


def test_pitfall_157_answers_mostly_unclassified_have_no_rate() -> None:
    counts = {("en", "a"): (10, 10), ("vi", "a"): (4, 6), ("vi", "b"): (5, 5)}
    kinds = ("answered", "unparsed")
    cells = [(c, "relevant", s, kind, n) for (c, s), ns in counts.items() for kind, n in zip(kinds, ns, strict=True)]
    table = rates(outcome_table(*cells))
    found = {(row["language"], row["system"]): (row["rate"], row["n"]) for row in table.to_pylist()}
    assert found == {
        ("en", "a"): (0.0, 10),
        ("vi", "a"): (None, 0),
        ("vi", "b"): (0.0, 5),
        ("all", "a"): (0.0, 10),
        ("all", "b"): (0.0, 5),
    }
    assert "a (vi)" in str(unclassified_note(table))


def test_rates_are_chosen_by_language_and_system_and_unknown_names_are_named() -> None:
    table = outcome_table(
        ("en", "relevant", "a", "answered", 2),
        ("de", "relevant", "a", "abstained", 2),
        ("de", "relevant", "b", "answered", 2),
    )
    chosen = rates(table, languages=["de"])
    own = [(r["language"], r["rate"]) for r in keep_named(chosen, "system", ["a"]).to_pylist()]
    assert own == [("de", 1.0), ("all", 1.0)]
    with pytest.raises(UnknownName, match="language 'fr'"):
        rates(table, languages=["fr"])
    with pytest.raises(UnknownName, match="system 'c'"):
        keep_named(chosen, "system", ["c"])
    with pytest.raises(UnknownName, match="parser 'published'"):
        rates(table.slice(0, 1), parser="published")


# --- the published outputs --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def real() -> pa.Table:
    """Outcomes of the published outputs, which `test_builders` parses again."""
    return open_arena("nomiracl").read("outcomes")


def test_all_191_error_texts_and_349_empty_answers_and_26_missing_ones_are_told(real: pa.Table) -> None:
    strict = Counter(r["outcome"] for r in real.to_pylist() if r["parser"] == "strict")
    assert (strict["api_error"], strict["empty"], strict["missing"]) == (191, 349, 26)
    schema.validate("outcomes", real)


def test_the_strict_parser_agrees_with_labels_read_by_hand(real: pa.Table) -> None:
    """400 answers read by the authors: 300 at random over the systems, 100 at random where the parsers differ."""
    with (GOLDEN / "outcome_labels.csv").open(encoding="utf-8", newline="") as stream:
        labels = list(csv.DictReader(stream))
    assert Counter(r["sample"] for r in labels) == {"stratified": 300, "disagreement": 100}
    results = {(r["language"], r["query_id"], r["system"], r["parser"]): r["outcome"] for r in real.to_pylist()}
    right: Counter[tuple[str, str]] = Counter()
    for row in labels:
        key = (row["language"], row["query_id"], row["system"])
        right[row["sample"], "strict"] += results[*key, "strict"] == row["label"]
        undecided = {"empty": "unparsed", "api_error": "unparsed"}
        right[row["sample"], "published"] += results[*key, "published"] == undecided.get(row["label"], row["label"])
    assert right["stratified", "strict"] >= 297
    assert right["disagreement", "strict"] >= 95
    assert right["stratified", "published"] < right["stratified", "strict"]


@pytest.mark.data
def test_the_strict_parser_agrees_with_the_papers_reading_of_english_answers(shared: Path, real: pa.Table) -> None:
    """NoMIRACL, Table 2: the authors sorted every English answer of ten systems by pattern."""
    groups = {"answered": ("Yes", "implicit"), "abstained": ("I don't", "synonym", "No with")}
    figures: Counter[tuple[str, str, str]] = Counter()
    path = shared / "published" / "nomiracl_table2_english_patterns.csv"
    with path.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    # The tables of one paper do not spell Mixtral-8x7B and Aya-101 alike.
    by_name = {name.casefold(): system for name, system in SYSTEM_NAMES.items()}
    names = {m: by_name[m.replace("Mixtral-8x7B", "Mixtral-7x8B").casefold()] for m in list(rows[0])[2:]}
    for row in rows:
        group = next((g for g, starts in groups.items() if row["pattern"].startswith(starts)), "undecided")
        for model, system in names.items():
            figures[row["subset"], system, group] += float(row[model])
    differences: dict[schema.Parser, list[float]] = {}
    for parser in ("strict", "published"):
        for r in rates(real, parser=parser, languages=["en"]).to_pylist():
            if r["language"] == "en" and r["system"] in names.values():
                for group in groups:
                    figure = figures[r["subset"], r["system"], group]
                    share = 100 * r[group] / (r["answers"] + r["missing"])
                    differences.setdefault(parser, []).append(abs(share - figure))
    assert len(differences["strict"]) == 40
    # Percentage points, on average over systems, subsets and the two outcomes.
    assert np.mean(differences["strict"]) < 0.6 < 3 < np.mean(differences["published"])


def test_pitfall_192_long_runs_of_white_space_take_no_longer_than_other_text() -> None:
    for gap in ("\n", " ", "\r\n", "\n \n"):
        text = f"##Answer: Yes, answer is present{gap * 100_000}[1"
        parsed = parse_strict(text, "en")
        assert parsed.outcome == parse_strict(text.replace(gap * 100_000, gap), "en").outcome
        if parsed.span_start is not None:
            assert text[parsed.span_start : parsed.span_end].strip()
