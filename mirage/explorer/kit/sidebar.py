"""The sidebar below the arena: languages, tags, the list of tables, and the guide."""

import os
from collections.abc import Collection, Sequence
from html import escape
from urllib.parse import urlsplit

import streamlit as st

from mirage.explorer.kit.page_list import PAGES
from mirage.explorer.kit.pick import check_link, pick_many
from mirage.explorer.kit.text import plain
from mirage.store.arena import Arena
from mirage.store.tags import count_queries, select_tagged, tag_values
from mirage.text.languages import in_order, language, name_of, search_name
from mirage.text.segmentation import count_text
from mirage.views.cache import memoize
from mirage.views.overview import contents_view, filling_command

MANY = 18
"""Number of languages above which families are offered."""
_SEARCH = "language_search"


def pick_languages(codes: Sequence[str], problems: list[str]) -> list[str]:
    """Draw the picker.

    Args:
        codes: the languages of the arena.
        problems: list to which problems with the link are added.

    Returns:
        The selected languages, in the usual order; empty for all.
    """
    problems += check_link("languages", "language", codes)
    if len(codes) > MANY:
        _search(codes)
    names = ("None", *map(name_of, codes[:1]), "Both languages", f"All {len(codes)} languages")
    return in_order(
        pick_many(
            "Languages",
            codes,
            key="languages",
            named=search_name,
            placeholder=names[min(len(codes), 3)],
            help="Default: all. Search by name, in English or in the language itself, or by code.",
        )
    )


def choices(codes: Sequence[str]) -> dict[str, list[str]]:
    """Return the searchable entries among languages.

    Args:
        codes: the languages.

    Returns:
        Codes by label: first every family of two or more languages with their number, then every language, sorted by
        name.
    """
    families: dict[str, list[str]] = {}
    for code in codes:
        if family := language(code).family:
            families.setdefault(family, []).append(code)
    several = {
        f"{family}: {len(members)} languages": members
        for family, members in sorted(families.items())
        if len(members) > 1
    }
    return several | {search_name(code): [code] for code in sorted(codes, key=name_of)}


def _search(codes: Sequence[str]) -> None:
    """Draw a search by name or family that adds to the selection."""
    by_label = choices(codes)

    def add() -> None:
        if chosen := st.session_state[_SEARCH]:
            picked = st.session_state.get("languages") or []
            st.session_state["languages"] = in_order({*picked, *by_label[chosen]})
            st.session_state[_SEARCH] = None

    st.selectbox(
        "Add languages",
        list(by_label),
        index=None,
        key=_SEARCH,
        placeholder="By name or family",
        on_change=add,
        help="Add a language or a whole family.",
    )


def pick_tags(arena: Arena, languages: Collection[str], problems: list[str]) -> Arena:
    """Draw the picker and describe the selection; nothing if the arena has no tags.

    Args:
        arena: the chosen arena.
        languages: selected codes; empty for all.
        problems: list to which problems are added.

    Returns:
        The arena, or the part of it whose queries have the tags.
    """
    if "tags" not in arena.tables:
        return arena
    options = {f"{tag}: {value}": (tag, value) for tag, values in tag_values(arena).items() for value in values}
    problems += check_link("tags", "tag", options)
    picked = pick_many(
        "Tags",
        list(options),
        key="tags",
        placeholder=f"All {count_text(count_queries(arena), 'query')}",
        help="Default: all queries. Values of one tag are combined with OR, different tags with AND.",
    )
    if not picked:
        return arena
    part = select_tagged(arena, [options[option] for option in picked])
    left = [code for code in part.languages("tags") if not languages or code in languages]
    if not left:
        problems.append(f"No query in these languages has all of these tags: {', '.join(picked)}. Tags ignored.")
        return arena
    st.caption(plain(tags_line(part)))
    return part


def tags_line(part: Arena) -> str:
    """Describe the queries that the tags select: `38 of 76 queries: domain: law`."""
    names = ", ".join(f"{tag}: {value}" for tag, value in part.tags)
    return f"{count_queries(part):,} of {count_text(count_queries(part.whole), 'query')}: {names}"


def contents(arena: Arena, sample: Arena | None) -> None:
    """Show a popover with what the arena lacks and what brings it, its tables, and its origin.

    Args:
        arena: the chosen arena.
        sample: the bundled arena that fills every page, if it is there.
    """
    lacking = [entry.title for entry in PAGES if entry.file.is_file() and not entry.is_offered(arena)]
    few = f"{count_text(len(lacking), 'page')} {'needs' if len(lacking) == 1 else 'need'} more data"
    label = few if lacking else "Tables"
    panel = st.popover(label, width="stretch", key="frame_contents", on_change="rerun")
    if not panel.open:
        return
    with panel:
        if lacking:
            st.markdown(f"**Not in this arena:** {', '.join(lacking)}.")
            if command := filling_command(arena):
                st.caption("This command adds what they need:")
                st.code(command, language=None, wrap_lines=True)
            elif "answers" not in arena.tables:
                st.caption("Its texts were not published.")
            if sample is not None and sample.path != arena.path:
                st.button("Open the arena sample", on_click=_switch_to, args=(sample,))
        st.html(_tables_html(arena))


def _switch_to(arena: Arena) -> None:
    st.session_state["_switch"] = arena.path


@memoize
def _tables_html(arena: Arena) -> str:
    """Return the tables with the arena's description, source and licence as escaped HTML."""
    rows = []
    for row in contents_view(arena).tables.to_pylist():
        over = f", {row['languages']} languages" if row["languages"] > 1 else ""
        rows.append(f"<dt>{escape(row['table'])}</dt><dd>{row['rows']:,} rows{over}</dd>")
    version = _origin_html(arena)
    version += f"<p>Version <code>{escape(arena.version)}</code></p>"
    return f'<dl class="mg-contents">{"".join(rows)}</dl>{version}'


def _origin_html(arena: Arena) -> str:
    """Return the arena's description, the sources of its tables and its licence; empty if it has none."""
    about, licence = (str(arena.manifest.get(name) or "") for name in ("about", "licence"))
    made = arena.manifest.get("made", {}).values()
    sources = dict.fromkeys(source["name"] for origin in made for source in origin.get("from", ()) if "url" in source)
    lines = [about, *(f"Source: {name}." for name in sources), *([f"Licence: {licence}."] if licence else [])]
    return "".join(f"<p>{escape(line)}</p>" for line in lines if line)


ADDRESS = "MIRAGE_GUIDE_URL"
"""Environment variable: address of the built guide (`make docs`)."""
TOUR = "tour.html"
"""The tour of the pages (`docs/tour.md`), relative to the guide's address."""


def guide_link() -> None:
    """Link the guide and its tour in the sidebar, if its address is set."""
    url = os.environ.get(ADDRESS, "").strip()
    if urlsplit(url).scheme not in ("https", "http"):
        return
    with st.container(horizontal=True, gap="small"):
        st.link_button("Guide", url, type="tertiary")
        st.link_button("Tour", f"{url.rstrip('/')}/{TOUR}", type="tertiary")
