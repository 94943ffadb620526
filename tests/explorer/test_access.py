"""Every page by keyboard, by what reads a page aloud (axe-core), and on a phone."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import axe_playwright_python
import pytest
from browser import Opened, show

from mirage.explorer.kit.page_list import PAGES

pytestmark = pytest.mark.browser

Start = Callable[..., Opened]
THERE = [entry for entry in PAGES if entry.file.is_file()]
AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text("utf-8")
RUN = """async () => (await axe.run({exclude: ["[data-testid=stSidebarNavItems]"]},
  {resultTypes: ["violations"]})).violations
  .filter((v) => ["serious", "critical"].includes(v.impact) || v.id === "heading-order")
  .flatMap((v) => v.nodes
    // Streamlit's own navigation in groups: its list items do not stand directly in its list.
    .filter((n) => !(["list", "listitem"].includes(v.id) &&
      document.querySelector(n.target.flat().join(" "))?.closest("[data-testid=stSidebarNav]")))
    .map((n) => [v.id, n.target.flat().join(" "), n.html.slice(0, 300), n.failureSummary]))"""

STREAMLIT: dict[str, tuple[str, ...]] = {
    "color-contrast": ('class="token ',),  # the colours in which it sets code
    "scrollable-region-focusable": ("katex-display",),  # the box that it sets a formula in
}
"""What is Streamlit's own: rule of axe, and parts of the elements' HTML or selector. So is the list of pages, whose
groups axe does not take for lists (`RUN`).
"""
LINKS = [
    *(f"{entry.name}?arena=sample" for entry in THERE),
    *("leaderboard?arena=published", "hallucination?arena=published", "answers?arena=nomiracl"),
    *("hallucination?arena=nomiracl&section=Errors", "surrogate?arena=nomiracl&section=Importance"),
]
"""Every page on the sample, and where other arenas and sections look different."""


WIDTHS = "() => [document.scrollingElement, document.querySelector('[data-testid=stMain]')].map((e) => e.scrollWidth)"
DARK = "rgb(18, 22, 28)"
SET_IN = "ground => getComputedStyle(document.querySelector('[data-testid=stApp]')).backgroundColor === ground"
BEYOND = """() => [...document.querySelectorAll("[data-testid=stMain] :is(button, input, a[href], select)")]
  .filter((e) => e.checkVisibility())
  .filter((e) => !e.closest("[class*=st-key-scroll_], .mg-wide, .stDataFrame, [aria-hidden=true]"))
  .filter((e) => { const b = e.getBoundingClientRect(); return b.width && (b.left < -1 || b.right > innerWidth + 1) })
  .map((e) => e.outerHTML.slice(0, 200))"""


def violations(page: Any) -> list[Any]:
    """What axe finds, but for what is Streamlit's own."""
    return [found for found in page.evaluate(RUN) if not streamlits(*found[:3])]


@pytest.mark.parametrize("link", LINKS)
def test_a_page_reads_aloud_in_light_and_dark_and_fits_a_phone(start: Start, url: str, link: str) -> None:
    with start(width=390, height=844) as opened:
        page = show(opened, f"{url}/{link}")
        assert page.evaluate(WIDTHS) == [390, 390], "nothing scrolls sideways but tables and charts in their own place"
        assert page.evaluate(BEYOND) == [], "every control can be reached"
        page.evaluate(AXE)
        assert violations(page) == [], "light, on a phone"
        page.set_viewport_size({"width": 1440, "height": 900})
        page.emulate_media(color_scheme="dark")
        page.wait_for_function(SET_IN, arg=DARK)
        opened.settle()
        assert violations(page) == [], "dark and wide"


def streamlits(rule: str, target: str, html: str) -> bool:
    """Whether a finding is Streamlit's own."""
    return any(part in html or part in target for part in STREAMLIT.get(rule, ()))


FOCUSED = """() => {
  let e = document.activeElement
  while (e?.shadowRoot?.activeElement) e = e.shadowRoot.activeElement
  const style = getComputedStyle(e)
  const seen = style.outlineStyle !== "none" || style.boxShadow !== "none" || e.matches(":focus-visible")
  return [(e.innerText?.trim() || e.getAttribute("aria-label") || "").split("\\n")[0], seen]
}"""


def tab_to(opened: Opened, name: str) -> None:
    """Go on by Tab until a control has the focus."""
    opened.settle()
    passed = []
    for _ in range(120):
        opened.page.keyboard.press("Tab")
        label, visible = opened.page.evaluate(FOCUSED)
        passed.append(label)
        assert visible, f"nobody sees that {label} has the focus"
        if label == name:
            return
    pytest.fail(f"{name} is not reached by Tab, but {passed}")


def test_one_goes_from_the_leaderboard_to_the_next_battle_by_keyboard_alone(opened: Opened, url: str) -> None:
    page = show(opened, f"{url}/?arena=sample")
    tab_to(opened, "Battle")
    opened.press("Enter")
    page.get_by_role("heading", level=1, name="Battle", exact=True).wait_for()
    page.wait_for_selector(".mg-query")
    before = page.locator(".mg-query").inner_text()
    tab_to(opened, "Next")
    opened.press("Enter")
    page.wait_for_function("was => document.querySelector('.mg-query')?.innerText !== was", arg=before)
