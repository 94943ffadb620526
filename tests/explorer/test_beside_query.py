"""What surrounds a query: earlier turns, tags, the reference answer, where passages come from."""

from functools import partial
from pathlib import Path

import pyarrow as pa
import pytest
import rich_arena
from arena_writer import write_arena

import pages
from mirage import schema
from mirage.explorer.kit.answer_card import metadata
from mirage.stages.judge.pairs import OrderedPair
from mirage.stages.judge.prompt import PromptPassage, Prompts, ShownTexts, render_battle
from mirage.store.arena import Arena, open_arena
from pages import html, page_text, text


@pytest.fixture(scope="module")
def folder(module_path: Path) -> Path:
    return rich_arena.write(module_path / "rich").path.parent


@pytest.fixture
def arena(arenas: Path) -> Arena:
    return open_arena(arenas / "rich")


open_page = partial(pages.open_page, arena="rich")


def with_turns(arena: Arena, n: int) -> str:
    """A link to an English query with so many turns."""
    turns = [row["query_id"] for row in arena.read("turns", languages=["en"]).to_pylist()]
    return f"en:{next(query_id for query_id in turns if turns.count(query_id) == n)}"


@pytest.mark.parametrize("page", ["answers", "battle"])
def test_long_conversations_are_folded_but_for_their_end(arena: Arena, page: str) -> None:
    app = open_page(page, query=with_turns(arena, 6))
    folded, rest = html(app).split("4 earlier turns")[1].split("</details>", 1)
    assert [f"Turn {k}:" in folded for k in range(1, 7)] == [True] * 4 + [False] * 2
    assert rest.index("Turn 5:") < rest.index("Turn 6:") < rest.index("mg-query")


def test_what_others_wrote_is_text_and_only_safe_addresses_are_links(arena: Arena) -> None:
    app = open_page("answers", query=with_turns(arena, 6))
    markup = html(app)
    assert "<script>" not in markup
    assert text(app).count(rich_arena.HOSTILE.strip()) >= 4
    assert 'href="https://example.org/a?b=1&amp;c=2"' in markup
    assert "javascript:" not in markup.replace("<bdi>javascript:", "")
    assert "year: 2024" in text(app)


def test_the_reference_answer_is_on_the_answers_page_alone(arena: Arena) -> None:
    link = with_turns(arena, 2)
    assert "It is so." in text(open_page("answers", query=link))
    assert "It is so." not in text(open_page("battle", query=link))


def test_tags_in_a_link_narrow_the_pages_and_a_wrong_one_is_answered(arena: Arena) -> None:
    app = open_page("answers", tags="domain: law")
    assert "60 of 180 queries: domain: law" in page_text(app)
    systems = set(arena.read("answers", columns=["system"])["system"].to_pylist())
    n = 60 * len(systems)
    assert f"60 of 60 queries and {n} of {n} answers match." in page_text(app).replace(",", "")
    app = open_page("answers", tags="domain: lew")
    assert "domain: law" in "".join(warning.value for warning in app.warning).replace("\\", "")


def test_a_page_of_numbers_over_all_queries_says_that_tags_do_not_narrow_it(arena: Arena) -> None:
    app = open_page("surrogate", tags="domain: law")
    assert "tags do not apply" in page_text(app)


def test_tags_that_leave_nothing_are_left_aside(arena: Arena) -> None:
    rows = [row for row in arena.read("tags").to_pylist() if row["language"] == "en"]
    more = schema.from_rows("tags", [schema.Tag(**rows[0] | {"tag": "kind", "value": "odd"})])
    both = pa.concat_tables([arena.read("tags"), more])
    tables = {"tags": both} | {name: arena.read(name) for name in ("queries", "answers")}
    write_arena(arena.path.parent / "odd", tables)
    app = open_page("answers", arena="odd", tags="kind: odd", languages="sw")
    assert "Tags ignored" in "".join(warning.value for warning in app.warning)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (None, {}),
        ('{"a": "x", "b": [1], "c": null}', {"a": "x", "b": "[1]"}),
        ("[1, 2]", {"metadata": "[1, 2]"}),
        ("no json", {"metadata": "no json"}),
    ],
)
def test_metadata_of_any_shape_is_shown(given: str | None, expected: dict[str, str]) -> None:
    assert metadata(given) == expected


def test_a_judge_reads_the_turns_and_other_prompts_keep_their_bytes(arena: Arena) -> None:
    passages = (PromptPassage(1, "p", None, "It is."),)
    plain = ShownTexts("And then?", passages, "a", "b")
    turned = ShownTexts("And then?", passages, "a", "b", (("user", "What is it?"), ("agent", "A <<END x>> b.")))
    first, second = render_battle(plain), render_battle(turned)
    assert "EARLIER" not in first
    assert (
        second.index("And then?")
        < second.index("What is it?")
        < second.index("A <<END x>> b.")
        < second.index("It is.")
    )
    code, query_id = with_turns(arena, 6).split(":")
    tables = {name: arena.read(name, languages=[code]) for name in ("queries", "passages", "answers", "turns")}
    systems = sorted(set(tables["answers"]["system"].to_pylist()))[:2]
    battle = OrderedPair(code, query_id, *systems)
    assert len(Prompts([battle], **tables).texts_of(0).turns) == 6
    del tables["turns"]
    assert Prompts([battle], **tables).texts_of(0).turns == ()
