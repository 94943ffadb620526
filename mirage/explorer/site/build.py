"""All files of a published board except its chain, from its sources and published tables alone."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape
from typing import TYPE_CHECKING, Any

from mirage import schema, store
from mirage.errors import MirageError
from mirage.explorer.site.answer_pages import text_pages, write_text_pages
from mirage.explorer.site.markup import Systems, asset, page
from mirage.explorer.site.pages import Publication, SiteBoard, write_pages
from mirage.explorer.site.tables import PublishedTable
from mirage.publish.eval_records import eval_results, every_eval_ever
from mirage.store import to_csv, to_parquet
from mirage.store.boards import temporary_folder

if TYPE_CHECKING:
    from mirage.store import Arena

SOURCES, DATA = "sources", "data"
_RATING_COLUMNS = {"rank_best": "rank_low", "rank_worst": "rank_high"}


@dataclass(frozen=True, slots=True)
class SiteSettings:
    """Choices of the publisher of a board."""

    organization: str = ""
    """Name of the evaluator in the records of Every Eval Ever; the board's title if empty."""
    dataset: str = ""
    """The benchmark's name on the Hugging Face Hub, `owner/name`, for `.eval_results` files; none are written if
    empty."""
    features: bool = False
    """Whether to include the measured features in the sources, and their means in the records."""


def site_files(
    sources: Arena,
    tables: Mapping[str, PublishedTable],
    publication: Publication,
    settings: SiteSettings,
    *,
    texts: bool,
) -> Iterator[tuple[str, bytes]]:
    """Yield path and content of every file derived from the sources and the published tables.

    Args:
        sources: the sources, an arena in the site.
        tables: the published tables.
        publication: publication details for the pages.
        settings: the publisher's choices.
        texts: whether to publish texts.
    """
    for name, published in tables.items():
        rows = published.arrow()
        yield f"{DATA}/{name}.csv", to_csv(rows).encode("utf-8")
        yield f"{DATA}/{name}.parquet", to_parquet(rows)
    systems = Systems(_system_names(tables))
    pages = text_pages(sources) if texts else ()
    listed = [(one.language, one.path, one.title) for one in pages]
    yield from write_pages(SiteBoard(publication, tables, systems, listed))
    if texts:
        yield from write_text_pages(sources, pages, publication, systems)
    yield from _records(sources, tables, publication, settings)
    for name in ("site.css", "site.js"):
        yield name, asset(name)


def _system_names(tables: Mapping[str, PublishedTable]) -> set[str]:
    return {
        row[field.name]
        for published in tables.values()
        for field in published.fields
        if field.kind == "system"
        for row in published.rows
    }


def _records(
    sources: Arena, tables: Mapping[str, PublishedTable], publication: Publication, settings: SiteSettings
) -> Iterator[tuple[str, bytes]]:
    """Yield the records of Every Eval Ever, the `.eval_results` files, and the page that lists them."""
    at = datetime.fromisoformat(publication.at).astimezone(UTC)
    links = []
    with _open_measured(sources, tables, publication) as measured:
        for n, system in enumerate(sorted(_system_names(tables))):
            stem = f"{n:03d}-{re.sub(r'[^A-Za-z0-9._-]+', '-', system)[:60].strip('.-')}"
            try:
                record = every_eval_ever(
                    measured,
                    system,
                    organization=settings.organization or publication.title,
                    at=int(at.timestamp()),
                    version=publication.program,
                    dataset=settings.dataset or None,
                )
            except MirageError:
                continue  # a system without a value; the tables give the reason
            record["source_metadata"]["additional_details"]["arena_version"] = publication.version
            files = [(f"{stem}.json", (json.dumps(record, ensure_ascii=False, indent=1) + "\n").encode("utf-8"))]
            if settings.dataset:
                for metric in ("hallucination_rate", "error_rate", "bradley_terry_rating"):
                    try:
                        words = eval_results(measured, system, metric, dataset=settings.dataset, on=at.date())
                    except MirageError:
                        continue
                    files.append((f"eval_results/{stem}.{metric}.yaml", words.encode("utf-8")))
            for name, content in files:
                yield f"records/{name}", content
            parts = ", ".join(f'<a href="{escape(name)}">{escape(name)}</a>' for name, _ in files)
            links.append(f'<li><bdi dir="auto">{escape(system)}</bdi>: {parts}</li>')
    body = [
        "<p>Results of each system as records of Every Eval Ever and, with a benchmark on the Hugging Face Hub, as "  # noqa: ISC004
        "files for <code>.eval_results</code>.</p>",
        f"<ul>{''.join(links)}</ul>",
    ]
    footer = publication.footer("../")
    yield (
        "records/index.html",
        page("Records", iter(body), board=publication.title, footer=footer, current="methods.html", root="../"),
    )


@contextmanager
def _open_measured(sources: Arena, tables: Mapping[str, PublishedTable], publication: Publication) -> Iterator[Arena]:
    """Yield an arena with the outcomes and features of the sources and the published ratings."""
    names = [name for name in ("outcomes", "features") if name in sources.tables]
    ratings = [_rating(row) for row in tables["leaderboard"].rows]
    rows = {name: sources.read(name) for name in names} | {"ratings": schema.from_rows("ratings", ratings)}
    with temporary_folder() as place:
        yield store.write(
            place / "measured", rows, title=publication.title, label=publication.label, made_by="mirage publish"
        )


def _rating(row: Mapping[str, Any]) -> schema.Rating:
    """Return a published rating as a row of the table `ratings`."""
    names = [column.name for column in schema.columns("ratings")]
    values: dict[str, Any] = {name: row.get(name) for name in names} | {"skill": "both"}
    for published, name in _RATING_COLUMNS.items():
        values[name] = row["rank"] if row[published] is None else row[published]
    return schema.Rating(**values | {"bounded": row["low"] is not None and row["high"] is not None})
