"""How an answer reads: its parts with their names, its citations as numbers that lead to a passage, and as written."""

import re

import pytest
from golden.cases import read_table

from mirage import schema
from mirage.explorer.kit import answer_card
from mirage.text.answers import citations
from mirage.views.query import AnswerView, QueryView

PASSAGES = tuple(schema.Passage("en", "q", f"doc#{k}", k, f"Title {k}", f"Text {k}.", k == 2) for k in (1, 2))


def body(text: str) -> str:
    """The HTML of an answer."""
    mentions = citations(text, [passage.passage_id for passage in PASSAGES], numbered=True)
    answer = AnswerView("s", text, "ok", None, None, "", "", None, None, mentions, ())
    query = QueryView(("en", "q"), "relevant", "What?", "", PASSAGES, (answer,))
    return answer_card.body(answer, query, [])


def read(html: str) -> str:
    """What stands on the page before a click, in lines."""
    shown = re.sub(r"<details.*?</details>", "", html, flags=re.S)
    return re.sub(r"<[^>]*>", "", re.sub(r'<span class="mg-part"[^>]*>([^<]*)</span>', r"\\n\1|", shown)).strip()


@pytest.mark.parametrize(*read_table("answer_parts"))
def test_an_answer_reads_in_its_parts(text: str, parts: list[str]) -> None:
    html = body(text)
    assert [line for line in read(html).split("\\n") if line] == parts
    assert "##" not in read(html)
    raw = re.search(r"<details[^>]*>.*<div[^>]*>(.*)</div></details>", html, re.S)
    assert raw.group(1) == text


def test_an_answer_without_parts_and_citations_is_shown_as_it_is_written() -> None:
    html = body("Yes, because it is old.")
    assert read(html) == "Yes, because it is old."
    assert "<details" not in html


def test_a_citation_is_a_small_number_that_leads_to_its_passage() -> None:
    html = body("It is old [doc#2], as [1] has it [9].")
    links = re.findall(r'<a class="mg-to" href="#passage-(\d)"><mark[^>]*>([^<]*)</mark>', html)
    assert links == [("2", "2"), ("1", "1")]
    assert re.search(r'mg-unknown"[^>]*>9</mark>', html), "what is not in the list keeps what was written"
