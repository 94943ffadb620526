"""Charts drawn as SVG in one piece, with the hovers and clicks that Plotly gives others."""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

import streamlit as st

from mirage.explorer.kit.table import mode
from mirage.publish.charts.drawing import draw
from mirage.publish.charts.palette import ink

_DRAWN = "_drawn"
"""In the session: the name of the drawing that was last shown under each key."""
_NEAR = 12
"""Pixels from a mark within which it is meant, beyond half of its size."""

_CSS = """
.drawing { position: relative; }
.field { content-visibility: auto; }
.legend {
  display: flex; flex-wrap: wrap; gap: 4px 16px; padding: 0 8px 8px; font-size: 12px; color: var(--st-text-color);
}
.legend:empty { display: none; }
.legend span { display: inline-flex; align-items: center; gap: 6px; }
svg { display: block; overflow: visible; }
.tip {
  position: absolute; z-index: 9; pointer-events: none; white-space: nowrap; padding: 4px 8px; font-size: 12px;
  line-height: 1.35; color: var(--st-text-color); background: var(--st-background-color);
  border: 1px solid var(--st-border-color); border-radius: 3px;
}
.tip:empty { display: none; }
.ring { fill: none; stroke-width: 2.5; pointer-events: none; }
.over { cursor: pointer; }
"""
_JS = """
export default function ({ parentElement, data: bytes, setStateValue }) {
  const root = parentElement.querySelector(".drawing")
  const json = new TextDecoder().decode(bytes)
  if (root.json === json) return
  const data = JSON.parse(json)
  root.json = json
  if (root.dataset.of !== data.of) {
    const make = (className) => Object.assign(document.createElement("div"), { className })
    const [legend, field, tip] = ["legend", "field", "tip"].map(make)
    legend.innerHTML = data.legend
    field.style.padding = `0 ${data.right}px 0 ${data.left}px`
    field.style.containIntrinsicHeight = `${data.height}px`
    field.innerHTML = data.svg
    root.replaceChildren(legend, field, tip)
    root.dataset.of = data.of
    root.picked = -1
  }
  root.setAttribute("role", "img")
  root.setAttribute("aria-label", data.alt)
  const field = root.querySelector(".field")
  const svg = field.querySelector("svg")
  const tip = root.querySelector(".tip")
  const near = (event) => {
    const box = svg.getBoundingClientRect()
    const [x, y] = [event.clientX - box.left, event.clientY - box.top]
    let best = -1, least = data.near * data.near
    data.marks.forEach((mark, k) => {
      const distance = (mark[0] * box.width - x) ** 2 + (mark[1] - y) ** 2
      if (distance < least) [best, least] = [k, distance]
    })
    return best
  }
  const words = (markup) => new DOMParser().parseFromString(markup, "text/html").body.textContent
  const say = (markup) => markup.split("<br>").map((line) => {
    const row = document.createElement("div")
    const [, bold, rest] = /^<b>(.*?)<\\/b>(.*)$/s.exec(line) ?? [null, "", line]
    if (bold) row.append(Object.assign(document.createElement("b"), { textContent: words(bold) }))
    row.append(words(rest))
    return row
  })
  const ring = (k) => {
    svg.querySelector(".ring")?.remove()
    if (k < 0) return
    const mark = document.createElementNS(svg.namespaceURI, "rect")
    const side = data.size + 4
    for (const [name, value] of Object.entries({
      class: "ring", x: `${100 * data.marks[k][0]}%`, y: data.marks[k][1], width: side, height: side, rx: 2,
      transform: `translate(${-side / 2} ${-side / 2})`, stroke: data.ink,
    })) mark.setAttribute(name, value)
    svg.append(mark)
  }
  ring(root.picked)
  root.onpointermove = (event) => {
    const k = near(event)
    root.classList.toggle("over", k >= 0 && data.marks[k][3] !== null)
    if (k < 0) { tip.replaceChildren(); return }
    const [share, y, markup] = data.marks[k]
    const box = svg.getBoundingClientRect()
    tip.replaceChildren(...say(markup))
    const left = data.left + share * box.width
    const right = left + 14 + tip.offsetWidth > root.clientWidth
    tip.style.left = `${right ? Math.max(0, left - 14 - tip.offsetWidth) : left + 14}px`
    tip.style.top = `${field.offsetTop + Math.max(0, y - tip.offsetHeight / 2)}px`
  }
  root.onpointerleave = () => tip.replaceChildren()
  root.onclick = (event) => {
    const k = near(event)
    if (k < 0 || data.marks[k][3] === null) return
    root.picked = k === root.picked ? -1 : k
    ring(root.picked)
    setStateValue("picked", root.picked < 0 ? null : [data.of, ...data.marks[k][3]])
  }
}
"""


def show_drawing(figure: Mapping[str, Any], *, key: str, alt: str, select: bool) -> Any:
    """Show a figure without Plotly.

    Args:
        figure: `data` and `layout` as `mirage.publish.charts.drawing.draw` takes them, for the page's mode.
        key: unique on the page.
        alt: what the chart shows, in a sentence, for those who do not see it.
        select: whether a click on a mark yields something.

    Returns:
        `customdata` of the clicked mark, or None.
    """
    of, data = _data(figure, alt=alt, select=select, color=ink(mode()).text)
    component = st.components.v2.component("mirage_drawing", html='<div class="drawing"></div>', css=_CSS, js=_JS)
    st.session_state.setdefault(_DRAWN, {})[key] = of
    component(key=key, data=data, on_picked_change=lambda: None)
    return picked(key)


def picked(key: str) -> Any:
    """`customdata` of the mark that was clicked in the drawing that was last shown under a key, or None."""
    mark = st.session_state[key].get("picked")
    return mark[1:] if mark and mark[0] == st.session_state[_DRAWN][key] else None


def is_drawing(key: str) -> bool:
    """Whether a drawing was shown under a key."""
    return key in st.session_state.get(_DRAWN, {})


def _data(figure: Mapping[str, Any], *, alt: str, select: bool, color: str) -> tuple[str, bytes]:
    """The name of a drawing, by what is drawn, and what the component is sent: JSON."""
    drawn = draw(figure)
    of = sha256(drawn.svg.encode()).hexdigest()[:16]
    data = {
        "of": of,
        "svg": drawn.svg,
        "marks": [(*mark[:3], mark[3] if select else None) for mark in drawn.marks],
        "left": drawn.left,
        "right": drawn.right,
        "height": drawn.height,
        "legend": drawn.legend,
        "size": drawn.size,
        "near": drawn.size / 2 + _NEAR,
        "alt": alt,
        "ink": color,
    }
    return of, json.dumps(data, ensure_ascii=False).encode()
