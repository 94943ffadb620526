"""Verification of a published board: recomputed numbers, hashes, the chain of heads, and signatures.

A forger can rewrite hashes and heads along with a number, and a publisher can sign again. That shows only in numbers
that do not follow from the sources; if the sources were rewritten too, only in a head saved elsewhere.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from html import unescape
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mirage import store
from mirage.errors import ArenaError, BadInput
from mirage.explorer.site.build import DATA, SOURCES, SiteSettings, site_files
from mirage.explorer.site.pages import Publication
from mirage.explorer.site.publishing import read_tables
from mirage.explorer.site.tables import PublishedTable, published_tables
from mirage.pipeline.recompute import TOLERANCE, recompute
from mirage.publish.board_sources import write_sources
from mirage.publish.chain import (
    HEADS,
    PUBLIC_KEY,
    BoardFault,
    BoardHead,
    chain_faults,
    parse_manifest,
    read_heads,
)
from mirage.publish.feed import FEED, feed
from mirage.publish.signing import fingerprint
from mirage.store.boards import board_files, read_board_file, temporary_folder

if TYPE_CHECKING:
    from mirage.store import Arena

_MOST = 20
"""Maximum number of differences listed per file."""
_LARGEST = 64_000_000
"""Maximum bytes of a manifest or a log."""
_TAG = re.compile(r"<[^>]*>")
_CELL = re.compile(r"<t[hd][^>]*>(.*?)</t[hd]>", re.DOTALL)


@dataclass(slots=True)
class VerifyReport:
    """Result of a verification."""

    heads: tuple[BoardHead, ...] = ()
    """The readable part of the chain."""
    checked: list[str] = field(default_factory=list)
    """Checks that were made, one per line."""
    unchecked: list[str] = field(default_factory=list)
    """Checks that could not be made, with reasons."""
    faults: list[BoardFault] = field(default_factory=list)
    """Differences found."""


def verify_site(
    site: Path, *, against: str | None = None, public: str | None = None, arena: Arena | None = None
) -> VerifyReport:
    """Check a published board.

    Args:
        site: folder of the site.
        against: a head that was saved elsewhere; it must be in the chain.
        public: the board's public key as PEM, from elsewhere; None for the site's own.
        arena: the arena that the board was made from; None to recompute from the site's own sources.

    Raises:
        ArenaError: if there is no such folder.
        BadInput: if the given key is no public key, `against` is no head, or `cryptography` is not installed.
    """
    if against is not None and not re.fullmatch(r"[0-9a-f]{64}", against):
        raise BadInput("a head has 64 hexadecimal digits", where="--against", do="copy it from chain/heads.json")
    if public is not None:
        fingerprint(public)
    report, files = VerifyReport(), board_files(site)
    report.faults += [BoardFault(name, "", "file", "no plain file", "a file") for name, n in files.items() if n < 0]

    def read(name: str) -> bytes | None:
        return read_board_file(site, name, _LARGEST) if files.get(name, -1) >= 0 else None

    manifest = _check_chain(report, read, public, against)
    if manifest is None:
        report.unchecked.append("files and numbers: the last publication has no manifest")
        return report
    _check_files(report, site, files, manifest)
    with _guard(report, "manifest"):
        _check_numbers(report, site, manifest, arena)
    report.faults.sort(key=lambda fault: (fault.file, fault.row, fault.column))
    return report


class _guard:  # noqa: N801  # a context manager
    """Context manager that records an error from a damaged file as a difference."""

    def __init__(self, report: VerifyReport, file: str) -> None:
        self.report, self.file = report, file

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: BaseException | None, _: Any) -> bool:
        if error is None or not isinstance(error, Exception):
            return False
        where = getattr(error, "where", "") or self.file
        what = getattr(error, "what", "") or f"{type(error).__name__}: {str(error)[:200]}"
        self.report.faults.append(BoardFault(str(where), "", "content", what, "a file that can be read"))
        return True


def _check_chain(
    report: VerifyReport, read: Callable[[str], bytes | None], public: str | None, against: str | None
) -> dict[str, Any] | None:
    """Check the chain, its signatures and the feed; return the last manifest, None if there is none."""
    try:
        raw = read(HEADS)
        if raw is None:
            raise BadInput("there is no log of heads", where=HEADS)
        report.heads = read_heads(raw)
    except BadInput as error:
        report.faults.append(BoardFault(HEADS, "", "file", error.what, "the log of heads"))
        return None
    manifests = [parse_manifest(read(head.manifest)) for head in report.heads]
    _check_signatures(report, read, public, manifests[-1])
    heads, n = [head.head for head in report.heads], len(report.heads)
    report.checked.append(f"chain: {n:,} publications, head {heads[-1]}")
    if against is None:
        report.unchecked.append("whether history was rewritten: give a head that you saved with --against")
    elif against not in heads:
        report.faults.append(BoardFault(HEADS, "", "head", "not in the chain", against))
    else:
        report.checked.append(f"the given head is that of publication {heads.index(against) + 1}")
    with _guard(report, FEED):
        if None not in manifests and read(FEED) != feed(report.heads, [one or {} for one in manifests]):
            report.faults.append(BoardFault(FEED, "", "content", "another feed", "the feed of the chain"))
    if n > 1:
        report.unchecked.append(f"numbers of the {n - 1:,} earlier publications: only their manifests are in the site")
    return manifests[-1]


def _check_signatures(
    report: VerifyReport, read: Callable[[str], bytes | None], public: str | None, last: Mapping[str, Any] | None
) -> None:
    """Check the heads and their signatures, with the given key or else the site's own."""
    own = (read(PUBLIC_KEY) or b"").decode("utf-8", "replace") or None
    signed = any(head.signature is not None for head in report.heads) or (last or {}).get("key") is not None
    key = public or own
    try:
        if public is not None and (own is None or fingerprint(own) != fingerprint(public)):
            report.faults.append(BoardFault(PUBLIC_KEY, "", "key", "another key", "the key that was given"))
        if signed and key is None:
            report.faults.append(BoardFault(PUBLIC_KEY, "", "file", "missing", "the public key of a signed board"))
        used = key if signed or public is not None else None
        report.faults += chain_faults(report.heads, read, used)
    except BadInput as error:
        if "not installed" in error.what:
            raise
        report.faults.append(BoardFault(PUBLIC_KEY, "", "key", error.what, "an Ed25519 public key"))
        report.faults += chain_faults(report.heads, read, None)
        return
    if used is not None:
        whose = "the given key" if public is not None else "the key that came with the site"
        n = sum(head.signature is not None for head in report.heads)
        report.checked.append(f"signatures: {n:,} by {whose}, fingerprint {fingerprint(used)}")
        if public is None:
            report.unchecked.append("whose key it is: give the board's key, from another source, with --public-key")
    elif not signed:
        report.unchecked.append("who published it: the board is not signed")


