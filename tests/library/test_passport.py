"""A judge's passport: what the planted faults change, and how well blind spots are recovered."""

import hashlib
import re
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest
from arena_writer import read_rows
from commands import mirage, rows
from golden.cases import read_table
from judge_cases import says
from misbehaving import Act, Call, Service

import mirage as api
from mirage import open_arena
from mirage.errors import BadInput, NotEnoughData, UnknownName
from mirage.stages.judge.faults import (
    CONTROL,
    FAULTS,
    ORIGINAL,
    AnswerToChange,
    CannotPlant,
    draw_items,
    is_statement,
    item_pairs,
    passport_path,
    plant,
)
from mirage.stages.judge.passport import PassportRow, passport
from mirage.store import copies
from mirage.text.answers import citations
from mirage.text.detection import detect

Item = dict[str, str]
"""The texts of one query by system."""


@pytest.fixture(scope="module")
def source(module_path: Path) -> Path:
    """A copy of the sample arena with items: two queries in each of its 18 languages."""
    path = module_path / "arena"
    copies.copy(open_arena("sample"), path)
    draw_items(path, queries=2, made_by="a test")
    return path


@pytest.fixture(scope="module")
def items(source: Path) -> dict[tuple[str, str], Item]:
    texts: dict[tuple[str, str], Item] = {}
    for row in read_rows(passport_path(source), "answers"):
        if row["status"] == "ok":
            texts.setdefault((row["language"], row["query_id"]), {})[row["system"]] = row["text"]
    return texts


def each(items: dict[tuple[str, str], Item], family: str) -> list[tuple[str, str, str]]:
    """Language, original and faulty text of the items of a family."""
    return [(code, item[ORIGINAL], item[family]) for (code, _), item in items.items() if family in item]


# --- what a fault changes ---------------------------------------------------------------------------------------------


def test_every_language_has_items_of_almost_every_fault(items: dict[tuple[str, str], Item]) -> None:
    made = {fault: {code for code, _, _ in each(items, fault)} for fault in FAULTS}
    assert all(len(codes) >= 16 for fault, codes in made.items() if fault != "changed-number")
    assert len(made["changed-number"]) >= 9  # few answers have a number


@pytest.mark.parametrize("family", [name for name in FAULTS if name != "padding"])
def test_a_fault_keeps_the_length_within_ten_percent(items: dict[tuple[str, str], Item], family: str) -> None:
    for _, original, faulty in each(items, family):
        assert abs(len(faulty) - len(original)) <= 0.1 * len(original)
        assert (faulty == original) == (family == CONTROL)


@pytest.mark.parametrize("family", [name for name in FAULTS if name != "wrong-language"])
def test_a_fault_keeps_the_language(items: dict[tuple[str, str], Item], family: str) -> None:
    for code, original, faulty in each(items, family):
        assert detect(faulty) == detect(original), (code, faulty)


def test_a_switched_answer_is_in_another_language(items: dict[tuple[str, str], Item]) -> None:
    assert all(detect(faulty) != detect(original) for _, original, faulty in each(items, "wrong-language"))


def test_one_digit_of_one_number_changes_in_its_own_script(items: dict[tuple[str, str], Item]) -> None:
    scripts = set()
    for _, original, faulty in each(items, "changed-number"):
        assert len(original) == len(faulty)
        changed = [(a, b) for a, b in zip(original, faulty, strict=True) if a != b]
        assert changed
        assert len(set(changed)) == 1
        for a, b in changed:
            assert unicodedata.name(a).rsplit(maxsplit=1)[0] == unicodedata.name(b).rsplit(maxsplit=1)[0]
            scripts.add(unicodedata.name(a).split()[0])
    assert len(scripts) > 1


