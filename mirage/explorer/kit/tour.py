"""A guided tour of five steps, started by a button in the sidebar.

It runs in the browser: the card is outside the application and persists across pages.
"""

from __future__ import annotations

import streamlit as st

STEPS = (
    ("leaderboard", "Who is best, and how sure is that?", (
        "The bar is the interval of a system's rank: systems whose ranks overlap may be equally good. Click a system "
        "to read its answers."
    )),
    ("compare", "Is A better than B?", (
        "Choose two systems. See whether they differ, in which languages, and how many more queries would be needed."
    )),
    ("answers", "What did each system answer?", (
        "Every number comes from single answers. Read them with their passages, and see why each decision is correct "
        "or wrong. Without texts here, open the arena sample."
    )),
    ("judges", "Can I trust this judge?", (
        "How often a judge agrees with people, with other judges, and with itself when the answer order changes. "
        "Without judgments here, open the arena sample."
    )),
    ("your_model", "Where would mine stand?", (
        "Upload your system's answers, or query it with one command. It is measured and ranked locally."
    )),
)  # fmt: skip
"""Page, question and text of each step."""
CARD = "mirage-tour"
"""Id of the card in the page."""

_CSS = """
button { font: inherit; font-size: 0.875rem; color: var(--st-link-color); background: none; border: 0;
  padding: 0.25rem 0; cursor: pointer; }
button:hover { text-decoration: underline; }
button:focus-visible { outline: 2px solid var(--st-primary-color); outline-offset: 1px; }
"""
_JS = """
export default function (component) {
  const { id, steps } = component.data
  const root = component.parentElement.host ?? component.parentElement
  component.parentElement.querySelector("button").onclick = () => {
    if (!document.getElementById(id)) start(id, steps, root)
  }
}
function start(id, steps, root) {
  const card = document.createElement("section")
  card.id = id
  card.setAttribute("aria-label", "Guided tour")
  const inside = card.attachShadow({ mode: "open" })
  inside.innerHTML = `<style>
    :host { position: fixed; z-index: 1000000; inset-block-end: 1rem; inset-inline-end: 1rem;
      width: min(21rem, calc(100vw - 2rem)); font: 0.9rem/1.45 var(--font, sans-serif); color: var(--ink);
      background: var(--ground); border: 1px solid var(--line); border-radius: 8px;
      box-shadow: 0 6px 24px rgb(0 0 0 / 18%); }
    div { padding: 0.9rem 1rem; } p { margin: 0.35rem 0 0.8rem; } strong { display: block; }
    small { opacity: 0.75; } nav { display: flex; gap: 0.5rem; align-items: center; }
    button { font: inherit; color: inherit; background: none; border: 1px solid var(--line); border-radius: 6px;
      padding: 0.25rem 0.75rem; min-height: 2.25rem; cursor: pointer; }
    button.main { background: var(--main); border-color: var(--main); color: #fff; }
    button.end { margin-inline-start: auto; border-color: transparent; }
    button:focus-visible { outline: 2px solid var(--main); outline-offset: 2px; }
    button[hidden] { display: none; }
  </style><div><small></small><strong></strong><p></p><nav><button class="main"></button>
  <button class="back">Back</button><button class="end">Dismiss</button></nav></div>`
  const part = (name) => inside.querySelector(name)
  const paint = () => {
    const style = getComputedStyle(root)
    const value = (name) => style.getPropertyValue(name).trim()
    for (const [name, from] of [["ink", "text-color"], ["ground", "background-color"], ["line", "border-color"],
      ["main", "primary-color"], ["font", "font"]]) {
      if (value(`--st-${from}`)) card.style.setProperty(`--${name}`, value(`--st-${from}`))
    }
  }
  const go = (page) => {
    const links = [...document.querySelectorAll("[data-testid=stSidebarNavLink]")]
    const path = (link) => new URL(link.href).pathname.replace(/\\/$/, "")
    const home = path(links[0])
    const link = page === steps[0].page ? links[0] : links.find((each) => path(each) === `${home}/${page}`)
    if (link) link.click()
  }
  let step = 0
  const show = () => {
    part("small").textContent = `Tour, step ${step + 1} of ${steps.length}`
    part("strong").textContent = steps[step].title
    part("p").textContent = steps[step].text
    part(".main").textContent = step + 1 < steps.length ? "Next" : "Done"
    part(".back").hidden = step === 0
  }
  const end = () => card.remove()
  const move = (by) => { step += by; show(); go(steps[step].page) }
  part(".main").onclick = () => (step + 1 < steps.length ? move(1) : end())
  part(".back").onclick = () => move(-1)
  part(".end").onclick = end
  inside.addEventListener("keydown", (event) => { if (event.key === "Escape") end() })
  paint()
  show()
  document.body.append(card)
  // On a phone the open sidebar covers the page.
  if (innerWidth < 768) document.querySelector("[data-testid=stSidebarCollapseButton] button")?.click()
  go(steps[0].page)
  part(".main").focus()
}
"""


def offer() -> None:
    """Draw the button that starts the tour."""
    html = "<button type='button'>Take the tour</button>"
    component = st.components.v2.component("mirage_tour", html=html, css=_CSS, js=_JS)
    steps = [{"page": page, "title": title, "text": text} for page, title, text in STEPS]
    component(key="frame_tour", width="content", data={"id": CARD, "steps": steps})
