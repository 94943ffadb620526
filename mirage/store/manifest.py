"""The manifest of an arena: what it must hold, and what is said of a folder that does not match its own."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mirage import schema
from mirage.errors import ArenaError
from mirage.languages import LANGUAGES

NAME = "manifest.json"
FORMAT = 1
TEXTS = ("title", "label", "about", "licence")
FILE = {"path": str, "language": str, "rows": int, "bytes": int, "sha256": str}


def load(path: Path) -> tuple[dict[str, Any], str]:
    """Read the manifest of an arena folder and compare it with the files that it names, by presence and size.

    Returns:
        The manifest, and its version: a hash that changes with any content.

    Raises:
        ArenaError: if there is none, it is not one of this format, or a file it names is absent or has another size.
    """
    source = path / NAME
    if not source.is_file():
        if not path.exists():
            raise ArenaError(
                f"there is no arena at {path}", do="check the path, or make one: mirage import nomiracl --help"
            )
        raise ArenaError(
            f"{path} is not a finished arena: it has no {NAME}",
            do="run the command that was writing it again; nothing in it is lost by that",
        )
    try:
        raw = source.read_bytes()
        manifest = json.loads(raw)
        problem = _problem(manifest)
    except (OSError, ValueError, RecursionError) as error:
        problem = f"{type(error).__name__}: {error}"
    if problem:
        raise ArenaError(f"the manifest cannot be read: {problem}", where=str(source), do=again(path))
    for file in files(manifest):
        found = path / file["path"]
        if not found.resolve().is_relative_to(path.resolve()):
            raise ArenaError(
                f"the manifest names a file outside the arena: {file['path']}",
                where=str(source),
                do="do not use this arena; its manifest was tampered with",
            )
        if not found.is_file():
            raise damaged(path, file, "the manifest names it, but it is absent")
        size = found.stat().st_size
        if size != file["bytes"]:
            raise damaged(path, file, f"{size:,} bytes, the manifest says {file['bytes']:,}")
    return manifest, _version(raw)


def verify(path: Path, manifest: Mapping[str, Any], version: str) -> None:
    """Compare every file with the hash in the manifest.

    Raises:
        ArenaError: at the first file that is not what the manifest says, or if the arena was changed since the manifest
            was read.
    """
    try:
        now = _version((path / NAME).read_bytes())
    except OSError:
        now = ""
    if now != version:
        raise ArenaError("the arena was changed while it was being read", where=str(path), do="open it again")
    for file in files(manifest):
        try:
            digest = hashlib.sha256((path / file["path"]).read_bytes()).hexdigest()
        except OSError as error:
            raise damaged(path, file, error.strerror or str(error)) from None
        if digest != file["sha256"]:
            raise damaged(path, file, "its content is not what the manifest says (SHA-256)")


def files(manifest: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The entries of all files of all tables."""
    return [file for entries in manifest["tables"].values() for file in entries]


def damaged(path: Path, file: Mapping[str, Any], what: str) -> ArenaError:
    """The error for a file that is not what the manifest says."""
    return ArenaError(f"a file of the arena is damaged: {what}", where=str(path / file["path"]), do=again(path))


def again(path: Path) -> str:
    """What to do about an arena that cannot be trusted."""
    return f"delete the folder {path} and make the arena again"


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
    made, tables = manifest.get("made"), manifest.get("tables")
    if not isinstance(tables, dict) or not isinstance(made, dict) or set(made) != set(tables):
        return "it does not say for every table how it was made"
    for table, entries in tables.items():
        if table not in schema.TABLES:
            return f"it names a table {table!r}, which this version of mirage does not know"
        if not isinstance(entries, list):
            return f"the files of {table} are not a list"
        for file in entries:
            if not isinstance(file, dict) or any(type(file.get(k)) is not kind for k, kind in FILE.items()):
                return f"a file of {table} lacks one of " + ", ".join(FILE)
            if file["language"] not in ("", *LANGUAGES):
                return f"a file of {table} has the unknown language {file['language']!r}"
    return ""
