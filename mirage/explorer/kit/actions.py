"""The menu of every page: copy the link, download, cite."""

from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa
import streamlit as st

from mirage.explorer.kit.table import mode
from mirage.store.arena import Arena
from mirage.store.export import to_csv, to_json, to_parquet
from mirage.text.segmentation import count_text

NOMIRACL = """@inproceedings{thakur-etal-2024-nomiracl,
  title     = {{NoMIRACL}: Knowing When You Don't Know for Robust Multilingual Retrieval-Augmented Generation},
  author    = {Thakur, Nandan and Bonifacio, Luiz and Zhang, Xinyu and Ogundepo, Odunayo and Kamalloo, Ehsan and
               Alfonso-Hermelo, David and Li, Xiaoguang and Liu, Qun and Chen, Boxing and Rezagholizadeh, Mehdi and
               Lin, Jimmy},
  booktitle = {Findings of the Association for Computational Linguistics: EMNLP 2024},
  year      = {2024},
  note      = {arXiv:2312.11361}
}"""
MIRAGE_BENCH = """@inproceedings{thakur-etal-2025-mirage,
  title     = {{MIRAGE-Bench}: Automatic Multilingual Benchmark Arena for Retrieval-Augmented Generation Systems},
  author    = {Thakur, Nandan and Kazi, Suleman and Luo, Ge and Lin, Jimmy and Ahmad, Amin},
  booktitle = {Proceedings of NAACL 2025 (Long Papers)},
  year      = {2025},
  note      = {arXiv:2410.13716}
}"""

_COPY_CSS = """
button {
  font: inherit; color: var(--st-text-color); background: var(--st-background-color);
  border: 1px solid var(--st-widget-border-color, var(--st-border-color)); border-radius: var(--st-button-radius);
  font-size: 0.875rem; padding: 0.25rem 0.75rem; min-height: 2.5rem; cursor: pointer; white-space: nowrap;
}
button:hover { border-color: var(--st-primary-color); color: var(--st-primary-color); }
button:focus-visible { outline: 2px solid var(--st-primary-color); outline-offset: 1px; }
"""
_WATCH_JS = """
const reportMode = (component) => {
  // Charts are drawn on the server for one mode, and Streamlit does not rerun the page when the mode changes.
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
const keepHistoryByPage = () => {
  // A page puts its own address right after it was opened, which must not take a press of Back.
  if (history.mirage) return
  history.mirage = true
  const push = history.pushState.bind(history)
  // A link puts its query into the address of the page it leaves; Back leads to the address that was there.
  let left = null
  document.addEventListener("click", (event) => {
    if (event.target.closest?.("a, button")) left = [history.state, "", window.location.href]
  }, true)
  history.pushState = (state, title, url) => {
    const same = new URL(url ?? "", window.location.href).pathname === window.location.pathname
    if (same) return history.replaceState(state, title, url)
    if (left) history.replaceState(...left)
    left = null
    return push(state, title, url)
  }
}
export default function (component) {
  keepHistoryByPage()
  reportMode(component)
}
"""
_COPY_JS = """
export default function (component) {
  const button = component.parentElement.querySelector("button")
  button.onclick = async () => {
    const address = new URL(window.location.href)
    const pairs = new Set([...address.searchParams].map((pair) => JSON.stringify(pair)))
    address.search = new URLSearchParams([...pairs].map((pair) => JSON.parse(pair)))
    if (!address.searchParams.has("arena")) address.searchParams.set("arena", component.data.arena)
    const link = address.href
    let done = false
    try {
      await navigator.clipboard.writeText(link)
      done = true
    } catch {
      const field = document.createElement("textarea")
      field.value = link
      document.body.append(field)
      field.select()
      done = document.execCommand("copy")
      field.remove()
    }
    button.textContent = done ? "Link copied" : "Copy it from the address bar"
    setTimeout(() => { button.textContent = "Copy link" }, 2000)
  }
}
"""


def watch_browser() -> None:
    """Rerun the page when the reader switches between light and dark, and give every page one entry in the browser's
    history.
    """
    component = st.components.v2.component("mirage_watch", html="<span></span>", js=_WATCH_JS)
    with st.container(key="bound_watch"):
        component(key="frame_watch", data={"mode": mode()}, on_mode_change=lambda: None)


def copy_link(arena: str) -> None:
    """Draw a button that copies the page's address, which holds its whole state.

    The copied link always names the arena, since another machine may have another default.
    """
    html = "<button type='button'>Copy link</button>"
    component = st.components.v2.component("mirage_copy_link", html=html, css=_COPY_CSS, js=_COPY_JS)
    component(key="frame_copy", data={"arena": arena})


