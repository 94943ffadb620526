"""The view of a battle: the battles of two systems, one battle, what two answers share, and the pages that show it."""

import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import small_arena
from hypothesis import given, settings
from hypothesis import strategies as st
from view_battle_cases import A, B, judged

import pages
from mirage import open_arena
from mirage.battles.decision import decide, orient_verdict
from mirage.errors import UnknownName
from mirage.explorer.leaderboard import opening
from mirage.ranking.judges import Judge, LabelJudge, VerdictJudge
from mirage.ranking.judges import battles_of as ranked
from mirage.store import arena as arenas
from mirage.store.arena import Arena
from mirage.text.segmentation import word_spans
from mirage.views import battle as views
from mirage.views.battle import BattleFilter
from mirage.views.overlap import WORDS, shared_words
from mirage.views.query import AnswerView, FeatureValue
from mirage.views.win_matrix import Cell, Matrix, matrix
from pages import conclusion, notes, open_page, page_text


@pytest.fixture(scope="module")
def arena(module_path: Path) -> Arena:
    return judged(module_path)


def ids(arena: Arena, **filters: Any) -> list[str]:
    return [key[1] for key in views.find_battles(arena, BattleFilter(A, B, VerdictJudge("zeta"), **filters)).keys]


def test_the_battles_of_two_systems_by_every_judge(arena: Arena) -> None:
    every = views.decisions_of(arena, A, B, LabelJudge())
    assert every["en", "e00"].keys() == {"zeta", "eta", "relevance"}
    results = {key[1]: decisions["zeta"].winner for key, decisions in every.items() if "zeta" in decisions}
    assert results == {"e00": "first", "e01": "tie", "e02": "unparsed", "e03": "tie", "e04": "second"}
    assert list(every) == sorted(every)


def test_filters_find_battles(arena: Arena) -> None:
    assert ids(arena) == ["e00", "e01", "e02", "e03", "e04"]
    assert ids(arena, result="first") == ["e00"]
    assert ids(arena, flipped=True) == ["e01", "e03"]
    assert ids(arena, disagree=True) == ["e00"], "an unreadable verdict disagrees with nobody"
    assert ids(arena, languages=("ar",)) == []
    assert ids(arena, text="its place") == ["e01"], "rationales are searched, in either case"
    assert ids(arena, text="ganges", result="second") == ["e04"], "and answers of the two"
    assert ids(arena, text="number 3?") == ["e03"], "and queries"
    assert ids(arena, text="see context 2") == [], "but no answer of a third"


def test_it_is_in_the_readers_language_where_that_has_a_winner() -> None:
    won, lost, tied = (decide([orient_verdict(verdict, swapped=False)]) for verdict in ("A", "B", "tie"))
    decisions = {("ar", "q1"): won, ("en", "q1"): tied, ("sw", "q1"): lost, ("sw", "q2"): won, ("te", "q1"): tied}
    battles = views.BattleSelection(tuple(decisions), decisions, BattleFilter("x", "y", VerdictJudge("zeta")))
    assert battles.start(("sw", "en")) == ("sw", "q2")
    assert battles.start(("en",)) == ("ar", "q1"), "a tie in English says less than a winner elsewhere"
    assert battles.start(("te", "sw")) == ("sw", "q2")
    assert battles.start(("sw",), texts={("ar", "q1")}) == ("ar", "q1"), "both texts are there"


def test_the_systems_to_begin_with_have_a_battle_with_a_winner() -> None:
    def cells(*rows: tuple[str, str, int, int]) -> dict[tuple[str, str], Cell]:
        return {(x, y): Cell(x, y, wins, 5, losses, 0) for x, y, wins, losses in rows}

    decided = Matrix(("x", "y", "z"), cells(("x", "y", 0, 0), ("x", "z", 0, 1), ("y", "z", 3, 1)))
    assert decided.first_pair == ("x", "z")
    assert Matrix(("x", "y", "z"), cells(("x", "y", 0, 0))).first_pair == ("x", "y")
    assert Matrix(("x",), {}).first_pair == ("x",)


