"""Frame of every page: router, shared pickers, title and question, link, download, citation.

A page's last line is `show("name", main)`. Where the router runs it, the pickers are drawn already; where Streamlit
runs the page file without `app.py` (the first request after a start being a deep link), `show` sets the router up and
starts again. A page that is itself the main script (in a test) draws the pickers on its own.

The same code draws the sidebar and the head of the page on every page, so a browser keeps them between pages. `main`
runs in a fragment: a click in it reruns `main` only, not the router, the sidebar or the head.
"""

import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import urlsplit

import pyarrow as pa
import streamlit as st

from mirage.errors import MirageError, TableMissing, UnknownName
from mirage.explorer.kit import actions, identity, sidebar
from mirage.explorer.kit.layout import ICON, Head, logo, sign, stylesheet
from mirage.explorer.kit.page_list import HOME, PAGES, PageEntry
from mirage.explorer.kit.pick import arrive, check_link, link_state, pick
from mirage.explorer.kit.states import missing, refuse, show_error
from mirage.explorer.kit.table import mode
from mirage.explorer.kit.text import plain
from mirage.publish.charts.palette import arena_looks, ink
from mirage.store import home, owned
from mirage.store.arena import Arena, reopen
from mirage.store.query_rows import of_query
from mirage.views.overview import contents_view

_ROUTED = "_routed"
"""Session key: the router was called from a page."""
_HEADS = "_heads"
"""Session key: the last header of every page and arena."""
_GO = "_go"
"""Session key: the target page of an internal link, and its parameters."""
SAMPLE = "sample"
"""The bundled arena with texts."""


AT_ONCE = 2
"""Pages computed at a time: a second one uses the processor while the first reads a file or multiplies matrices."""
PATIENCE = 1.0
"""Seconds after which a page runs out of turn, so that a few slow pages cannot stop all others."""

_turns = threading.BoundedSemaphore(AT_ONCE)


class _PageEnd(Exception):
    """Raised to end a page early."""


@dataclass
class _Frame:
    """The row above a page, shared by all pages."""

    head: Head
    offer: Callable[[], None] | None = None
    """Draws the page's downloads after it has run; None without downloads."""


_frame: ContextVar[_Frame | None] = ContextVar("frame", default=None)
"""The frame drawn by the router around the running page."""


@dataclass(frozen=True)
class Page:
    """Context of a page: the chosen arena and languages, and its frame."""

    entry: PageEntry
    arena: Arena
    picked: tuple[str, ...]
    """Selected languages, sorted by code; empty for all."""
    _frame: _Frame

    def languages(self, table: str) -> tuple[str, ...]:
        """Return the languages to show: the selected languages that the table has, else all of its languages."""
        return tuple(code for code in self.arena.languages(table) if not self.picked or code in self.picked)

    def need(self, table: str) -> None:
        """Show the missing state and stop unless the arena has a table."""
        try:
            self.arena.need(table)
        except TableMissing as error:
            if self.arena.tags and error.table in self.arena.whole.tables:
                with st.container(border=True):
                    st.markdown(f"**No {plain(error.table)} for queries with these tags.**")
                    st.caption("Remove a tag in the sidebar.")
            else:
                missing(error, why=self.describe_tables())
                self.offer_arena(error.table)
            stop()

    def offer_arena(self, table: str) -> None:
        """Draw a button that opens another arena that has a table, at the query of the address if one has it; nothing
        if there is none.
        """
        able = {name: arena for name, arena in other_arenas(self.arena).items() if table in arena.tables}
        query = st.query_params.get("query", "")
        same = next((name for name, arena in able.items() if _has_query(arena, query)), None)
        # The sample always exists and is small.
        name = same or (SAMPLE if SAMPLE in able else next(iter(able), None))
        if name is None:
            return
        label = f"Open this query in {plain(name)}" if same else f"Open the arena {plain(name)}"
        if st.button(label, key="open_other", help=able[name].title):
            if not same:
                st.query_params.pop("query", None)
            switch(able[name].path)

    def describe_tables(self) -> str:
        """Describe the arena's tables, for the message that one is missing."""
        tables = self.arena.whole.tables
        has = f"{', '.join(tables[:-1])} and {tables[-1]}" if len(tables) > 1 else "".join(tables) or "no table"
        return f"The arena “{self.arena.title}” has {has}."

    def label(self, label: str) -> None:
        """Replace the badge next to the title, for pages that show other numbers than the arena's own."""
        self._frame.head.label(label)

    def ask(self, question: str) -> None:
        """Replace the question under the title, where the arena cannot answer it."""
        self._frame.head.ask(question)

    def summary(self, text: str, *, conclusion: str = "") -> None:
        """Write the text below the question.

        Args:
            text: what is shown, its n, and the filters. Plain text.
            conclusion: the answer to the page's question, in a sentence or two. Plain text.
        """
        tags = f" Only {sidebar.tags_line(self.arena)}." if self.arena.tags else ""
        self._frame.head.fill(text + tags, conclusion)

    def download(
        self,
        name: str,
        rows: Callable[[], pa.Table],
        *,
        about: Mapping[str, Any],
        picture: Callable[[], str] | None = None,
        beside: bool = False,
    ) -> None:
        """Offer the displayed data as CSV, JSON and Parquet and as a picture, in the same place on every page.

        Args:
            name: stem of the file name.
            rows: returns the displayed rows, unrounded.
            about: judge, filters, seed and so on; included in the JSON with the arena and its version.
            picture: returns the SVG to put on a slide; by default the first chart.
            beside: whether the first chart is placed to the left of the picture.
        """
        facts = {
            "arena": self.arena.name,
            "title": self.arena.title,
            "numbers": self.arena.label,
            "version": self.arena.version,
            "page": self.entry.name,
            **({"tags": [f"{tag}: {value}" for tag, value in self.arena.tags]} if self.arena.tags else {}),
            **about,
        }
        self._frame.offer = partial(
            actions.download, f"{self.arena.name}-{name}", rows, facts, partial(self._slide, picture, beside)
        )

    def _slide(self, picture: Callable[[], str] | None, beside: bool) -> dict[str, str]:
        """Return the texts of a slide: the page's finding, its basis, and the source."""
        head = self._frame.head
        licence = self.arena.manifest.get("licence")
        source = f"{self.arena.title} ({self.arena.label}), version {self.arena.version}"
        with arena_looks(contents_view(self.arena.whole).systems, mode()):
            return {
                "title": head.conclusion or f"{self.entry.title}: {self.entry.question}",
                "about": head.summary,
                "source": f"{source}, {licence}. mirage" if licence else f"{source}. mirage",
                "svg": picture() if picture else "",
                "beside": "chart" if beside else "",
                "ground": ink().ground,
                "ink": ink().text,
            }