def _check_files(report: VerifyReport, site: Path, files: Mapping[str, int], manifest: Mapping[str, Any]) -> None:
    """Check the list of files and their hashes."""
    listed: Mapping[str, Any] = manifest["files"]
    chain = {HEADS, FEED, *(head.manifest for head in report.heads)}
    chain |= {PUBLIC_KEY} if manifest.get("key") is not None else set()
    report.faults += [BoardFault(name, "", "file", "missing", "listed") for name in listed if name not in files]
    unknown = [name for name in files if name not in listed and name not in chain]
    report.faults += [BoardFault(name, "", "file", "present", "not listed") for name in unknown]
    for name in sorted(listed.keys() & files.keys()):
        if files[name] < 0:
            continue
        with _guard(report, name):
            digest = hashlib.sha256(read_board_file(site, name)).hexdigest()
            if digest != listed[name]["sha256"]:
                report.faults.append(BoardFault(name, "", "SHA-256", digest, str(listed[name]["sha256"])))
            if files[name] != listed[name]["bytes"]:
                report.faults.append(BoardFault(name, "", "bytes", str(files[name]), str(listed[name]["bytes"])))
    report.checked.append(f"files: {len(listed):,} against their hashes")


def _check_numbers(report: VerifyReport, site: Path, manifest: Mapping[str, Any], arena: Arena | None) -> None:
    """Recompute the published tables from the sources, and every file from the published tables."""
    texts = bool(manifest["texts"]["allowed"])
    settings = SiteSettings(**manifest["settings"])
    about = Publication(
        **{name: str(manifest["arena"][name]) for name in ("title", "label", "about", "licence", "version")},
        number=manifest["number"],
        at=str(manifest["at"]),
        program=str(manifest["program"]["version"]),
        texts=str(manifest["texts"]["reason"]),
        signed=manifest["key"] is not None,
    )
    with temporary_folder() as place:
        if arena is None:
            sources = store.open_arena(site / SOURCES)
            store.check(sources)
        else:
            sources = write_sources(arena, place / SOURCES, texts=texts, features=settings.features)
            _compare_sources(report, site, sources)
        if settings.features:
            report.unchecked.append("features against the answers and passages: give the arena with --sources")
        for part in recompute(_without_features(sources)) if texts else ():
            if part.reason is None:
                report.checked.append(f"sources: {part.subject}: {part.rows:,} rows")
            else:
                report.unchecked.append(f"sources: {part.subject}: {part.reason}")
            report.faults += [
                BoardFault(f"{SOURCES}/{one.table}", one.row, one.column, one.stored, one.recomputed)
                for one in part.mismatches[:_MOST]
            ]
        if not texts:
            report.unchecked.append(f"outcomes against the answers: texts are not published ({about.texts})")
        report.unchecked.append("verdicts of models and people, which are sources themselves")
        computed, printed = published_tables(sources), read_tables(site)
        for name, table in computed.items():
            report.faults += _table_faults(table, printed[name])
        n = sum(len(table.rows) * len(table.fields) for table in computed.values())
        report.checked.append(f"numbers: {n:,} values in {len(computed)} tables recomputed from the sources")
        _check_derived(report, site, manifest, site_files(sources, printed, about, settings, texts=texts))