def test_a_moved_citation_names_a_passage_that_was_shown(source: Path, items: dict[tuple[str, str], Item]) -> None:
    arena = open_arena(passport_path(source))
    shown: dict[tuple[str, str], list[str]] = {}
    for row in read_rows(arena, "retrieved") + read_rows(arena, "passages"):
        shown.setdefault((row["language"], row["query_id"]), []).append(row["passage_id"])
    for key, item in items.items():
        if "moved-citation" in item:
            before, after = (citations(item[name], shown[key], numbered=False) for name in (ORIGINAL, "moved-citation"))
            assert len(before) == len(after)
            assert all(citation.known for citation in after)
            assert [c.passage_id for c in before] != [c.passage_id for c in after]


def answer(text: str, language: str = "en", *, numbered: bool = True) -> AnswerToChange:
    passages = {f"p#{k}": f"The {k} passage tells of another matter here." for k in range(3)}
    return AnswerToChange(language, text, passages, numbered)


@pytest.mark.parametrize(*read_table("planted_numbers"))
def test_a_number_changes_in_any_digits_and_a_citation_does_not(text: str, language: str, changed: str) -> None:
    faulty = plant("changed-number", answer(text, language))
    assert changed in faulty
    assert "[1]" in faulty


def test_a_citation_keeps_its_form_when_it_moves() -> None:
    assert "[1]" not in plant("moved-citation", answer("Water boils at sea level [1]."))
    assert plant("moved-citation", answer("Es siedet [Quelle: 1].", "de")).count("Quelle") == 1
    by_id = answer("Water boils at sea level [p#0].", numbered=False)
    assert re.search(r"\[p#[12]\]", plant("moved-citation", by_id))


@pytest.mark.parametrize(*read_table("planted"))
def test_only_whole_statements_are_planted(text: str, language: str, states: bool) -> None:
    assert is_statement(text, language) == states


def test_debris_of_a_splitter_is_no_unsupported_sentence() -> None:
    with pytest.raises(CannotPlant):
        plant("unsupported", answer("The dam was finished in 1970 [1]. It holds much water [2]."))


def test_what_cannot_be_planted_has_a_reason() -> None:
    bare = answer("Nothing is known about that")
    for family, told in (
        ("changed-number", "number"),
        ("moved-citation", "citation"),
        ("unsupported", "another query"),
        ("wrong-language", "one language"),
    ):
        with pytest.raises(CannotPlant, match=told):
            plant(family, bare)


# --- the path ---------------------------------------------------------------------------------------------------------


def test_existing_items_stay_and_more_queries_are_added(source: Path, tmp_path: Path) -> None:
    path = tmp_path / "arena"
    copies.copy(open_arena("sample"), path)
    first = read_rows(draw_items(path, queries=1, languages=["sw"], made_by="a test"), "answers")
    more = read_rows(draw_items(path, queries=2, languages=["sw", "th"], made_by="a test"), "answers")
    assert {row["language"] for row in more} == {"sw", "th"}
    assert all(row in more for row in first)
    assert len({row["query_id"] for row in more if row["language"] == "sw"}) == 2
    again = draw_items(path, made_by="a test", languages=["sw"])
    assert len({row["query_id"] for row in read_rows(again, "answers") if row["language"] == "sw"}) == 2
    assert len(item_pairs(again, ["sw"])) < len(item_pairs(again))


def test_the_heuristic_judge_gets_its_passport_and_no_ranking_moves(source: Path) -> None:
    before = open_arena(source)
    mirage("judge", "passport", source, "--judge", "heuristic", "--languages", "en,ar,th")
    assert open_arena(source).version == before.version
    done = mirage("report", "judges", source, "--passport", "--judge", "heuristic", "--format", "csv")
    known = {(row["fault"], row["language"]): row for row in rows(done)}
    assert float(known["wrong-language", "all"]["detected"]) > 0.9
    assert float(known["changed-number", "all"]["detected"]) == 0.5
    assert known["changed-number", "th"]["low"] == ""
    assert known["changed-number", "th"]["reason"]
    assert int(known["copy", "all"]["unread"]) + int(known["copy", "all"]["n"]) == 36
    table = api.judge_passport(api.open_arena(source), "heuristic").to_pandas()
    assert set(table["language"]) > {"all", "en"}


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--passport",), "--judge"),
        (("--passport", "--judge", "nobody"), "nobody"),
        (("--passport", "--against-people", "--judge", "heuristic"), "choose one"),
    ],
)
def test_a_passport_that_cannot_be_printed_is_one_error(words: tuple[str, ...], told: str) -> None:
    assert told in mirage("report", "judges", "sample", *words, code=2).output


