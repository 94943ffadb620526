"use strict"
// Texts of others reach the page as text (textContent) and in no other way.
const data = JSON.parse(document.getElementById("data").textContent)
const byId = (id) => document.getElementById(id)
const CHOICES = [["A", "1"], ["B", "2"], ["tie", "3"], ["both_bad", "4"], ["skip", "s"]]
// A ballot of labels asks three questions of a query; the second is the vote.
const LABELS = data.head.kind === "labels"
const QUESTIONS = [["asked", "123"], ["vote", "456"], ["right_language", "789"]]
const OPINIONS = ["yes", "no", "unclear"]
const PLACE = "mirage-ballot-" + data.head.ballot
const ids = new Set(data.items.map((item) => item.id))

// The log: votes and takings back in the order in which they were given. Nothing is ever taken out of it.
let state = { voter: data.voter ?? "", events: [], words: null, position: 0 }
let keeps = true
let stored = null
try { stored = JSON.parse(localStorage.getItem(PLACE)) } catch { keeps = false }
// A reload finds the log in the tab's history, too: a browser that has just started may lose what it was told to store.
const before = [stored, history.state?.[PLACE]].filter((log) => Array.isArray(log?.events))
  .reduce((longest, log) => (longest && longest.events.length >= log.events.length ? longest : log), null)
if (before) {
  state = { ...state, ...before }
  state.voter = data.voter ?? String(before.voter ?? "")
  state.events = before.events.filter((event) => event.vote === "undo" || ids.has(event.item))
}
if (!(state.words in data.words)) state.words = Object.keys(data.words).at(-1)
if (!(state.position in data.items)) state.position = 0
let seen = performance.now()
let draft = {}

const word = (name) => data.words[state.words][name] ?? data.words.en[name]
const fill = (name, values) => word(name).replace(/\{(\w+)\}/g, (_, key) => values[key])

function keep() {
  try { history.replaceState({ [PLACE]: state }, "") } catch { /* a reload then has what is stored */ }
  try { localStorage.setItem(PLACE, JSON.stringify(state)) } catch { keeps = false }
}

function standing() {
  const undone = new Set(state.events.filter((e) => e.vote === "undo").map((e) => e.undoes))
  const votes = new Map()
  state.events.forEach((event, n) => { if (event.vote !== "undo" && !undone.has(n)) votes.set(event.item, { ...event, n }) })
  return votes
}

// The direction of most letters, not of the first: answers begin with English markers. Without letters: the language's.
function direction(text) {
  const letters = text.match(/\p{L}/gu) ?? []
  const leftward = letters.filter((letter) => /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]/.test(letter))
  return letters.length === 0 ? data.direction : 2 * leftward.length > letters.length ? "rtl" : "ltr"
}

function put(element, text) {
  element.textContent = text ?? ""
  element.lang = data.head.language
  element.dir = direction(text ?? "")
  return element
}

function make(tag, className, text) {
  const element = document.createElement(tag)
  element.className = className
  return text === undefined ? element : put(element, text)
}

// An answer in its parts, with citations as small numbers that lead to their passages; as written, a click away.
function answer(element, text, pieces) {
  if (pieces.length === 0) return put(element, text)
  element.dir = direction(text ?? "")
  const shown = make("div", "text")
  shown.lang = data.head.language
  shown.append(...pieces.map(([kind, piece, number]) => {
    if (kind === "text") return document.createTextNode(piece)
    const mark = document.createElement(kind === "part" ? "b" : number ? "a" : "sup")
    mark.className = kind
    mark.textContent = kind === "part" ? word(piece) : piece
    if (number) mark.href = `#passage-${number}`
    return mark
  }))
  const raw = make("details", "raw")
  const name = document.createElement("summary")
  name.textContent = word("written")
  raw.append(name, make("div", "text", text))
  element.replaceChildren(shown, raw)
  return element
}

function passage(entry, number, voted) {
  const box = make("div", "passage")
  box.id = `passage-${number}`
  const head = document.createElement("header")
  head.append(make("span", "", `${number}`), make("b", "", entry.title ?? ""), make("span", "", entry.id))
  if (voted && entry.relevant !== null) {
    const label = make("span", "label")
    label.textContent = word(entry.relevant ? "relevant" : "irrelevant")
    head.append(label)
  }
  box.append(head, make("div", "text", entry.text ?? ""))
  return box
}