def cite(arena: Arena) -> None:
    """Show the papers behind an arena, and the arena's own version and licence."""
    with st.expander("Cite"):
        st.caption("The papers")
        st.code(f"{NOMIRACL}\n\n{MIRAGE_BENCH}", language="bibtex", wrap_lines=True, height=260)
        st.caption("This data")
        licence = str(arena.manifest.get("licence", ""))
        version = f"{arena.title} ({arena.label}), version {arena.version}" + (f", {licence}" if licence else "")
        st.code(version, language=None, wrap_lines=True)


_SLIDE_JS = """
const [WIDTH, HEIGHT, MARGIN] = [1920, 1080, 80]
const load = (svg) => new Promise((done, fail) => {
  const image = new Image()
  image.onload = () => done(image)
  image.onerror = fail
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`
})
const wrap = (context, text) => {
  const lines = [""]
  for (const word of text.split(" ")) {
    const longer = `${lines.at(-1)} ${word}`.trim()
    if (context.measureText(longer).width <= WIDTH - 2 * MARGIN) lines[lines.length - 1] = longer
    else lines.push(word)
  }
  return lines
}
export default function ({ data, parentElement }) {
  const button = parentElement.querySelector("button")
  const chart = () => [...document.querySelectorAll("[data-testid=stMain] .js-plotly-plot svg.main-svg")]
  button.hidden = !data.svg && !chart().length
  button.onclick = async () => {
    const canvas = Object.assign(document.createElement("canvas"), { width: WIDTH, height: HEIGHT })
    const context = canvas.getContext("2d")
    const font = (size, weight = 400) => `${weight} ${size}px system-ui, "Noto Sans", sans-serif`
    context.fillStyle = data.ground
    context.fillRect(0, 0, WIDTH, HEIGHT)
    context.fillStyle = data.ink
    let y = MARGIN
    for (const [text, size, weight] of [[data.title, 44, 600], [data.about, 24, 400]]) {
      context.font = font(size, weight)
      for (const line of wrap(context, text)) context.fillText(line, MARGIN, (y += 1.3 * size))
      y += size / 2
    }
    const first = chart()[0]?.closest(".js-plotly-plot")
    const drawn = data.svg && !(data.beside && first) ? [] : [...first.querySelectorAll("svg.main-svg")].map(
      (svg) => new XMLSerializer().serializeToString(svg))
    const layers = await Promise.all(drawn.map(load))
    // The layers of a chart lie on each other, the picture beside them.
    const images = data.svg ? [...layers, await load(data.svg)] : layers
    const [left, last] = [data.svg && layers.length ? layers[0].width + MARGIN / 2 : 0, images.at(-1)]
    const height = Math.max(images[0].height, last.height)
    const scale = Math.min((WIDTH - 2 * MARGIN) / (left + last.width), (HEIGHT - MARGIN - y) / height)
    for (const image of images) {
      const x = MARGIN + (image === last ? left * scale : 0)
      context.drawImage(image, x, y, image.width * scale, image.height * scale)
    }
    context.font = font(20)
    context.fillText(data.source, MARGIN, HEIGHT - MARGIN / 2)
    const link = document.createElement("a")
    link.download = data.file
    link.href = canvas.toDataURL("image/png")
    link.click()
  }
}
"""


def download(
    name: str, make_rows: Callable[[], pa.Table], about: Mapping[str, Any], slide: Callable[[], Mapping[str, str]]
) -> None:
    """Offer downloads of the same rows; the JSON also has the facts about them.

    Args:
        name: stem of the files' names.
        make_rows: returns the rows.
        about: the facts.
        slide: returns what the picture of slide size shows (`frame.Page`): `title, about, source, ground, ink`, and
            `svg`, empty for the page's first chart, or `beside` it.
    """
    rows = make_rows()
    html = "<button type='button'>PNG for slides</button>"
    component = st.components.v2.component("mirage_slide", html=html, css=_COPY_CSS, js=_SLIDE_JS)
    component(key="frame_slide", data={**slide(), "file": f"{name}.png"})
    st.caption(f"The rows shown, unrounded: {count_text(len(rows), 'row')}, {count_text(rows.num_columns, 'column')}.")
    kinds: tuple[tuple[str, Callable[[], str | bytes], str, str | None], ...] = (
        ("CSV", lambda: to_csv(rows), "text/csv", None),
        ("JSON", lambda: to_json(rows, about), "application/json", "With metadata on how the rows were computed."),
        ("Parquet", lambda: to_parquet(rows), "application/vnd.apache.parquet", None),
    )
    with st.container(horizontal=True, gap="small"):
        for label, make, mime, meaning in kinds:
            st.download_button(label, make, f"{name}.{label.lower()}", mime, on_click="ignore", help=meaning)
    st.radio("Chart image format", ["PNG", "SVG"], key="image", horizontal=True, persist_state="session")


def image_format() -> str:
    """Return the format in which a chart's camera button saves it."""
    return str(st.session_state.get("image", "PNG")).lower()