def stop() -> NoReturn:
    """End the page here and keep what is drawn.

    Unlike `st.stop`, which ends the whole run, this lets the frame still draw the head and the download button.
    """
    raise _PageEnd


def run() -> None:
    """Choose the page, draw the shared pickers and run the page: all that `app.py` does."""
    arenas, problems = _arenas()
    chosen = _navigation(_arena_to_show(arenas))
    with arena_looks((), mode()):
        st.logo(logo(), size="large", icon_image=sign())
    _configure(chosen.title)
    _shared(arenas, problems)
    with _page_frame(next(entry for entry in PAGES if entry.title == chosen.title)):
        chosen.run()


def show(name: str, main: Callable[[Page], None]) -> None:
    """Draw a page: frame, title, question and content.

    Args:
        name: the page's own name, as in `PAGES`.
        main: draws the content; reruns at every click on its widgets. Its argument gives the arena, the languages, and
            the frame.

    Raises:
        UnknownName: if there is no such page.
    """
    entry = next((e for e in PAGES if e.name == name), None)
    if entry is None:
        raise UnknownName("page", name, [e.name for e in PAGES])
    if (frame := _frame.get()) is not None:
        _draw(entry, frame, main)
    else:
        arenas, problems = _arenas()
        _configure(entry.title)
        if _is_run_by_folder(entry):
            # Streamlit runs files of pages/ by itself until the first call of st.navigation.
            st.session_state[_ROUTED] = True
            _navigation(_arena_to_show(arenas))
            st.rerun()
        _shared(arenas, problems)
        with _page_frame(entry) as own:
            _draw(entry, own, main)


def _is_run_by_folder(entry: PageEntry) -> bool:
    """Return whether Streamlit ran a page for its place in pages/, not as the app itself or from the router."""
    path = urlsplit(st.context.url or "").path.rstrip("/")
    return path.endswith(f"/{entry.name}") and _ROUTED not in st.session_state


@contextmanager
def _page_frame(entry: PageEntry) -> Iterator[_Frame]:
    """Draw the row above a page, then the page inside the context."""
    shared: _Shared = st.session_state["_shared"]
    actions.watch_browser()
    with st.container(horizontal=True, vertical_alignment="top", gap="small", key="frame_head"):
        frame = _Frame(Head(entry, shared.arena.label))
        menu = st.popover("Share", key="frame_share", on_change="rerun")
    token = _frame.set(frame)
    try:
        yield frame
    finally:
        _frame.reset(token)
        if menu.open:
            with menu:
                actions.copy_link(shared.arena_name)
                if frame.offer is not None:
                    frame.offer()
                actions.cite(shared.arena)


