"""Pages of texts: queries with all answers and verdicts, and the index of the query search."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from mirage.explorer.site.markup import NO_VALUE, Systems, language, page, table, text
from mirage.explorer.site.pages import Publication

if TYPE_CHECKING:
    from mirage.store import Arena

QUERIES = 20
"""Queries per page."""
SEARCH = "answers/queries.js"
_VERDICT = ("query_id", "judge", "system_a", "system_b", "verdict", "rationale")
_WRONG = {True: "correct decision", False: "wrong decision", None: ""}


@dataclass(frozen=True, slots=True)
class TextPage:
    """One page of texts."""

    language: str
    path: str
    title: str
    queries: tuple[Mapping[str, Any], ...]
    """Rows of the table `queries`."""


def text_pages(sources: Arena) -> tuple[TextPage, ...]:
    """Return the path and title of each page of texts."""
    pages = []
    columns = ("language", "query_id", "subset", "text")
    for code in sources.languages("queries"):
        rows = sources.read("queries", columns=columns, languages=[code]).to_pylist()
        for n, start in enumerate(range(0, len(rows), QUERIES), 1):
            part = tuple(rows[start : start + QUERIES])
            title = f"{start + 1:,} to {start + len(part):,}"
            pages.append(TextPage(code, f"answers/{code}-{n:04d}.html", title, part))
    return tuple(pages)


def write_text_pages(
    sources: Arena, pages: Sequence[TextPage], publication: Publication, systems: Systems
) -> Iterator[tuple[str, bytes]]:
    """Yield path and content of every page of texts, and of the search index."""
    rows: list[tuple[str, str, str]] = []
    by_language: dict[str, list[TextPage]] = {}
    for one in pages:
        by_language.setdefault(one.language, []).append(one)
    for code, of in by_language.items():
        answers = _by_query(sources, "answers", ("query_id", "system", "text", "status"), code)
        outcomes = _outcomes(sources, code)
        verdicts = _by_query(sources, "judgments", _VERDICT, code)
        for one in of:
            body = (part for query in one.queries for part in _query(query, answers, outcomes, verdicts, systems))
            title = f"Answers: {_plain(code)} {one.title}"
            footer = publication.footer("../")
            yield (
                one.path,
                page(title, body, board=publication.title, footer=footer, current="answers.html", root="../"),
            )
            rows += [
                (code, f"{one.path}#q-{escape(query['query_id'])}", query["text"])
                for query in one.queries
                if query["text"] is not None
            ]
    # Escape the one character that could end the script element.
    data = json.dumps(rows, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    yield SEARCH, f"window.MIRAGE_QUERIES = {data};\n".encode()


def _plain(code: str) -> str:
    from mirage.text.languages import scope_name

    return scope_name(code)


def _by_query(sources: Arena, name: str, columns: Sequence[str], code: str) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of a table in one language by query; none if the arena lacks them."""
    found: dict[str, list[dict[str, Any]]] = {}
    if name in sources.tables and code in sources.languages(name):
        for row in sources.read(name, columns=columns, languages=[code]).to_pylist():
            found.setdefault(row["query_id"], []).append(row)
    return found


def _outcomes(sources: Arena, code: str) -> dict[tuple[str, str], dict[str, Any]]:
    columns = ("query_id", "system", "parser", "outcome", "correct")
    by_query = _by_query(sources, "outcomes", columns, code)
    rows = (row for of in by_query.values() for row in of if row["parser"] == "strict")
    return {(row["query_id"], row["system"]): row for row in rows}


def _query(
    query: Mapping[str, Any],
    answers: Mapping[str, list[dict[str, Any]]],
    outcomes: Mapping[tuple[str, str], dict[str, Any]],
    verdicts: Mapping[str, list[dict[str, Any]]],
    systems: Systems,
) -> Iterator[str]:
    key, code = query["query_id"], escape(query["language"])
    subset = f", {query['subset'].replace('_', '-')}" if query["subset"] else ""
    yield f'<article id="q-{escape(key)}"><h2 lang="{code}" dir="auto">{escape(query["text"] or "No text")}</h2>'
    yield f'<p class="note">{language(query["language"])}, query <bdi>{escape(key)}</bdi>{subset}</p>'
    for answer in answers.get(key, []):
        outcome = outcomes.get((key, answer["system"]))
        said = answer["status"] if outcome is None else outcome["outcome"]
        right = "" if outcome is None else _WRONG[outcome["correct"]]
        words = ", ".join(part for part in (said.replace("_", " "), right) if part)
        yield f'<section class="answer"><h3>{systems.mark(answer["system"])} <span class="note">{words}</span></h3>'
        shown = escape(answer["text"]) if answer["text"] else NO_VALUE
        yield f'<p lang="{code}" dir="auto">{shown}</p></section>'
    if rows := verdicts.get(key):
        labels = ("Judge", "Shown first", "Shown second", "Verdict", "Rationale")
        heads = [(label, "", False) for label in labels]
        lines = (
            [
                *(text(row[name]) for name in ("judge", "system_a", "system_b")),
                escape(row["verdict"]),
                text(row["rationale"]),
            ]
            for row in rows
        )
        yield f"<details><summary>{len(rows):,} verdicts</summary>"
        yield table(heads, lines, label=f"Verdicts on {key}", sorts=False)
        yield "</details>"
    yield "</article>"