def test_a_passport_that_cannot_be_made_is_one_error(source: Path) -> None:
    assert "--known" in mirage("judge", "passport", source, "--judge", "heuristic", "--known", code=2).output
    with pytest.raises(BadInput, match="passport"):
        api.judge(api.open_arena(source), passport=True, known=True)
    mirage("judge", "passport", source, "--judge", "heuristic", "--languages", "en,ar,th")
    mine = open_arena(passport_path(source))
    with pytest.raises(UnknownName, match="heuristic"):
        passport(mine, "nobody")
    with pytest.raises(NotEnoughData, match="languages"):
        passport(mine, "heuristic", languages=["fi"])


# --- blind spots ------------------------------------------------------------------------------------------------------


def chance(*about: object) -> float:
    """A number in [0, 1) that depends on these alone."""
    return int.from_bytes(hashlib.sha256("/".join(map(str, about)).encode()).digest()[:6], "big") / 2**48


SEES = {"moved-citation": 0.0, "changed-number": 0.3, "padding": -0.6, CONTROL: 0.0}
"""Share of items of a family that the simulated judge sees, by default 0.9; below 0: on which it is taken in."""


def simulated(items: dict[tuple[str, str], Item]) -> Callable[[Call], Act]:
    """A judge with blind spots, which names the first answer or says tie where it sees nothing."""
    of_text = {(item[ORIGINAL], item[family]): family for item in items.values() for family in item}

    def behave(call: Call) -> Act:
        a, b = re.findall(r"<<ANSWER OF ASSISTANT [AB] \w+>>\n(.*?)\n<<END", call.content, flags=re.DOTALL)
        first = (a, b) in of_text
        family = of_text[(a, b) if first else (b, a)]
        drawn = chance(*sorted((a, b)))
        share = SEES.get(family, 0.9)
        if a != b and drawn < abs(share):
            return says("A" if first == (share > 0) else "B")
        return says("A" if chance("tie", *sorted((a, b))) < 0.6 else "C")

    return behave


def test_blind_spots_of_a_model_are_recovered_through_the_real_path(tmp_path: Path) -> None:
    path = tmp_path / "arena"
    copies.copy(open_arena("sample"), path)
    arena = draw_items(path, languages=["es", "zh"], made_by="a test")
    texts: dict[tuple[str, str], Item] = {}
    for row in read_rows(arena, "answers"):
        if row["status"] == "ok":
            texts.setdefault((row["language"], row["query_id"]), {})[row["system"]] = row["text"]
    with Service(simulated(texts)) as service:
        words = (
            "judge",
            "passport",
            path,
            "--judge",
            "j",
            "--model",
            "m",
            "--base-url",
            service.url,
        )
        mirage(*words, "--languages", "es,zh", "--concurrency", 8)
        calls = len(service.calls)
        mirage(*words, "--languages", "es,zh")
        assert len(service.calls) == calls  # every reply is in the ledger
    assert "j" not in open_arena(path).read("judgments")["judge"].to_pylist()
    result = passport(open_arena(passport_path(path)), "j")
    held = 0
    for family in FAULTS:
        row, share = row_of(result, family), SEES.get(family, 0.9)
        assert row.n == sum(family in item for item in texts.values())
        assert row.low is not None
        assert row.high is not None
        truth = (1 + share) / 2
        held += row.low <= truth <= row.high
    assert held >= len(FAULTS) - 1
    assert row_of(result, CONTROL).detected == 0.5 or row_of(result, CONTROL).split


def row_of(rows: list[PassportRow], fault: str) -> PassportRow:
    (row,) = (row for row in rows if (row.fault, row.language) == (fault, "all"))
    return row
