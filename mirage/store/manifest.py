"""The manifest of an arena: what it must hold, and what is said of a folder that does not match its own."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mirage import schema
from mirage.errors import ArenaError
from mirage.languages import is_code
from mirage.store.cache import cache_path
from mirage.store.location import address, is_remote
from mirage.store.remote import local_file, remote_of, renew

NAME = "manifest.json"
FORMAT = 1
TEXTS = ("title", "label", "about", "licence")
FILE = {"path": str, "language": str, "rows": int, "bytes": int, "sha256": str}
LARGEST = 64_000_000
"""Bytes that a manifest may have; the largest known has under a million."""
_COUNTS = 2**53
"""No count in a manifest is larger."""
_OBJECT = re.compile(r"[a-z_]+/[A-Za-z0-9-]+-[0-9a-f]{12}\.parquet")
_DIGEST = re.compile(r"[0-9a-f]{64}")
"""What a file's name and hash are on object storage, where both become parts of paths."""


def arena_folders(folder: Path) -> dict[str, Path]:
    """The arenas that lie in a local folder, by the names of their folders, sorted; none where there is no such folder.

    Every click asks for it: `os` takes a third of the time of a glob.
    """
    try:
        with os.scandir(folder) as entries:
            names = sorted(entry.name for entry in entries)
    except OSError:
        return {}
    return {name: folder / name for name in names if os.path.isfile(os.path.join(folder, name, NAME))}  # noqa: PTH113, PTH118  # as above


def load_manifest(path: Path) -> tuple[dict[str, Any], str]:
    """Read the manifest of an arena folder and compare it with the files that it names, by presence and size; on object
    storage whoever reads a file compares it.

    Returns:
        The manifest, and its version: a hash that changes with any content.

    Raises:
        ArenaError: if there is none, it is not one of this format, or a file it names is absent or has another size.
    """
    refuse_undecodable(path)
    source = path / NAME
    if not is_remote(path) and not is_file(source):
        if not exists(path):
            raise _no_arena(path)
        raise ArenaError(
            f"{path} is not a finished arena: it has no {NAME}",
            do="run the command that was writing it again; nothing in it is lost by that",
        )
    try:
        raw = manifest_bytes(path)
        if len(raw) > LARGEST:
            raise ValueError(f"it has more than {LARGEST:,} bytes")
    except (OSError, ValueError) as error:
        if is_remote(path) and isinstance(error, FileNotFoundError):
            raise _no_arena(path) from None
        raise _unreadable(path, f"{type(error).__name__}: {error}") from None
    return parse_manifest(path, raw)


def parse_manifest(path: Path, raw: bytes) -> tuple[dict[str, Any], str]:
    """The manifest that some bytes are, compared with the files that it names: as `load_manifest`."""
    try:
        manifest = json.loads(raw)
        problem = _problem(manifest)
    except (ValueError, RecursionError) as error:
        problem = f"{type(error).__name__}: {error}"
    if problem:
        raise _unreadable(path, problem)
    source = path / NAME
    for file in listed_files(manifest):
        if is_remote(path):
            if not _OBJECT.fullmatch(file["path"]) or not _DIGEST.fullmatch(file["sha256"]):
                raise _outside(path, file)
            continue
        try:
            _compare(path, file)
        except (OSError, ValueError, RuntimeError) as error:
            # No name of a file: a NUL in it, too long, a loop of links.
            raise ArenaError(
                f"the manifest names a file that cannot be looked for: {error}",
                where=f"{source}: {file['path'][:200]!r}",
                do=rebuild_hint(path),
            ) from None
    return manifest, _version(raw)


def refuse_undecodable(path: Path) -> None:
    """Refuse a folder whose name is not UTF-8: no table of its files could be read by that name.

    Raises:
        ArenaError: showing the name with the bytes that are no text.
    """
    if any("\ud800" <= letter <= "\udfff" for letter in str(path)):
        printable = str(path).encode("utf-8", "backslashreplace").decode()
        raise ArenaError("the name of this folder is not UTF-8", where=printable, do="give the folder another name")


def is_file(path: Path) -> bool:
    """Whether a path names a file; one that can name none does not."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def exists(path: Path) -> bool:
    """Whether a path names anything; one that can name nothing does not."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def _compare(path: Path, file: Mapping[str, Any]) -> None:
    """Compare a file with its entry by place, presence and size."""
    file_path = path / file["path"]
    if not file_path.resolve().is_relative_to(path.resolve()):
        raise _outside(path, file)
    if not file_path.is_file():
        raise damaged(path, file, "the manifest names it, but it is absent")
    size = file_path.stat().st_size
    if size != file["bytes"]:
        raise damaged(path, file, f"{size:,} bytes, the manifest says {file['bytes']:,}")