def _draw(entry: PageEntry, frame: _Frame, main: Callable[[Page], None]) -> None:
    """Draw the content of a page, as a fragment."""
    runs = count()
    offers = False

    @st.fragment
    def body() -> None:
        nonlocal offers
        again = next(runs) > 0
        if again:
            _rerun_if_changed()
        with show_error(st.session_state["_shared"].arena), turn(), suppress(_PageEnd):
            page = _begin(entry, frame)
            with arena_looks(contents_view(page.arena.whole).systems, mode()):
                main(page)
        _settle(entry, frame)
        if again and offers != (frame.offer is not None):
            st.rerun()
        offers = frame.offer is not None

    body()


def _rerun_if_changed() -> None:
    """Rerun the whole app if the arena has changed or another page was requested."""
    arena = st.session_state["_shared"].arena
    try:
        changed = reopen(arena.path).version != arena.version
    except MirageError:
        changed = True
    if changed or _GO in st.session_state:
        st.rerun()


def _begin(entry: PageEntry, frame: _Frame) -> Page:
    """Return the context of a page, and show warnings about the arena."""
    shared: _Shared = st.session_state["_shared"]
    frame.head.begin(_heads().get((entry.name, shared.arena_name), ""))
    frame.offer = None
    arrive(entry.name)
    arena = shared.part if entry.by_query else shared.arena
    page = Page(entry, arena, shared.picked, frame)
    for problem in shared.problems:
        st.warning(plain(problem))
    if shared.part.tags and not entry.by_query:
        st.caption("Computed over all queries: tags do not apply to this page.")
    return page


@contextmanager
def turn() -> Iterator[None]:
    """Wait for a turn, at most `PATIENCE` seconds, and keep it until the block ends."""
    taken = _turns.acquire(timeout=PATIENCE)
    try:
        yield
    finally:
        if taken:
            _turns.release()


def show_page_link(name: str, label: str, *, languages: Sequence[str] = (), **params: str | Sequence[str]) -> None:
    """Show a link to another page, keeping the arena and the languages; nothing if the arena cannot fill the page.

    Args:
        name: the page.
        label: text of the link.
        languages: languages to narrow to; by default the selected languages.
        params: further query parameters; a list repeats the parameter.
    """
    entry = next(e for e in PAGES if e.name == name)
    shared: _Shared = st.session_state["_shared"]
    if name not in _pages() or not entry.is_offered(shared.arena):
        return
    if (languages and tuple(languages) != shared.picked) or any(key in st.session_state for key in params):
        # The browser adds the current selection to every internal link; explicit parameters replace it.
        key = f"onward_{name}_{'_'.join([*languages, label, *map(str, params.values())])}"
        st.button(f"{plain(label)} →", type="tertiary", key=key, on_click=_leave, args=(name, list(languages), params))
        return
    # The browser adds arena, languages and tags, so they must not be repeated here.
    query: dict[str, Any] = dict(params)
    st.page_link(_pages()[entry.name], label=f"{plain(label)} →", query_params=query)


@contextmanager
def link_row(name: str, about: str = "") -> Iterator[None]:
    """Lay out the links of a block in a row, after a name in bold and what follows it."""
    with st.container(horizontal=True, gap="medium", vertical_alignment="center"):
        st.markdown(f"**{plain(name)}**{about}", width="content")
        yield


def none_selected(page: Page, noun: str) -> None:
    """Say that the selected languages have no data for a page."""
    page.summary(f"No {noun} in the selected languages.")
    st.info("Choose other languages in the sidebar, or clear the selection.")


def switch(arena: Path | None) -> NoReturn:
    """Rerun the page with another arena, by its folder; None for the default arena."""
    st.session_state["_switch"] = arena
    st.rerun()


def _settle(entry: PageEntry, frame: _Frame) -> None:
    """Draw the final header of the page, and store it in the session."""
    frame.head.settle()
    if finding := frame.head.conclusion:
        words = re.sub(r" \([^()]*\)", "", finding).partition(". ")[0].rstrip(".")
        _configure(f"{entry.title}: {words}")
    _heads()[entry.name, st.session_state["_shared"].arena_name] = frame.head.written


def _heads() -> dict[tuple[str, str], str]:
    heads: dict[tuple[str, str], str] = st.session_state.setdefault(_HEADS, {})
    return heads


def _leave(name: str, languages: list[str], params: Mapping[str, str | Sequence[str]]) -> None:
    if languages:
        st.session_state["languages"] = languages
    st.session_state[_GO] = (name, {k: [v] if isinstance(v, str) else list(v) for k, v in params.items()})


@dataclass(frozen=True)
class _Shared:
    arena: Arena
    part: Arena
    """Return the part of the arena that matches the selected tags; the arena itself without tags."""
    arena_name: str
    picked: tuple[str, ...]
    problems: tuple[str, ...]
    arenas: Mapping[str, Arena]
    """Return the arenas visible to the reader, by name."""


