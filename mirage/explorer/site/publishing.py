"""Publication of an arena as a static site, which appends a head to the site's chain."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mirage import __version__
from mirage.errors import ArenaError, BadInput
from mirage.explorer.site.build import DATA, SOURCES, SiteSettings, site_files
from mirage.explorer.site.pages import Publication
from mirage.explorer.site.tables import FIELDS, PublishedTable, arrow_schema, published_tables
from mirage.publish.board_sources import text_permission, write_sources
from mirage.publish.chain import (
    FIRST,
    HEADS,
    PUBLIC_KEY,
    BoardHead,
    canonical,
    chain_faults,
    heads_file,
    manifest_path,
    next_head,
    parse_manifest,
    read_heads,
)
from mirage.publish.feed import FEED, feed
from mirage.publish.signing import fingerprint, public_key, sign_head
from mirage.ranking.records import JOINT
from mirage.store.boards import board_files, read_board_file, replacing_folder, write_board_file

if TYPE_CHECKING:
    from mirage.store import Arena

_DEFAULT = SiteSettings()
_MOST_CHANGES = 50
"""Maximum number of changes listed in a feed entry; more are counted."""


@dataclass(frozen=True, slots=True)
class PublishResult:
    """Result of publishing."""

    head: BoardHead
    files: int
    """Number of files in the site."""
    parts: Mapping[str, int]
    """Bytes by part of the site: pages, tables, texts, sources, records and chain."""
    texts: str
    """Why texts are published or not."""
    changes: tuple[str, ...]
    """Changes since the previous publication."""


def publish(
    arena: Arena,
    into: Path,
    *,
    at: str,
    private: bytes | None = None,
    texts: bool | None = None,
    settings: SiteSettings = _DEFAULT,
) -> PublishResult:
    """Publish an arena into a folder, new or with the board's earlier publications.

    The folder is replaced atomically; on an error it is unchanged.

    Args:
        arena: with outcomes or judgments.
        into: folder of the site.
        at: time of the publication, ISO 8601 in UTC.
        private: Ed25519 private key as PEM; None for an unsigned board.
        texts: whether to publish texts; None to decide by their licences.
        settings: the publisher's choices.

    Raises:
        ArenaError: if the folder has other files, its chain is damaged, or it cannot be written.
        BadInput: if the key is not the board's.
    """
    public = None if private is None else public_key(private)
    heads, manifests = _former(into, public)
    permission = text_permission(arena, texts)
    number, before = len(heads) + 1, heads[-1].head if heads else FIRST
    about = Publication(
        title=arena.title,
        number=number,
        at=at,
        label=arena.label,
        about=str(arena.manifest["about"]),
        licence=str(arena.manifest["licence"]),
        version=arena.version,
        program=__version__,
        texts=permission.reason,
        signed=private is not None,
    )
    with replacing_folder(into) as new:
        sources = write_sources(arena, new / SOURCES, texts=permission.allowed, features=settings.features)
        tables = published_tables(sources)
        for name, content in site_files(sources, tables, about, settings, texts=permission.allowed):
            write_board_file(new, name, content)
        sizes = {name: size for name, size in board_files(new).items() if not name.endswith("/.lock")}
        changes = _changes(into, tables) if heads else ["The board is published."]
        manifest = {
            "format": 1,
            "number": number,
            "before": before,
            "at": at,
            "program": {"name": "mirage", "version": __version__},
            "arena": {name: getattr(about, name) for name in ("title", "label", "about", "licence", "version")},
            "settings": asdict(settings),
            "texts": asdict(permission),
            "key": None if public is None else fingerprint(public),
            "changes": changes,
            "files": {
                name: {"bytes": size, "sha256": hashlib.sha256(read_board_file(new, name)).hexdigest()}
                for name, size in sorted(sizes.items())
            },
        }
        digest = next_head(before, manifest)
        head = BoardHead(number, digest, None if private is None else sign_head(private, digest))
        chain = {row.manifest: canonical(one) for row, one in zip(heads, manifests, strict=True)}
        chain |= {head.manifest: canonical(manifest), HEADS: heads_file([*heads, head])}
        chain[FEED] = feed([*heads, head], [*manifests, manifest])
        if public is not None:
            chain[PUBLIC_KEY] = public.encode("ascii")
        for name, content in chain.items():
            write_board_file(new, name, content)
        sizes |= {name: len(content) for name, content in chain.items()}
    return PublishResult(head, len(sizes), _parts(sizes), permission.reason, tuple(changes))


def read_tables(site: Path) -> dict[str, PublishedTable]:
    """Return the published tables of a site.

    Raises:
        ArenaError: if a file cannot be read, or has other columns.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    tables = {}
    for name, (key, fields) in FIELDS.items():
        path = f"{DATA}/{name}.parquet"
        try:
            rows = pq.read_table(io.BytesIO(read_board_file(site, path)))
        except (pa.ArrowException, OSError, ValueError) as error:
            raise ArenaError(f"a published table cannot be read: {str(error)[:200]}", where=path) from None
        if rows.schema.remove_metadata() != arrow_schema(fields):
            raise ArenaError("a published table has other columns than this version writes", where=path)
        tables[name] = PublishedTable(name, key, fields, tuple(rows.to_pylist()))
    return tables


