"""Languages: the 18 of MIRACL, every other BCP 47 tag, one order, and what is said of what is no language."""

import json
from pathlib import Path

import langcodes
import pytest
from commands import refuses, run_python, write_jsonl
from golden.cases import read_table
from hypothesis import given, settings
from hypothesis import strategies as st
from langcodes.registry_parser import parse_registry

from mirage import schema, store
from mirage.errors import BadInput, UnknownName
from mirage.io.imports.formats import import_file
from mirage.io.options import Options
from mirage.io.rows import read_judgments
from mirage.io.verdict_files import read_judgments_file
from mirage.text.languages import LANGUAGES, in_order, is_code, language, miracl_language, search_name

SPOKEN = sorted(
    code
    for entry in parse_registry()
    if entry["Type"] == "language" and ".." not in (code := entry["Subtag"]) and "Deprecated" not in entry
)
"""Every language of the IANA registry, as it writes them."""
TAGS = st.builds(
    lambda code, script, region: "-".join(part for part in (code, script, region) if part),
    st.sampled_from(SPOKEN),
    st.sampled_from(["", "", "Latn", "Cyrl", "Arab"]),
    st.sampled_from(["", "", "BR", "419", "TW"]),
)


def test_there_are_the_eighteen_languages_of_miracl_in_the_order_of_their_codes() -> None:
    assert " ".join(LANGUAGES) == "ar bn de en es fa fi fr hi id ja ko ru sw te th yo zh"
    assert all(code == known.code and known.tested for code, known in LANGUAGES.items())


def test_arabic_and_persian_run_right_to_left_and_three_languages_have_no_spaces() -> None:
    assert [c for c, known in LANGUAGES.items() if known.direction == "rtl"] == ["ar", "fa"]
    assert [c for c, known in LANGUAGES.items() if not known.spaced] == ["ja", "th", "zh"]


@pytest.mark.parametrize("code", LANGUAGES)
def test_a_language_is_found_by_its_code_and_by_the_name_nomiracl_uses(code: str) -> None:
    known = LANGUAGES[code]
    assert language(code) is known
    assert language(known.nomiracl_name) is known
    assert language(langcodes.Language.get(code).to_alpha3()) is known


@pytest.mark.parametrize("code", LANGUAGES)
def test_the_18_are_what_langcodes_says_of_them(code: str) -> None:
    """But for Bengali, which CLDR calls Bangla, and its variants with it."""
    known, entry = LANGUAGES[code], langcodes.Language.get(code)
    assert entry.display_name() == ("Bangla" if code == "bn" else known.name)
    assert entry.maximize().script == known.script
    assert language(f"{code}-001").name == f"{known.name} (world)"


@pytest.mark.parametrize(*read_table("languages"))
def test_any_tag_in_any_spelling_is_a_language(
    text: str, code: str, name: str, script: str, direction: str, spaced: bool, family: str | None
) -> None:
    known = language(text)
    assert (known.code, known.name, known.script, known.direction, known.spaced, known.family) == (
        code,
        name,
        script,
        direction,
        spaced,
        family,
    )


def test_languages_are_named_in_themselves() -> None:
    codes = ("pt-BR", "zh-TW", "sr-Latn", "el", "vi", "he", "arz")
    assert [language(code).endonym for code in codes] == [
        "Português (Brasil)",
        "中文（台灣）",
        "Srpski (latinica)",
        "Ελληνικά",
        "Tiếng Việt",
        "עברית",
        "Egyptian Arabic",
    ]


def test_variants_of_the_18_in_their_script_are_tested_and_no_other_language_is() -> None:
    assert [language(code).tested for code in ("zh-TW", "en-GB", "ja-Latn", "pt-BR", "vi")] == [
        True,
        True,
        False,
        False,
        False,
    ]


@settings(deadline=None)
@given(TAGS)
def test_the_normal_form_of_a_tag_is_its_own_normal_form(tag: str) -> None:
    if tag.startswith("all"):
        return
    known = language(tag)
    assert is_code(known.code)
    assert language(known.code.upper()) == language(known.code.lower().replace("-", "_")) == known
    assert known.name
    assert known.endonym


@settings(max_examples=30)
@given(st.sets(TAGS.filter(lambda tag: not tag.startswith("all")), min_size=1, max_size=5))
def test_any_language_is_stored_and_read_again(tags: set[str]) -> None:
    codes = {language(tag).code for tag in tags}
    rows = [{"language": code, "query_id": "q", "text": code} for code in sorted(codes)]
    table = schema.from_columns("queries", {name: [row.get(name) for row in rows] for name in rows[0]})
    files = store.writing.serialise("queries", table, where="")
    assert [entry["language"] for entry, _ in files] == in_order(codes)
    assert all(Path(entry["path"]).name == entry["path"].split("/")[1] for entry, _ in files)


