"""Prompt templates: the published text to the byte, filled in one pass, and templates of the user's."""

import re
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mirage.errors import BadInput, UnknownName
from mirage.io.sources.nomiracl.outputs import read_outputs
from mirage.llm.prompts import TEMPLATES, Template, bundled_text, load_template, render
from mirage.store import files
from mirage.text.answers import is_numbered

PASSAGES = [("Cologne Cathedral", "It stands on the Rhine."), (None, "A text without a title.")]


def test_the_four_templates_are_there_with_the_settings_of_the_paper() -> None:
    numbered = ("vanilla", "role", "repeat", "explanation")
    assert (*numbered, "rag") == TEMPLATES
    # Where an answer does not say whether its prompt numbered the passages, the name of a known template does.
    assert [is_numbered(name, None) for name in (*TEMPLATES, None, "mine")] == [True] * 4 + [False, None, None]
    for name in numbered:
        template = load_template(name)
        assert template.name == name
        assert not template.by_id
        assert template.max_new_tokens == (400 if name == "explanation" else 50)
        assert (template.top_p, template.max_passage_tokens) == (0.95, 375)
        assert '"Yes, answer is present"' in template.text
        assert '"I don\'t know"' in template.text


def test_a_rendered_prompt_reads_as_published() -> None:
    contexts = "CONTEXTS:\n[1] Cologne Cathedral: It stands on the Rhine.\n\n[2] A text without a title.\n\n"
    vanilla = render(load_template("vanilla"), "Where is it?", PASSAGES)
    assert vanilla.endswith(f"\n\nQUESTION:\nWhere is it?\n\n{contexts}OUTPUT:\n")
    role = render(load_template("role"), "Where is it?", PASSAGES)
    assert role.startswith("You are an evaluator ")
    assert "Do not add any other information in your output.\n\nQUESTION:" in role
    repeat = render(load_template("repeat"), "Where is it?", PASSAGES)
    assert repeat.startswith(vanilla.removesuffix("OUTPUT:\n"))
    assert "answers the question: Where is it?, respond as either" in repeat
    explanation = render(load_template("explanation"), "Where is it?", PASSAGES)
    assert "## Explanation:... ## Answer:" in explanation
    assert explanation.endswith(contexts)


@pytest.mark.data
def test_vanilla_gives_the_published_prompts_to_the_byte(shared: Path, tmp_path: Path) -> None:
    for name in ("relevant/en", "non_relevant/ar", "relevant/ja", "non_relevant/te"):
        source = shared / "nomiracl" / f"{name}.test.vanilla_prompt.jsonl.gz"
        (tmp_path / source.parent.name).mkdir(exist_ok=True)
        shutil.copy(source, tmp_path / source.parent.name / source.name)
    tables = read_outputs(tmp_path)
    passages: dict[tuple[str, str], list[tuple[str | None, str]]] = {}
    for row in sorted(tables["passages"].to_pylist(), key=lambda r: r["position"]):
        passages.setdefault((row["language"], row["query_id"]), []).append((row["title"], row["text"]))
    queries = {(r["language"], r["query_id"]): r["text"] for r in tables["queries"].to_pylist()}
    vanilla = load_template("vanilla")
    compared = 0
    for path in sorted(tmp_path.glob("*/*.gz")):
        for line in files.jsonl(path):
            key = (path.name[:2], line.value["query_id"])
            if line.value["prompt"] is not None:
                assert render(vanilla, queries[key], passages[key]) == line.value["prompt"], line.where
                compared += 1
    assert compared > 700


@pytest.mark.parametrize("name", ["overlap", "fluency", "judge"])
def test_what_a_fence_promises_is_there(name: str) -> None:
    assert {"{question}", "{passages}", "{code}"} <= set(re.findall(r"\{\w+\}", bundled_text(name)))


TEXTS = st.text(max_size=40) | st.sampled_from(["{contexts}", "{question}", "{{question}}", "{x}", "\\1", "\\g<0>"])