def _configure(title: str) -> None:
    st.set_page_config(page_title=f"{title} · mirage", page_icon=ICON, layout="wide")


def _navigation(arena: Arena | None) -> Any:
    """List the pages that the arena can fill; the others, and the first page's own name, are found by a link alone."""
    pages = _pages(tuple(entry.name for entry in PAGES if arena is not None and not entry.is_offered(arena)))
    groups: dict[str, list[Any]] = {}
    for entry in PAGES:
        if entry.name in pages:
            groups.setdefault(entry.group, []).append(pages[entry.name])
    groups[PAGES[0].group].append(pages[""])
    return st.navigation(groups, expanded=True)


def _pages(hidden: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return the Streamlit pages by name; cached per session, since Streamlit checks every file."""
    known: dict[tuple[str, ...], dict[str, Any]] = st.session_state.setdefault("_pages", {})
    if hidden not in known:
        pages = known[hidden] = {}
        for entry in PAGES:
            first = entry.name == HOME
            if entry.file.is_file():
                pages[entry.name] = st.Page(
                    entry.file,
                    title=entry.title,
                    url_path="home" if first else None,
                    default=first,
                    visibility="hidden" if entry.name in hidden else "visible",
                )
        # The root has no name, but readers may try this URL.
        root = PAGES[0]
        pages[""] = st.Page(root.file, title=root.title, url_path=root.name, visibility="hidden")
    return known[hidden]


def _arenas() -> tuple[dict[str, Arena], list[str]]:
    """Return the arenas visible to this reader, by name, and problems with them and with MIRAGE_ARENAS."""
    paths, problems = home.all_arenas()
    for name, path in owned.owned_arenas(identity.look().owner).items():
        paths[name if name not in paths else f"{name}-own"] = path
    arenas: dict[str, Arena] = {}
    for name, path in paths.items():
        try:
            arenas[name] = reopen(path)
        except MirageError as error:
            problems.append(f"Arena {name} skipped: {error.what}. {error.do}.")
    if "_switch" in st.session_state:
        folder = st.session_state.pop("_switch")
        if named := [name for name, arena in arenas.items() if folder in (None, arena.path)]:
            st.session_state["arena"] = named[0]
    return arenas, problems


def _arena_to_show(arenas: Mapping[str, Arena]) -> Arena | None:
    """Return the arena that the picker will be at, which is drawn below the pages."""
    name = st.session_state.get("arena") or st.query_params.get("arena", "")
    return arenas.get(name) or next(iter(arenas.values()), None)


def other_arenas(arena: Arena) -> dict[str, Arena]:
    """Return the other arenas that this reader may see, by name; unreadable arenas are skipped."""
    shared: _Shared = st.session_state["_shared"]
    return {name: other for name, other in shared.arenas.items() if other.path != arena.path}


def _has_query(arena: Arena, link: str) -> bool:
    """Return whether an arena has the query of an address (`query_keys.key_text`)."""
    code, _, query_id = link.partition(":")
    return bool(query_id and of_query(arena, "queries", (code, query_id)))


def _shared(arenas: Mapping[str, Arena], problems: list[str]) -> None:
    """Draw the stylesheet and the pickers shared by all pages; store their values for the page."""
    with arena_looks((), mode()):
        st.html(stylesheet())
    if not arenas:
        for problem in problems:
            st.warning(plain(problem))
        with st.container(border=True):
            st.markdown("**No arenas found.**")
            st.caption("Build the bundled arenas with this command, or open your own folder: mirage app DIR.")
            st.code("make data", language=None)
        st.stop()
    try:
        with st.sidebar:
            problems += check_link("arena", "arena", arenas)
            name = pick("Arena", list(arenas), key="arena", help="Arena: a set of queries, systems and their results.")
            arena = arenas[name]
            st.caption(plain(arena.title))
            sidebar.contents(arena, arenas.get(SAMPLE))
            picked = sidebar.pick_languages(contents_view(arena).languages, problems)
            part = sidebar.pick_tags(arena, picked, problems)
            identity.show_account()
            sidebar.guide_link()
    except MirageError as error:  # the arena's files are not what they should be; another can be picked
        refuse(error)
        st.stop()
    st.session_state["_shared"] = _Shared(arena, part, name, tuple(picked), tuple(problems), arenas)
    if target := st.session_state.pop(_GO, None):
        page, params = target
        # Streamlit rejects parameters bound to a picker; they are passed to the next page's pickers instead.
        bound = {key: value for key, value in params.items() if key in st.session_state}
        link_state().wanted = (page, bound)
        st.switch_page(_pages()[page], query_params={k: v for k, v in params.items() if k not in bound})