def verify(path: Path, manifest: Mapping[str, Any], version: str) -> None:
    """Compare every file with the hash in the manifest.

    Raises:
        ArenaError: at the first file that is not what the manifest says, or if the arena was changed since the manifest
            was read.
    """
    try:
        current = _version(manifest_bytes(path))
    except OSError:
        current = ""
    if current != version:
        raise ArenaError("the arena was changed while it was being read", where=address(path), do="open it again")
    for file in listed_files(manifest):
        if is_remote(path) and not cache_path(file["sha256"]).exists():
            continue  # it is compared when it is fetched
        try:
            digest = hashlib.sha256(local_file(path, file).read_bytes()).hexdigest()
            if digest != file["sha256"]:
                digest = hashlib.sha256(renew(path, file).read_bytes()).hexdigest()
        except (OSError, ValueError) as error:
            raise damaged(path, file, getattr(error, "strerror", None) or str(error)) from None
        if digest != file["sha256"]:
            raise damaged(path, file, "its content is not what the manifest says (SHA-256)")


def listed_files(manifest: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The entries of all files of all tables."""
    return [file for entries in manifest["tables"].values() for file in entries]


def damaged(path: Path, file: Mapping[str, Any], problem: str) -> ArenaError:
    """The error for a file that is not what the manifest says."""
    return ArenaError(
        f"a file of the arena is damaged: {problem}", where=f"{address(path)}/{file['path']}", do=rebuild_hint(path)
    )


def rebuild_hint(path: Path) -> str:
    """What to do about an arena that cannot be trusted."""
    return f"delete the folder {address(path)} and make the arena again"


def has_manifest(path: Path) -> bool:
    """Whether an arena, sound or not, is in a folder or on the object storage that it stands for."""
    if not is_remote(path):
        return is_file(path / NAME)
    try:
        manifest_bytes(path)
    except FileNotFoundError:
        return False
    return True


def manifest_bytes(path: Path) -> bytes:
    """The bytes of a manifest; of one that is too large, more than `LARGEST`.

    Raises:
        OSError: if it is absent or cannot be read.
    """
    if (remote := remote_of(path)) is not None:
        return remote.manifest()
    with (path / NAME).open("rb") as stream:
        return stream.read(LARGEST + 1)


def _no_arena(path: Path) -> ArenaError:
    return ArenaError(
        f"there is no arena at {address(path)}", do="check the path, or make one: mirage import nomiracl --help"
    )


def _unreadable(path: Path, problem: str) -> ArenaError:
    return ArenaError(f"the manifest cannot be read: {problem}", where=f"{address(path)}/{NAME}", do=rebuild_hint(path))


def _outside(path: Path, file: Mapping[str, Any]) -> ArenaError:
    return ArenaError(
        f"the manifest names a file outside the arena: {file['path']}",
        where=f"{address(path)}/{NAME}",
        do="do not use this arena; its manifest was tampered with",
    )


def _version(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()[:16]


def _problem(manifest: Any) -> str:
    """What is wrong with a parsed manifest; empty if nothing is."""
    if not isinstance(manifest, dict):
        return "it is not a JSON object"
    if manifest.get("format") != FORMAT:
        return f"it has format {manifest.get('format')!r}, this version of mirage reads {FORMAT}"
    for name in TEXTS:
        if not isinstance(manifest.get(name), str):
            return f"it has no text {name!r}"
    try:
        json.dumps(manifest, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        return "a text in it holds half a character (a lone surrogate)"
    origins, tables = manifest.get("made"), manifest.get("tables")
    if not isinstance(tables, dict) or not isinstance(origins, dict) or set(origins) != set(tables):
        return "it does not say for every table how it was made"
    for table, entries in tables.items():
        if table not in schema.TABLES:
            return f"it names a table {table!r}, which this version of mirage does not know"
        if problem := _files_problem(table, entries):
            return problem
        if problem := _made_problem(origins[table]):
            return f"it does not say how {table} was made: {problem}"
    return ""


def _files_problem(table: str, entries: Any) -> str:
    """What is wrong with the files of a table; empty if nothing is."""
    if not isinstance(entries, list):
        return f"the files of {table} are not a list"
    for file in entries:
        if not isinstance(file, dict) or any(type(file.get(k)) is not kind for k, kind in FILE.items()):
            return f"a file of {table} lacks one of " + ", ".join(FILE)
        if file["language"] and not is_code(file["language"]):
            return f"a file of {table} has the unknown language {file['language']!r}"
        if not (0 <= file["rows"] <= _COUNTS and 0 <= file["bytes"] <= _COUNTS):
            return f"a file of {table} has an impossible number of rows or bytes"
    return ""


def _made_problem(origin: Any) -> str:
    """What is wrong with what is said of how a table was made; empty if nothing is."""
    if not isinstance(origin, dict) or not isinstance(origin.get("by"), str):
        return "no command"
    sources, notes, runs = origin.get("from"), origin.get("notes"), origin.get("runs", {})
    if not isinstance(sources, list) or not all(isinstance(source, dict) for source in sources):
        return "its sources are no list of records"
    if not isinstance(notes, list) or not all(isinstance(note, str) for note in notes):
        return "its notes are no list of texts"
    if not isinstance(runs, dict) or not all(_is_run(run) for run in runs.values()):
        return "its runs are no records"
    return ""


def _is_run(run: Any) -> bool:
    return isinstance(run, dict) and all(isinstance(run.get(key, {}), dict) for key in ("tables", "options"))