def _without_features(sources: Arena) -> Arena:
    """Return the sources without features, since most need passages, which are not published."""
    tables = {name: files for name, files in sources.manifest["tables"].items() if name != "features"}
    return replace(sources, manifest={**sources.manifest, "tables": tables})


def _compare_sources(report: VerifyReport, site: Path, sources: Arena) -> None:
    """Compare the site's sources with those of an arena."""
    with _guard(report, SOURCES):
        own = store.open_arena(site / SOURCES)
        for table in sorted({*own.tables, *sources.tables}):
            printed, expected = (
                sorted(file["sha256"] for file in one.manifest["tables"].get(table, [])) for one in (own, sources)
            )
            if printed != expected:
                report.faults.append(BoardFault(f"{SOURCES}/{table}", "", "content", "differs", "the arena's rows"))
        report.checked.append("sources: the same rows as the arena's")


def _check_derived(
    report: VerifyReport, site: Path, manifest: Mapping[str, Any], expected: Iterator[tuple[str, bytes]]
) -> None:
    """Compare the derived files with files rebuilt from the published tables."""
    names = set()
    for name, content in expected:
        names.add(name)
        if name not in manifest["files"]:
            report.faults.append(BoardFault(name, "", "file", "not listed", "derived from the sources"))
            continue
        if name.endswith(".parquet"):
            continue  # compared row by row: its bytes depend on the version of the library that writes it
        with suppress(ArenaError):  # a missing file is already reported
            printed = read_board_file(site, name)
            if printed != content:
                report.faults += _content_faults(name, printed.decode("utf-8", "replace"), content.decode("utf-8"))
    extra = [name for name in manifest["files"] if name not in names and not name.startswith(f"{SOURCES}/")]
    report.faults += [BoardFault(name, "", "file", "listed", "not derived from the sources") for name in extra]
    pages = sum(name.endswith(".html") for name in names)
    report.checked.append(f"pages: {pages:,} rebuilt from the tables, of {len(names):,} derived files")


