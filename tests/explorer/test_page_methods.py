"""The Methods page: it renders docs/methods.md, and every section can be found by its words."""

from __future__ import annotations

import pytest
from conftest import ROOT
from streamlit.testing.v1 import AppTest

from mirage.explorer.methods.data import Section, definitions, sections
from pages import open_page, page_text

EXAMPLE = """# Title

An introduction.

<!-- part -->

## Rates

Under the group.

### Error rate

At $5 or `$6`, see [the data](data.md) and [the paper](https://example.org/a).

```math
\\frac{FN}{n}
```

Source: ours.

### Empty

## Ranking

### Rating

A strength.
"""


def shown(app: AppTest) -> list[str]:
    """The groups of sections that are shown."""
    return [element.value for element in app.markdown if element.value.startswith("## ")]


def test_a_page_is_cut_at_its_headings() -> None:
    found = sections(EXAMPLE)
    assert [(section.group, section.title) for section in found] == [
        ("Rates", ""),
        ("Rates", "Error rate"),
        ("Ranking", "Rating"),
    ]
    assert found[0].text == "Under the group."


def test_dollars_are_no_formulas_and_formulas_are() -> None:
    text = sections(EXAMPLE)[1].text
    assert r"At \$5 or `$6`, see the data and [the paper](https://example.org/a)." in text
    assert "$$\n\\frac{FN}{n}\n$$" in text


@pytest.mark.parametrize(("words", "found"), [("ERROR fn", True), ("rates ours", True), ("error rating", False)])
def test_a_section_is_found_by_all_words_of_heading_and_text(words: str, found: bool) -> None:
    assert sections(EXAMPLE)[1].matches(words) is found
    assert Section("", "", "").matches("")


def test_every_heading_of_the_document_is_on_the_page() -> None:
    text = (ROOT / "docs" / "methods.md").read_text(encoding="utf-8")
    lines = "\n".join(shown(open_page("methods"))).splitlines()
    assert [line for line in lines if line.startswith("##")] == [
        line for line in text.splitlines() if line.startswith("##")
    ]


def test_a_search_in_the_link_keeps_the_sections_that_hold_all_its_words() -> None:
    app = open_page("methods", search="bradley LOGITS")
    assert f"of {len(definitions())} definitions" in page_text(app)
    assert len("\n".join(shown(app))) < len("\n".join(shown(open_page("methods")))) / 2
    assert "### Rating" in "\n".join(shown(app))


def test_a_search_without_a_match_says_so() -> None:
    app = open_page("methods", search="nosuchword")
    assert not shown(app)
    assert len(app.info) == 1