# Human labels decide where no judge does


@pytest.mark.parametrize("skill", ["abstain", "answer"])
def test_battles_by_human_labels_are_those_of_the_ranking(tmp_path: Path, skill: Any) -> None:
    arena = small_arena.write(tmp_path)
    subset = {"abstain": "n", "answer": "r"}[skill]
    for language, counts in ranked(arena, LabelJudge(skill=skill)).items():
        for x, y in itertools.permutations(counts.systems, 2):
            battles = views.find_battles(arena, BattleFilter(x, y, LabelJudge(), languages=(language,)))
            results = [decision.winner for key, decision in battles.decisions.items() if key[1].startswith(subset)]
            indices = counts.systems.index(x), counts.systems.index(y)
            assert results.count("first") == counts.wins[:, *indices].sum()
            assert results.count("tie") == counts.ties[:, *indices].sum()


@pytest.mark.parametrize("judge", [LabelJudge(), VerdictJudge("judge-x")], ids=lambda judge: judge.name)
def test_the_win_matrix_counts_what_the_battles_show(tmp_path: Path, judge: Judge) -> None:
    arena = small_arena.write(tmp_path, tables=("outcomes", "judgments"))
    result = matrix(arena, judge, ("en",))
    assert set(result.cells) == set(itertools.permutations(small_arena.SYSTEMS, 2))
    for (x, y), cell in result.cells.items():
        assert cell == views.find_battles(arena, BattleFilter(x, y, judge, languages=("en",))).cell
        other = result.cells[y, x]
        assert (cell.wins, cell.ties, cell.unparsed) == (other.losses, other.ties, other.unparsed)
        assert cell.interval[0] <= cell.share <= cell.interval[1]


def test_a_pair_without_a_winner_has_no_share(arena: Arena) -> None:
    result = matrix(arena, VerdictJudge("zeta"))
    tied = result.cells[A, "llama-2-7b"]
    assert (tied.share, tied.interval, tied.n) == (None, None, 1)
    assert ("aya-101", "llama-2-7b") not in result.cells, "these two never met"
    with pytest.raises(UnknownName, match="zetta"):
        matrix(arena, VerdictJudge("zetta"))


# One battle


def test_features_are_compared_where_both_have_them(arena: Arena) -> None:
    battle = views.battle_view(arena, ("en", "e00"), A, B)
    by_name = {comparison.measure.name: comparison for comparison in battle.compared}
    assert by_name["length"].better is None, "of length no side is better"
    assert by_name["citation_MAP@10"].better == "first"
    assert (by_name["citation_MAP@10"].low, by_name["citation_MAP@10"].high) == (0, 1)
    assert replace(by_name["citation_MAP@10"], first=0.9999, second=1.0).better is None, "a reader sees equal values"
    assert views.battle_view(arena, ("en", "e01"), A, B).compared == (), "the second has no answer there"


def test_a_lower_value_wins_where_lower_is_better() -> None:
    measure = FeatureValue("n_unknown_citations", "Unknown citations", "", "citations", 2.0, None)
    comparison = views.compare_feature(measure, 2.0, 0.0)
    assert (comparison.better, comparison.direction, comparison.low, comparison.high) == ("second", "lower", 0, 2.0)
    assert views.compare_feature(measure, 1.0, 1.0).better is None


# What two answers share


def answer(text: str | None) -> AnswerView:
    from mirage.text.answers import citations

    mentions = citations(text or "", ["d1", "d2"], numbered=True)
    return AnswerView("s", text, "ok", None, None, "", "", None, None, tuple(mentions), ())


def parts(first: str, second: str) -> tuple[list[str], list[str], list[str], list[str]]:
    pair = shared_words(answer(first), answer(second))
    assert pair is not None
    left, right = pair
    return (
        [first[start:end] for start, end in left.shared],
        [first[start:end] for start, end in left.own],
        [second[start:end] for start, end in right.shared],
        [second[start:end] for start, end in right.own],
    )