def _table_faults(computed: PublishedTable, printed: PublishedTable) -> Iterator[BoardFault]:
    """Yield the differences between a published table and its recomputation, by key, in row order."""
    file = f"{DATA}/{computed.name}.parquet"
    ours = {computed.row_name(row): row for row in computed.rows}
    theirs: dict[str, dict[str, Any]] = {}
    for row in printed.rows:
        name = computed.row_name(row)
        if name in theirs:
            yield BoardFault(file, name, "(row)", "twice", "once")
        theirs[name] = row
    for name in [*ours, *(name for name in theirs if name not in ours)]:
        if name not in theirs or name not in ours:
            there, here = name in theirs, name in ours
            yield BoardFault(file, name, "(row)", *("present" if side else "absent" for side in (there, here)))
            continue
        for column in (one.name for one in computed.fields):
            a, b = theirs[name][column], ours[name][column]
            if not _same(a, b):
                yield BoardFault(file, name, column, str(a), str(b))
    order, expected = list(theirs), list(ours)
    if order != expected and theirs.keys() == ours.keys():
        place = next(n for n, (a, b) in enumerate(zip(order, expected, strict=True)) if a != b)
        right = expected.index(order[place])
        yield BoardFault(file, order[place], "(order)", f"row {place + 1}", f"row {right + 1}")


def _same(a: Any, b: Any) -> bool:
    """Return whether two values are equal up to rounding on another processor."""
    if isinstance(a, float) and isinstance(b, float):
        return abs(a - b) <= TOLERANCE * max(1.0, abs(b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_same(a[name], b[name]) for name in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(_same, a, b))
    return bool(type(a) is type(b) and a == b)


def _content_faults(name: str, printed: str, expected: str) -> list[BoardFault]:
    """Return the differences between two versions of a text file, line by line and cell by cell."""
    if name.startswith("records/") and name.endswith(".json"):
        with suppress(ValueError, RecursionError):
            if _same(json.loads(printed), json.loads(expected)):
                return []
    faults: list[BoardFault] = []
    heads: Sequence[str] = ()
    for n, (a, b) in enumerate(zip_longest(printed.splitlines(), expected.splitlines()), 1):
        if b is not None and "<thead>" in b:
            heads = [_words(cell) for cell in _CELL.findall(b.partition("<thead>")[2])]
        if a != b:
            faults += _line_faults(name, n, a, b, heads)
    more = len(faults) - _MOST
    last = [BoardFault(name, "", "lines", f"{more:,} more differences", "")] if more > 0 else []
    # Only line endings may differ.
    return [*faults[:_MOST], *last] or [BoardFault(name, "", "bytes", "different line ends", "those of this program")]


def _line_faults(name: str, n: int, a: str | None, b: str | None, heads: Sequence[str]) -> Iterator[BoardFault]:
    old, new = ([_words(cell) for cell in _CELL.findall(line or "")] for line in (a, b))
    if a is not None and b is not None and old and len(old) == len(new) == len(heads) and old != new:
        for head, x, y in zip(heads, old, new, strict=True):
            if x != y:
                yield BoardFault(name, f"line {n}: {new[0]}", head, x, y)
    else:
        yield BoardFault(name, f"line {n}", "text", *("absent" if line is None else line[:200] for line in (a, b)))


def _words(html: str) -> str:
    return unescape(_TAG.sub("", html)).strip()


def verify_arena(arena: Arena) -> VerifyReport:
    """Check an arena: every byte against its hashes, and every derived table against its sources.

    Raises:
        MirageError: at the first file that does not match the manifest.
    """
    report = VerifyReport()
    report.checked += store.check(arena)
    for part in recompute(arena):
        if part.reason is None:
            report.checked.append(f"{part.subject}: {part.rows:,} rows recomputed")
        else:
            report.unchecked.append(f"{part.subject}: {part.reason}")
        report.faults += [
            BoardFault(one.table, one.row, one.column, one.stored, one.recomputed) for one in part.mismatches
        ]
    return report