function turn([speaker, text]) {
  const box = make("div", "turn")
  box.append(make("h3", "", speaker), make("div", "text", text ?? ""))
  return box
}

function choice(name, key, pressed, disabled, action) {
  const button = document.createElement("button")
  const mark = document.createElement("kbd")
  mark.textContent = key
  button.type = "button"
  button.dataset.vote = name
  button.append(mark, ` ${word(name)}`)
  button.disabled = disabled
  button.setAttribute("aria-pressed", String(pressed))
  button.addEventListener("click", action)
  return button
}

function question(name, keys, vote, closed) {
  const group = make("div", "question")
  const title = document.createElement("span")
  title.id = `question-${name}`
  title.textContent = fill(`question_${name}`, { language: data.title })
  group.setAttribute("role", "group")
  group.setAttribute("aria-labelledby", title.id)
  const said = vote ? vote[name] : draft[name]
  group.append(title, ...OPINIONS.map((opinion, k) =>
    choice(opinion, keys[k], said === opinion, closed, () => say(name, opinion))))
  return group
}

// The vote is cast with the last of the three answers.
function say(name, opinion) {
  if (standing().has(data.items[state.position].id) || state.voter.trim() === "") return
  draft = { ...draft, [name]: opinion }
  if (QUESTIONS.every(([other]) => other in draft)) cast(draft.vote)
  else draw(false)
}

function draw(top) {
  const votes = standing()
  const item = data.items[state.position]
  const vote = votes.get(item.id)
  document.documentElement.lang = state.words
  document.documentElement.dir = data.words[state.words].direction
  for (const element of document.querySelectorAll("[data-word]")) element.textContent = word(element.dataset.word)
  byId("title").textContent = `${word("title")}: ${data.title}`
  document.title = byId("title").textContent
  byId("voter").readOnly = data.voter !== null
  if (byId("voter").value !== state.voter) byId("voter").value = state.voter
  byId("progress").max = data.items.length
  byId("progress").value = votes.size
  byId("progress").setAttribute("aria-label", word("title"))
  byId("count").textContent = fill(LABELS ? "count_queries" : "count", { k: state.position + 1, n: data.items.length, voted: votes.size })
  byId("turns").replaceChildren(...item.turns.map(turn))
  put(byId("query"), item.query)
  byId("sides").hidden = LABELS
  if (!LABELS) {
    answer(byId("first"), item.answers[0], item.pieces[0])
    answer(byId("second"), item.answers[1], item.pieces[1])
  }
  byId("passages").hidden = item.passages.length === 0
  byId("list").replaceChildren(...item.passages.map((entry, k) => passage(entry, k + 1, vote !== undefined)))
  const closed = vote !== undefined || state.voter.trim() === ""
  if (LABELS) {
    const skip = choice("skip", "s", vote?.vote === "skip", closed, () => cast("skip"))
    byId("votes").className = "questions"
    byId("votes").replaceChildren(...QUESTIONS.map(([name, keys]) => question(name, keys, vote, closed)), skip)
  } else {
    byId("votes").replaceChildren(...CHOICES.map(([name, key]) =>
      choice(name, key, vote?.vote === name, closed, () => cast(name))))
  }
  byId("note").placeholder = word("note")
  byId("note").setAttribute("aria-label", word("note"))
  byId("note").disabled = vote !== undefined
  byId("note").value = vote?.note ?? ""
  byId("undo").disabled = votes.size === 0
  byId("back").disabled = state.position === 0
  byId("next").disabled = state.position === data.items.length - 1
  byId("save").disabled = byId("copy").disabled = state.events.length === 0 || state.voter.trim() === ""
  byId("done").hidden = votes.size < data.items.length
  byId("languages").replaceChildren(...Object.keys(data.words).filter(() => Object.keys(data.words).length > 1).map((code) => {
    const button = document.createElement("button")
    button.type = "button"
    button.lang = code
    button.textContent = data.words[code].name
    button.setAttribute("aria-pressed", String(code === state.words))
    button.addEventListener("click", () => { state.words = code; keep(); draw(false) })
    return button
  }))
  tell(state.voter.trim() === "" ? "nameless" : keeps ? null : "unkept")
  if (top) { scrollTo(0, 0); seen = performance.now() }
}

