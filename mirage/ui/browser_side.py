"""What the explorer does in the browser beside what is seen: it fetches scripts before they are needed, keeps what
formats numbers, and tells the server whether the page is light or dark.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st

from mirage.store import list_files
from mirage.ui.table import mode

NOW = ("DataFrame",)
"""What draws the first page, as Streamlit names its scripts."""
LATER = (
    "StreamlitSyntaxHighlighter",
    "NumberInput",
    "TextInput",
    "Button",
    "Pagination",
    "PageLink",
    "DownloadButton",
    "FileUploader",
    "PlotlyChart",
)
"""What other pages need beside it; the browser fetches it when it has nothing else to do."""
WAIT = 1_000
"""Milliseconds between two looks whether a page is there and stays, before that; two in turn must say so."""
JS = """
const bringScripts = ({ data }) => {
  // Streamlit fetches what draws an element with the first of its kind: that of tables can be here until the first is
  // counted, and that of other pages when a page has been drawn and is looked at.
  const own = [...document.scripts].find((script) => script.src.includes("/static/js/"))
  const bring = (file) => import(new URL(file, own.src)).catch(() => {})
  if (own && !window.mirageBrought) {
    window.mirageBrought = true
    data.now.forEach(bring)
    const idle = window.requestIdleCallback ?? ((then) => setTimeout(then, 50))
    const next = ([file, ...rest]) => file && idle(() => bring(file).then(() => next(rest)))
    const sent = () => document.querySelector("[data-testid=stApp]")?.dataset.testScriptState === "notRunning"
    let quiet = 0
    let here = location.pathname
    const waiting = setInterval(() => {
      // What has just come is still to be drawn, and who goes from page to page waits for the next: a script as large
      // as that of charts would keep them waiting.
      quiet = sent() && here === location.pathname ? quiet + 1 : 0
      here = location.pathname
      if (quiet < 2) return
      clearInterval(waiting)
      next(data.later)
    }, data.wait)
  }
}
const keepFormats = () => {
  // Streamlit makes a formatter for every number of a table, which takes the browser longer than to use it.
  if (window.mirageFormats) return
  const formats = window.mirageFormats = new Map()
  Intl.NumberFormat = new Proxy(Intl.NumberFormat, {
    construct (NumberFormat, settings, caller) {
      if (caller !== Intl.NumberFormat) return Reflect.construct(NumberFormat, settings, caller)
      const key = JSON.stringify(settings)
      if (!formats.has(key)) formats.set(key, new NumberFormat(...settings))
      return formats.get(key)
    },
  })
}
const tellMode = (component) => {
  // The server draws charts and marks for light or dark, and hears of a change only when the page asks again.
  const root = component.parentElement.host ?? component.parentElement
  let ground = getComputedStyle(root).getPropertyValue("--st-background-color").trim()
  if (!/^#[0-9a-f]{6}$/i.test(ground)) {
    const canvas = document.createElement("canvas").getContext("2d")
    canvas.fillStyle = ground
    ground = canvas.fillStyle
  }
  const [r, g, b] = [1, 3, 5].map((i) => parseInt(ground.slice(i, i + 2), 16))
  const mode = 0.2126 * r + 0.7152 * g + 0.0722 * b < 128 ? "dark" : "light"
  if (mode !== component.data.mode && root.dataset.mode !== mode) {
    component.setTriggerValue("mode", mode)
  }
  root.dataset.mode = mode
}
const prepare = (component) => [bringScripts, keepFormats, tellMode].forEach((step) => step(component))
"""
"""Defines `prepare`, which a component of the frame calls with itself whenever Streamlit calls it."""


def data() -> dict[str, Any]:
    """What `prepare` reads of the component's data."""
    return {"mode": mode(), "now": _scripts(NOW), "later": _scripts(LATER), "wait": WAIT}


@cache
def _scripts(names: Sequence[str]) -> list[str]:
    """Files of this Streamlit's scripts that draw these kinds of elements; none where it keeps them elsewhere."""
    folder = Path(st.__file__).parent / "static" / "static" / "js"
    if not folder.is_dir():
        return []
    return [file.name for name in names for file in list_files(folder, f"{name}.*.js")]