def test_shared_stretches_are_found_without_regard_to_case_and_punctuation() -> None:
    assert parts("The longest river is the Nile.", "In Africa, the longest river — is: the Congo") == (
        ["The longest river is the"],
        ["Nile"],
        ["the longest river — is: the"],
        ["In Africa", "Congo"],
    )


def test_a_citation_is_one_word_that_tells_which_passage_is_cited() -> None:
    same = parts("It is very long [1].", "It is very long [1].")
    assert same[:2] == (["It is very long [1]"], [])
    assert parts("It is very long [1].", "It is very long [2].")[:2] == (["It is very long"], ["[1]"])


@pytest.mark.parametrize(
    ("first", "second", "shared"),
    [
        ("尼罗河是最长的河流", "人们说尼罗河是最长的", "尼罗河是最长的"),
        ("النيل هو أطول نهر في العالم", "نعم النيل هو أطول نهر هنا", "النيل هو أطول نهر"),
        ("నైలు నది చాలా పొడవైన నది", "అవును నైలు నది చాలా చిన్నది", "నైలు నది చాలా"),
    ],
)
def test_shared_stretches_are_found_in_every_kind_of_script(first: str, second: str, shared: str) -> None:
    assert parts(first, second)[0] == [shared]


def test_answers_without_a_text_or_too_long_are_not_compared() -> None:
    assert shared_words(answer(None), answer("A text.")) is None
    assert shared_words(answer("word " * (WORDS + 1)), answer("A text.")) is None
    assert shared_words(answer("word " * WORDS), answer("word " * WORDS)) is not None


@settings(max_examples=60)
@given(st.text(alphabet="ab [1]\n尼罗河'ä", max_size=40), st.text(alphabet="ab [1]\n尼罗河'ä", max_size=40))
def test_shared_and_own_stretches_are_apart_and_hold_every_word(first: str, second: str) -> None:
    pair = shared_words(answer(first), answer(second))
    if pair is None:
        return
    for text, part in zip((first, second), pair, strict=True):
        spans = sorted(part.shared + part.own)
        assert all(before[1] <= after[0] for before, after in itertools.pairwise(spans))
        for (start, end), _ in word_spans(text):
            assert any(left <= start and end <= right for left, right in spans)
    assert pair[0].words_shared == pair[1].words_shared


# Its doors


@pytest.mark.parametrize(
    ("name", "judge"),
    [
        ("nomiracl", "relevance"),
        ("sample", "heuristic"),
        ("sample-across", "relevance"),
        ("people", "people"),
        ("judged", "zeta"),
    ],
)
def test_the_page_shows_the_view(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, judge: str) -> None:
    judged(tmp_path)
    monkeypatch.setenv("MIRAGE_ARENAS", str(tmp_path))
    arena = open_arena(arenas.bundled_arenas().get(name, tmp_path / "judged"))
    first, second = matrix(arena, Judge.from_name(judge)).first_pair
    battles = views.find_battles(arena, BattleFilter(first, second, Judge.from_name(judge)))
    for key in {battles.keys[0], battles.keys[-1]}:
        view = views.battle_view(arena, key, first, second, Judge.from_name(judge))
        assert battles.decisions[key].winner == view.decision(judge).winner or judge == "relevance"
        page = open_page("battle", arena=name, judge=judge, a=first, b=second, query=":".join(key))
        assert view.conclusion
        assert conclusion(page) == view.conclusion
        assert f"{len(battles.keys):,} of {len(battles.decisions):,} battles" in page_text(page)
        cell = battles.cell
        said = " ".join(pages.text(page).split())
        assert f"{first} wins {cell.wins:,}" in said
        assert f"{second} wins {cell.losses:,}" in said


def test_the_card_that_opens_the_program_concludes_as_the_page_does() -> None:
    page = open_page("leaderboard", arena="nomiracl")
    page.session_state["_opening"] = "A"
    page.run()
    sample = open_arena("sample")
    view = views.battle_view(sample, opening.QUERY, *opening.SYSTEMS, LabelJudge())
    assert any(note.startswith(f"You chose A. By relevance labels: {view.conclusion}") for note in notes(page))