def _former(into: Path, public: str | None) -> tuple[tuple[BoardHead, ...], list[dict[str, Any]]]:
    """Return the chain of the folder's earlier publications, checked with the key; empty for a new folder."""
    if not into.exists() or not board_files(into):
        return (), []
    files = board_files(into)
    if HEADS not in files:
        raise ArenaError(f"{into} has other files and is not a board", do="use a new or empty folder")
    heads = read_heads(read_board_file(into, HEADS))
    own = read_board_file(into, PUBLIC_KEY).decode("utf-8", "replace") if PUBLIC_KEY in files else None
    if (None if own is None else fingerprint(own)) != (None if public is None else fingerprint(public)):
        unsigned = own is None
        raise BadInput(
            "the board is not signed, and its earlier publications cannot be signed now"
            if unsigned
            else "this is not the board's key",
            where=str(into),
            do="omit --key, or publish into a new folder" if unsigned else "sign with the key of its first publication",
        )

    def read(name: str) -> bytes | None:
        return read_board_file(into, name) if files.get(name, -1) >= 0 else None

    for fault in chain_faults(heads, read, own):
        raise ArenaError(
            f"the board's chain is damaged: {fault.column} {fault.printed}, expected {fault.recomputed}",
            where=f"{into / fault.file} {fault.row}".strip(),
            do=f"restore the folder from a copy, or look closer: mirage verify {into}",
        )
    manifests = [parse_manifest(read(manifest_path(head.number))) or {} for head in heads]
    return heads, manifests


def _changes(former: Path, tables: Mapping[str, PublishedTable]) -> list[str]:
    """Describe the changes of the leaderboard since the publication in the folder."""
    try:
        before = read_tables(former)["leaderboard"].rows
    except ArenaError:
        return ["The previous publication cannot be compared with this one."]
    now = tables["leaderboard"].rows
    lines: list[str] = []
    for referee in dict.fromkeys(row["referee"] for row in (*before, *now)):
        old, new = (_joint(rows, referee) for rows in (before, now))
        lines += [f"{referee}: {system} is new, rank {new[system]['rank']}" for system in new if system not in old]
        lines += [
            f"{referee}: {system} is gone; it was rank {old[system]['rank']}" for system in old if system not in new
        ]
        for system in new.keys() & old.keys():
            a, b = old[system], new[system]
            if a["rank"] != b["rank"]:
                lines.append(f"{referee}: {system} moved from rank {a['rank']} to {b['rank']}")
            elif a["rating"] != b["rating"]:
                lines.append(f"{referee}: the rating of {system} changed from {a['rating']:+.2f} to {b['rating']:+.2f}")
    lines = sorted(lines)
    more = len(lines) - _MOST_CHANGES
    return [*lines[:_MOST_CHANGES], *([f"and {more:,} more changes"] if more > 0 else [])] or ["No rating changed."]


def _joint(rows: Sequence[Mapping[str, Any]], referee: str) -> dict[str, Mapping[str, Any]]:
    of = [row for row in rows if row["referee"] == referee]
    scope = JOINT if any(row["language"] == JOINT for row in of) else (of[0]["language"] if of else "")
    return {row["system"]: row for row in of if row["language"] == scope}


def _parts(sizes: Mapping[str, int]) -> dict[str, int]:
    # Without texts, judgments have no rationales.
    with_texts = ("queries", "answers", "nuggets", "judgments") if "answers/queries.js" in sizes else ()
    texts = tuple(f"{SOURCES}/{name}/" for name in with_texts)
    parts = dict.fromkeys(("pages", "tables", "texts", "sources", "records", "chain"), 0)
    names = {DATA: "tables", "answers": "texts", SOURCES: "sources", "records": "records", "chain": "chain"}
    for name, size in sizes.items():
        top = name.partition("/")[0] if "/" in name else ""
        part = names.get(top, "pages")
        if name.startswith(texts):
            part = "texts"
        parts[part] += size
    return parts
