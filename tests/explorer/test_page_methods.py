"""The Methods page: it renders docs/methods.md, and every section can be found by its words."""

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


def shown(app: AppTest) -> str:
    """The definition that is open."""
    (definition,) = (element.value for element in app.markdown if element.value.startswith("## "))
    return definition


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


def test_every_heading_of_the_document_is_a_definition_with_a_name_of_its_own() -> None:
    text = (ROOT / "docs" / "methods.md").read_text("utf-8")
    names = [section.name for section in definitions()]
    assert len(set(names)) == len(names)
    heads = [line for line in text.splitlines() if line.startswith("##")]
    assert {line.lstrip("# ") for line in heads} == {*names, *(section.group for section in definitions())}


def test_one_definition_is_open_the_one_of_the_link_or_the_first_that_matches() -> None:
    first = definitions()[0]
    assert shown(open_page("methods")) == f"## {first.name}\n\n{first.text}"
    assert shown(open_page("methods", term="Kappa")).startswith("## Kappa")
    app = open_page("methods", search="bradley LOGITS")
    assert f"of {len(definitions())} definitions" in page_text(app)
    assert "bradley" in shown(app).lower()
    assert shown(open_page("methods", search="bradley LOGITS", term="Kappa")) == shown(app), "it is not among them"


def test_what_is_not_found_is_said() -> None:
    assert len(open_page("methods", search="nosuchword").info) == 1
    assert "did you mean: Kappa" in page_text(open_page("methods", term="Kapa"))
