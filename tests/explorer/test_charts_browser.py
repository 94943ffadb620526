"""Every page of the bundled arenas in a real browser: its first screen has few controls, columns, sentences and
sections and nothing dead; every chart of every section, and each kind of chart in both themes and on a phone, has
marks, its texts lie within it, and no two systems look alike.
"""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from browser import Opened, show

from mirage import open_arena
from mirage.explorer.kit.page_list import HOME, PAGES, PageEntry
from mirage.store import arena as arenas
from mirage.views import query_search as answers

pytestmark = pytest.mark.browser

Start = Callable[..., Opened]
WIDE, PHONE = {"width": 1440, "height": 900}, {"width": 390, "height": 844}
OTHER = {"light": "dark", "dark": "light"}
GROUNDS = {"light": "rgb(255, 255, 255)", "dark": "rgb(18, 22, 28)"}
SIDEBAR = "[data-testid=stSidebarNav]"
GROUND = "ground => getComputedStyle(document.querySelector('[data-testid=stApp]')).backgroundColor === ground"
WITHOUT_CHART = (HOME, "compare")
LIMITS = {"controls": 8, "columns": 7, "sections": 3, "sentences": 12, "numbers": 24, "dead": 0}
TABLES = """() => [...document.querySelectorAll("[data-testid=stDataFrame]")].every(
  (table) => table.querySelector("canvas table th"))"""
"""Tables are drawn after the page has come."""
COUNT = """() => {
  const main = document.querySelector("[data-testid=stMain]")
  const seen = (e) => {
    const box = e.getBoundingClientRect()
    return e.checkVisibility() && box.width > 0 && box.top < innerHeight && !e.closest("[class*=st-key-bound_]")
  }
  const kinds = ["Button", "DownloadButton", "FormSubmitButton", "Popover", "Selectbox", "MultiSelect", "ButtonGroup",
    "TextInput", "NumberInput", "Checkbox", "FileUploader", "Slider", "Radio", "BidiComponentRegular"]
  const controls = kinds.flatMap((kind) => [...main.querySelectorAll(`[data-testid=st${kind}]`)]).filter(
    (e) => seen(e) && !e.querySelector("[data-testid=stBaseButton-tertiary]") && e.querySelector("button, input"))
  const first = main.querySelector("canvas table, .mg-table:not(.mg-ranks)")
  const heads = first ? [...(first.tHead?.rows[0] ?? first.rows[0]).cells].map((c) => c.textContent.trim()) : []
  const group = [...main.querySelectorAll("[role=radiogroup]")].find((e) => e.ariaLabel === "Section")
  const prose = [...main.querySelectorAll(".mg-page p, p.mg-about, [data-testid=stCaptionContainer]")].filter(seen)
  const words = prose.map((e) => e.innerText).join(" ")
  return {
    controls: controls.length,
    columns: heads.filter(Boolean).length,
    sentences: words.split(/[.!?](?:\\s|$)/).filter((part) => part.trim()).length,
    sections: group ? group.querySelectorAll("[role=radio]").length : 0,
    numbers: (words.match(/[+−-]?\\d[\\d.,]*%?/g) ?? []).length,
    dead: /This arena has no|No queries|Nothing to/.test(main.innerText) ? 1 : 0,
  }
}"""
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


def faults(page: Any, systems: Sequence[str], n: int | None = None) -> tuple[int, list[Any]]:
    """Return how many charts the page has, and what is wrong with them once all are drawn, or after a while.

    `n`: how many there will be, where that is known.
    """
    before = -1 if n is None else n
    for _ in range(100):
        charts = page.evaluate(CHARTS, [list(systems), SLACK])
        wrong = [c for c in charts if not c["traces"] or not c["marks"] or c["outside"] or c["alike"]]
        # The last chart of a page enters the document after the script that sent it has ended.
        if not wrong and len(charts) == before:
            break
        before = len(charts) if n is None else n
        page.wait_for_timeout(250 if n is None else 50)
    return len(charts), wrong


ONLY = {"sample-across": {HOME, "hallucination", "features"}}
"""Pages that have charts of their own in an arena which is otherwise like another."""


def follow(opened: Opened, entry: PageEntry) -> None:
    """Go to a page by the sidebar, which a phone's width has closed and is still there."""
    opened.page.locator(SIDEBAR).get_by_role("link", name=entry.title, exact=True).dispatch_event("click")
    opened.arrive(entry.title)


def check_first_screen(page: Any, entry: PageEntry) -> None:
    page.wait_for_function(TABLES)
    counts = page.evaluate(COUNT)
    assert {what: n for what, n in counts.items() if n > LIMITS[what]} == {}, entry.name


ON_A_PHONE, IN_BOTH = "nomiracl", ("people", "sample")
"""The arena whose charts are looked at on a phone: they are of all the sample's kinds, with longer names and fewer
systems to tell apart by colour; and those whose charts are looked at in both themes: other arenas have the same kinds.
"""


def check_charts(opened: Opened, systems: Sequence[str], scheme: str, name: str, arena: str) -> tuple[int, str]:
    """Look at the charts of a section of an arena; return how many there are, and the theme that is on now: they take
    turns.
    """
    page = opened.page
    n, wrong = faults(page, systems)
    assert not wrong, (name, scheme)
    if n and arena == ON_A_PHONE:
        page.set_viewport_size(PHONE)
        assert faults(page, systems, n) == (n, []), (name, scheme, "phone")
        page.set_viewport_size(WIDE)
    elif n and arena in IN_BOTH:
        scheme = OTHER[scheme]
        page.emulate_media(color_scheme=scheme)
        page.wait_for_function(GROUND, arg=GROUNDS[scheme])
        opened.settle()
        assert faults(page, systems, n) == (n, []), (name, scheme)
    assert opened.heard == ([], [], []), name
    return n, scheme


@pytest.mark.parametrize("arena", sorted(arenas.bundled_arenas()))
def test_first_screens_hold_little_and_every_chart_is_drawn(start: Start, url: str, arena: str) -> None:
    opened = start()
    page = show(opened, f"{url}/?arena={arena}")
    opened_arena = open_arena(arena)
    systems = answers.scope(opened_arena).systems if "outcomes" in opened_arena.tables else ()
    there = [entry for entry in PAGES if entry.is_offered(opened_arena)]
    assert set(page.locator(f"{SIDEBAR} a").all_inner_texts()) == {entry.title for entry in there}
    for entry in [entry for entry in there if entry.name in WITHOUT_CHART]:
        if entry.name != HOME:
            follow(opened, entry)
        check_first_screen(page, entry)
        # The browser loads Plotly with the first chart.
        loaded = page.evaluate("performance.getEntriesByType('resource').map((entry) => entry.name)")
        assert not [address for address in loaded if "plotly" in address.lower()], entry.name
    total, scheme = 0, "light"
    for entry in there:
        follow(opened, entry)
        if entry.name not in WITHOUT_CHART:
            check_first_screen(page, entry)
        if entry.name not in ONLY.get(arena, {entry.name}):
            continue
        group = page.get_by_role("radiogroup", name="Section")
        sections = group.get_by_role("radio").all_inner_texts() if group.count() else [""]
        for k, section in enumerate(sections):
            if k:  # the first is open
                group.get_by_role("radio", name=section, exact=True).click()
                opened.settle()
            name = f"{entry.name} {section}"
            n, scheme = check_charts(opened, systems, scheme, name, arena)
            total += n
    assert total >= {"published": 1, "people": 2}.get(arena, 6)
    page.close()