def test_the_rag_prompt_shows_ids_names_the_language_and_asks_for_reason_and_answer() -> None:
    template = load_template("rag")
    assert (template.max_new_tokens, template.top_p) == (2048, None)
    assert (template.max_passage_tokens, template.max_prompt_tokens, template.by_id) == (800, 8192, True)
    prompt = render(template, "Wo steht er?", PASSAGES, ids=["12#0", "7#3"], language="German")
    contexts = "\n\nContexts:\n[12#0] Cologne Cathedral: It stands on the Rhine.\n\n[7#3] A text without a title.\n\n"
    assert f"\n\nQuestion: Wo steht er?{contexts}Instruction: Answer the question in German" in prompt
    assert "\n##Reason: " in prompt
    assert "\n##Answer: " in prompt
    assert "{" not in prompt


def test_a_template_of_the_users_that_shows_ids_has_the_settings_of_rag(tmp_path: Path) -> None:
    path = tmp_path / "mine.txt"
    path.write_text("{question} in {language}: {contexts_by_id}", "utf-8")
    template = load_template(path)
    assert (template.name, template.max_new_tokens, template.max_passage_tokens) == ("mine", 2048, 800)
    assert render(template, "Q", [(None, "{language}")], ids=["{question}"], language="Thai") == (
        "Q in Thai: [{question}] {language}"
    )


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("rag.txt", "{question} {contexts}", "rag"),
        ("own.txt", "---\nanswered: yes\n---\n{question} {contexts}", "header"),
        ("own.txt", "{contexts}", r"lacks the placeholder \{question\}(.|\n)*own\.txt"),
        ("own.txt", "{question}", r"lacks the placeholder \{contexts\}"),
        ("own.txt", "{question} {contexts} {langauge}", r"unknown placeholder \{langauge\}"),
    ],
)
def test_a_template_of_the_users_that_cannot_be_used_is_refused(
    tmp_path: Path, name: str, text: str, message: str
) -> None:
    (tmp_path / name).write_text(text, "utf-8")
    with pytest.raises(BadInput, match=message):
        load_template(tmp_path / name)


@given(TEXTS, st.lists(st.tuples(st.none() | TEXTS, TEXTS), min_size=1, max_size=3))
def test_pitfall_2_what_is_put_in_is_never_searched_for_placeholders(
    query: str, passages: list[tuple[str | None, str]]
) -> None:
    template = Template("own", "A {question} B {contexts} C {question} D", max_new_tokens=50)
    shown = "\n\n".join(
        f"[{i}] {text}" if title is None else f"[{i}] {title}: {text}" for i, (title, text) in enumerate(passages, 1)
    )
    assert render(template, query, passages) == f"A {query} B {shown} C {query} D"


def test_a_prompt_without_passages_is_refused() -> None:
    with pytest.raises(BadInput, match="at least one passage"):
        render(load_template("vanilla"), "Where is it?", [])


def test_a_template_of_the_users_is_a_file(tmp_path: Path) -> None:
    path = tmp_path / "kurz.txt"
    path.write_text('Frage: {question}\n\n{contexts}\n\nAntworte als JSON: {"answer": ""}\n', "utf-8")
    for given_path in (path, str(path)):
        template = load_template(given_path)
        assert template.name == "kurz"
        assert template.max_new_tokens == 50
    prompt = render(template, "Wo?", [("Dom", "Er steht in Köln.")])
    assert prompt == 'Frage: Wo?\n\n[1] Dom: Er steht in Köln.\n\nAntworte als JSON: {"answer": ""}'


def test_an_unknown_name_lists_the_nearest_and_an_absent_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="did you mean: vanilla"):
        load_template("vanila")
    with pytest.raises(BadInput, match="there is no file"):
        load_template(tmp_path / "none.txt")
    with pytest.raises(BadInput, match="there is no file"):
        load_template("./none.txt")