def test_the_order_is_that_of_the_codes_then_all_then_none() -> None:
    assert in_order(["zh-TW", "", "all", "el", "ar", "el"]) == ["ar", "el", "zh-TW", "all", ""]


@pytest.mark.parametrize("bad", ["xx", "all", "", "a", "en\n", "no such language", "x" * 100, "pt-", "\0"])
def test_what_is_no_language_is_refused_with_the_place(bad: str) -> None:
    with refuses(UnknownName, where="questions.csv:7"):
        language(bad, where="questions.csv:7")
    assert not is_code(bad)


@pytest.mark.parametrize("text", ["pt_BR", "EN", "english", "por", "cmn"])
def test_a_column_holds_normal_codes_only(text: str) -> None:
    assert not is_code(text)
    table = schema.from_columns("queries", {"language": [text], "query_id": ["q"], "text": ["t"]})
    with pytest.raises(BadInput, match="language"):
        schema.validate("queries", table)


def test_pitfall_44_an_unknown_language_is_refused_with_the_nearest() -> None:
    with pytest.raises(UnknownName) as caught:
        language("vietnamse")
    assert "vietnamese" in caught.value.nearest
    with pytest.raises(UnknownName) as caught:
        miracl_language("sv")
    assert caught.value.nearest[0] in LANGUAGES


def test_the_18_need_no_library() -> None:
    """Every command starts with them: the registry is read at the first other language."""
    program = (
        "import sys; from mirage.text.languages import in_order, is_code, language\n"
        "assert is_code('sw') and not is_code('all') and language('arabic').name == 'Arabic'\n"
        "assert in_order(['zh', 'ar']) == ['ar', 'zh']\n"
        "assert 'langcodes' not in sys.modules\n"
    )
    run_python(program)


@pytest.mark.parametrize(
    ("code", "shown"),
    [
        ("te", "Telugu · తెలుగు (te)"),
        ("en", "English (en)"),
        ("vi", "Vietnamese · Tiếng Việt (vi)"),
        ("all", "All languages"),
    ],
)
def test_a_picker_has_both_names_and_the_code(code: str, shown: str) -> None:
    assert search_name(code) == shown


@pytest.mark.parametrize(*read_table("language_codes"))
def test_several_codes_of_a_language_are_one_language(tmp_path: Path, codes: str, value: str | None, kept: str) -> None:
    file = tmp_path / "answers.jsonl"
    rows = [
        {"question": f"? {n}", "answer": "!", "system": "x", "language": code} for n, code in enumerate(codes.split())
    ]
    write_jsonl(file, *rows)
    options = Options.parse(meanings=[value] if value else [])
    made = import_file(file, tmp_path / "arena", options=options)
    assert " ".join(made.arena.languages("queries")) == kept
    assert any(what.startswith("codes of") for what in made.summary.guessed) == (len(kept.split()) < len(codes.split()))


def test_codes_are_one_language_in_verdicts_and_across_imports(tmp_path: Path) -> None:
    rows = [{"query_id": "q1", "system_a": "x", "system_b": "y", "verdict": "A", "language": "zh"}]
    rows += [{**rows[0], "query_id": "q2", "language": "zh-CN"}, {**rows[0], "query_id": "q3", "language": "zh-TW"}]
    file = tmp_path / "verdicts.jsonl"
    write_jsonl(file, *rows)
    for judgments, notes in (read_judgments_file(file), read_judgments(rows)):
        assert set(judgments["language"].to_pylist()) == {"zh"}
        assert "zh-CN" in " ".join(notes)
    for code in ("pt-BR", "pt"):
        file.write_text(json.dumps({"question": f"Quem? {code}", "answer": "!", "system": "x", "language": code}))
        arena = import_file(file, tmp_path / "arena").arena
    assert list(arena.languages("queries")) == ["pt-BR"]


def test_translations_of_one_id_stay_apart(tmp_path: Path) -> None:
    file = tmp_path / "answers.jsonl"
    rows = [("zh-CN", "灯塔有多高？"), ("zh-TW", "燈塔有多高？")]
    write_jsonl(file, *({"id": 1, "question": q, "answer": "!", "system": "x", "language": c} for c, q in rows))
    made = import_file(file, tmp_path / "arena")
    assert list(made.arena.languages("queries")) == ["zh-CN", "zh-TW"]
    assert "stay languages of their own" in made.summary.guessed["codes of Chinese"]