function tell(name) {
  byId("problem").hidden = name === null
  byId("problem").textContent = name === null ? "" : word(name)
}

function time() { return new Date().toISOString().replace("Z", "000Z") }

function go(position) {
  if (position < 0 || position >= data.items.length) return
  state.position = position
  draft = {}
  keep()
  draw(true)
}

function cast(choice) {
  const item = data.items[state.position]
  if (standing().has(item.id) || state.voter.trim() === "") return
  const seconds = Math.round(performance.now() - seen) / 1000
  const note = byId("note").value.trim() || null
  const more = LABELS ? { asked: draft.asked ?? null, right_language: draft.right_language ?? null } : {}
  state.events.push({ item: item.id, vote: choice, ...more, time: time(), seconds, note })
  const votes = standing()
  const order = data.items.map((_, k) => (state.position + 1 + k) % data.items.length)
  const next = order.find((k) => !votes.has(data.items[k].id))
  go(next ?? state.position)
}

function undo() {
  const last = Math.max(-1, ...[...standing().values()].map((vote) => vote.n))
  if (last < 0) return
  const { item } = state.events[last]
  state.events.push({ vote: "undo", undoes: last, time: time() })
  go(data.items.findIndex((other) => other.id === item))
}

async function file() {
  const lines = [{ ...data.head, voter: state.voter.trim() }, ...state.events].map((line) => JSON.stringify(line) + "\n")
  const bytes = new TextEncoder().encode(lines.join(""))
  const secret = Uint8Array.from(data.key.match(/../g), (pair) => parseInt(pair, 16))
  const key = await crypto.subtle.importKey("raw", secret, { name: "HMAC", hash: "SHA-256" }, false, ["sign"])
  const signed = new Uint8Array(await crypto.subtle.sign("HMAC", key, bytes))
  const signature = [...signed].map((byte) => byte.toString(16).padStart(2, "0")).join("")
  return lines.join("") + JSON.stringify({ signature }) + "\n"
}

async function save() {
  try {
    const link = document.createElement("a")
    link.href = URL.createObjectURL(new Blob([await file()], { type: "application/jsonl" }))
    link.download = `ballot-${data.head.ballot}.jsonl`
    link.click()
    setTimeout(() => URL.revokeObjectURL(link.href), 60000)
    tell("saved")
  } catch { tell("unsaved") }
}

async function copy() {
  try {
    await navigator.clipboard.writeText(await file())
    tell("copied")
  } catch { tell("unsaved") }
}

byId("voter").maxLength = data.longest.voter
byId("note").maxLength = data.longest.note
byId("voter").addEventListener("input", (event) => { state.voter = event.target.value; keep(); draw(false) })
byId("back").addEventListener("click", () => go(state.position - 1))
byId("next").addEventListener("click", () => go(state.position + 1))
byId("undo").addEventListener("click", undo)
byId("save").addEventListener("click", save)
byId("copy").addEventListener("click", copy)
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || event.isComposing) return
  if (event.target.matches?.("input")) {
    if (event.key === "Enter" || event.key === "Escape") event.target.blur()
    return
  }
  const key = event.key.toLowerCase()
  const choice = LABELS ? (key === "s" ? ["skip"] : undefined) : CHOICES.find(([, own]) => own === key)
  const asked = LABELS ? QUESTIONS.find(([, keys]) => key.length === 1 && keys.includes(key)) : undefined
  const action = choice ? () => cast(choice[0]) : asked ? () => say(asked[0], OPINIONS[asked[1].indexOf(key)]) : {
    u: undo, ArrowLeft: () => go(state.position - 1), ArrowRight: () => go(state.position + 1),
  }[event.key]
  if (action) { event.preventDefault(); action() }
})
draw(true)
