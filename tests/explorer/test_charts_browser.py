"""Every chart of every section of every page on the bundled arenas, drawn by a real browser in both themes, wide and on
a phone: it has marks, its texts lie within it, and no two systems look alike.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from browser import Opened, show

from mirage.explorer.kit.page_list import HOME, PAGES
from mirage.store import arena as arenas
from mirage.store.arena import open_arena
from mirage.views import query_search as answers

pytestmark = pytest.mark.browser

Start = Callable[..., Opened]
WIDE, PHONE = {"width": 1440, "height": 900}, {"width": 390, "height": 844}
OTHER = {"light": "dark", "dark": "light"}
GROUNDS = {"light": "rgb(255, 255, 255)", "dark": "rgb(18, 22, 28)"}
GROUND = "ground => getComputedStyle(document.querySelector('[data-testid=stApp]')).backgroundColor === ground"
SLACK = 3
"""Pixels by which a text may stand over the edge of its chart: fonts differ."""
CHARTS = """([systems, slack]) => [...document.querySelectorAll("[data-testid=stPlotlyChart]")].map((box) => {
  const layers = box.querySelectorAll(".main-svg :is(.trace, .points)")
  const plot = box.querySelector(".js-plotly-plot")
  const edge = (plot ?? box).getBoundingClientRect()
  const outside = [...box.querySelectorAll(".main-svg text")].filter((text) => {
    const place = text.getBoundingClientRect()
    return !text.closest(".hoverlayer") && text.textContent.trim() && place.width && (place.left < edge.left - slack ||
      place.right > edge.right + slack || place.top < edge.top - slack || place.bottom > edge.bottom + slack)
  }).map((text) => text.textContent)
  // A system that an axis names is known by its place.
  const named = [...box.querySelectorAll(":is(.xtick, .ytick) text")].map((text) => text.textContent)
  const looks = {}
  for (const trace of plot?.data ?? []) {
    if (!["markers", "lines+markers"].includes(trace.mode)) continue
    const one = (value, k) => Array.isArray(value) ? value[k] : value
    for (const [k, click] of [...(trace.customdata ?? [])].entries()) {
      if (systems.includes(click?.[0]) && !named.includes(click[0]))
        looks[click[0]] = [one(trace.marker.color, k), one(trace.marker.symbol, k)].join(" ")
    }
  }
  const alike = Object.keys(looks).filter((a) => Object.keys(looks).some((b) => a !== b && looks[a] === looks[b]))
  return {name: box.getAttribute("aria-label") ?? box.textContent.slice(0, 80), traces: layers.length,
    marks: box.querySelectorAll(".main-svg :is(.trace, .points) path").length, outside, alike}
})"""
"""Of every chart: its name, its traces and the marks in them, texts beyond its edge, and systems that look alike."""


def faults(page: Any, systems: Sequence[str]) -> tuple[int, list[Any]]:
    """Return how many charts the page has, and what is wrong with them once all are drawn, or after a while."""
    before = -1
    for _ in range(40):
        charts: list[dict[str, Any]] = page.evaluate(CHARTS, [list(systems), SLACK])
        wrong = [c for c in charts if not c["traces"] or not c["marks"] or c["outside"] or c["alike"]]
        # The last chart of a page enters the document after the script that sent it has ended.
        if not wrong and len(charts) == before:
            break
        before = len(charts)
        page.wait_for_timeout(250)
    return len(charts), wrong


ONLY = {"sample-across": {HOME, "hallucination", "features"}}
"""Pages that have charts of their own in an arena which is otherwise like another."""


@pytest.mark.parametrize("arena", sorted(arenas.bundled_arenas()))
def test_every_chart_of_every_section_is_drawn(start: Start, url: str, arena: str) -> None:
    opened = start()
    page = show(opened, f"{url}/?arena={arena}")
    opened_arena = open_arena(arenas.bundled_arenas()[arena])
    systems = answers.scope(opened_arena).systems if "outcomes" in opened_arena.tables else ()
    total, scheme = 0, "light"
    for entry in PAGES:
        if entry.name not in ONLY.get(arena, {entry.name}) or not entry.is_offered(opened_arena):
            continue
        if entry.name != HOME:
            # A sidebar that a phone's width has closed is still there.
            link = page.locator("[data-testid=stSidebarNav]").get_by_role("link", name=entry.title, exact=True)
            link.dispatch_event("click")
            page.get_by_role("heading", level=1, name=entry.title, exact=True).wait_for()
            opened.settle()
        group = page.get_by_role("radiogroup", name="Section")
        sections = group.get_by_role("radio").all_inner_texts() if group.count() else [""]
        for k, section in enumerate(sections):
            if k:  # the first is open
                group.get_by_role("radio", name=section, exact=True).click()
                opened.settle()
            n, wrong = faults(page, systems)
            assert not wrong, (entry.name, section, scheme)
            assert opened.heard == ([], [], []), (entry.name, section)
            total += n
            if not n:
                continue
            # Each section in both themes when wide, and on a phone in the theme that is on: they take turns.
            page.set_viewport_size(PHONE)
            assert faults(page, systems) == (n, []), (entry.name, section, scheme, "phone")
            page.set_viewport_size(WIDE)
            scheme = OTHER[scheme]
            page.emulate_media(color_scheme=scheme)
            page.wait_for_function(GROUND, arg=GROUNDS[scheme])
            opened.settle()
            assert faults(page, systems) == (n, []), (entry.name, section, scheme)
            assert opened.heard == ([], [], []), (entry.name, section)
    assert total >= {"published": 1, "people": 2}.get(arena, 6)
    page.close()
