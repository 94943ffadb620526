"""The manifest of an arena: its format, and verification of the files it names."""

import difflib
import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mirage import schema
from mirage.errors import ArenaError, Outdated
from mirage.store.bundled import shipped_folder
from mirage.text.languages import is_code

NAME = "manifest.json"
FORMAT = 1
TEXTS = ("title", "label", "about", "licence")
FILE = {"path": str, "language": str, "rows": int, "bytes": int, "sha256": str}
LARGEST = 64_000_000
"""Maximum bytes of a manifest; the largest known has less than a million."""
_COUNTS = 2**53
"""Upper bound of all counts in a manifest."""


def arena_folders(folder: Path) -> dict[str, Path]:
    """Return the arenas in a local folder by folder name, sorted; empty if there is no such folder.

    Called on every rerun of a page: `os.scandir` is several times faster than a glob.
    """
    try:
        with os.scandir(folder) as entries:
            names = sorted(entry.name for entry in entries)
    except OSError:
        return {}
    return {name: folder / name for name in names if os.path.isfile(os.path.join(folder, name, NAME))}  # noqa: PTH113, PTH118  # as above


def load_manifest(path: Path) -> tuple[dict[str, Any], str]:
    """Read the manifest of an arena folder, and check presence and size of the files it names.

    Returns:
        The manifest, and its version: a hash that changes with any content.

    Raises:
        ArenaError: if there is none, it has another format, or a file it names is missing or has another size.
    """
    refuse_undecodable(path)
    source = path / NAME
    if not is_file(source):
        if not exists(path):
            raise _no_arena(path)
        raise ArenaError(
            f"{path} is not a finished arena: it has no {NAME}",
            do="rerun the command that was writing it; its data is not lost",
        )
    try:
        raw = manifest_bytes(path)
        if len(raw) > LARGEST:
            raise ValueError(f"it has more than {LARGEST:,} bytes")
    except (OSError, ValueError) as error:
        raise _unreadable_error(path, f"{type(error).__name__}: {error}") from None
    manifest, version = parse_manifest(path, raw)
    for file in listed_files(manifest):
        try:
            _compare(path, file)
        except OSError as error:
            raise damage_error(path, file, error.strerror or str(error)) from None
    return manifest, version


def parse_manifest(path: Path, raw: bytes) -> tuple[dict[str, Any], str]:
    """Parse a manifest, and check that the files it names are inside the arena's folder, present or not.

    Raises:
        ArenaError: if it has another format, or names a file outside.
    """
    try:
        manifest = json.loads(raw, object_pairs_hook=_refuse_repeats)
        problem = _problem(manifest)
    except (ValueError, RecursionError) as error:
        problem = f"{type(error).__name__}: {error}"
    if problem:
        raise _unreadable_error(path, problem)
    for file in listed_files(manifest):
        try:
            inside = (path / file["path"]).resolve().is_relative_to(path.resolve())
        except (OSError, ValueError, RuntimeError) as error:
            # Invalid file name: it contains NUL, is too long, or a symlink loop.
            raise ArenaError(
                f"the manifest has an invalid file name: {error}",
                where=f"{path / NAME}: {file['path'][:200]!r}",
                do=rebuild_hint(path),
            ) from None
        if not inside:
            raise ArenaError(
                f"the manifest refers to a file outside the arena: {file['path']}",
                where=f"{path}/{NAME}",
                do="do not use this arena; its manifest was tampered with",
            )
    return manifest, _version(raw)


def _refuse_repeats(members: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the members of a JSON object; refuse repeats, where a reader sees the first and a program the last."""
    if len(found := dict(members)) < len(members):
        raise ValueError("a member of it is repeated")
    return found


def refuse_undecodable(path: Path) -> None:
    """Reject a folder with a name that is not UTF-8, since its files could not be opened.

    Raises:
        ArenaError: showing the name with the undecodable bytes escaped.
    """
    if any("\ud800" <= letter <= "\udfff" for letter in str(path)):
        printable = str(path).encode("utf-8", "backslashreplace").decode()
        raise ArenaError("the name of this folder is not UTF-8", where=printable, do="rename the folder")


def is_file(path: Path) -> bool:
    """Return whether a path is a file; False for an invalid path."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def exists(path: Path) -> bool:
    """Return whether a path exists; False for an invalid path."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def _compare(path: Path, file: Mapping[str, Any]) -> None:
    """Check presence and size of a file against its entry."""
    file_path = path / file["path"]
    if not file_path.is_file():
        raise damage_error(path, file, "it is missing")
    size = file_path.stat().st_size
    if size != file["bytes"]:
        raise damage_error(path, file, f"{size:,} bytes instead of {file['bytes']:,}")


def verify(path: Path, manifest: Mapping[str, Any], version: str) -> None:
    """Verify every file against its hash in the manifest.

    Raises:
        ArenaError: at the first file that does not match.
        Outdated: if the arena was changed since the manifest was read.
    """
    try:
        current = _version(manifest_bytes(path))
    except OSError:
        current = ""
    if current != version:
        raise Outdated("the arena was changed while it was being read", where=str(path), do="open it again")
    for file in listed_files(manifest):
        try:
            digest = hashlib.sha256((path / file["path"]).read_bytes()).hexdigest()
        except (OSError, ValueError) as error:
            raise damage_error(path, file, getattr(error, "strerror", None) or str(error)) from None
        if digest != file["sha256"]:
            raise damage_error(path, file, "its content does not match the manifest (SHA-256)")


def refuse_further_members(path: Path, manifest: Mapping[str, Any]) -> None:
    """Refuse members that no version of a manifest has had: no code shows or checks their claims.

    Raises:
        ArenaError: naming the first.
    """
    known = {"format", *TEXTS, "judge", "labels", "made", "tables"}
    for members, names in ((manifest, known), *((file, FILE.keys()) for file in listed_files(manifest))):
        if further := members.keys() - names:
            raise _unreadable_error(path, f"it has a member {min(further)!r}")


def listed_files(manifest: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the entries of all files of all tables."""
    return [file for entries in manifest["tables"].values() for file in entries]


def damage_error(path: Path, file: Mapping[str, Any], problem: str) -> ArenaError:
    """Return the error for a file that does not match the manifest."""
    return ArenaError(
        f"a file of the arena is damaged: {problem}", where=f"{path}/{file['path']}", do=rebuild_hint(path)
    )


def rebuild_hint(path: Path) -> str:
    """Return the advice for a damaged arena."""
    return f"delete the folder {path} and create the arena again"


def has_manifest(path: Path) -> bool:
    """Return whether an arena, intact or not, is in a folder."""
    return is_file(path / NAME)


def manifest_bytes(path: Path) -> bytes:
    """Return the bytes of a manifest, truncated to `LARGEST` + 1.

    Raises:
        OSError: if it is missing or cannot be read.
    """
    with (path / NAME).open("rb") as stream:
        return stream.read(LARGEST + 1)


def _no_arena(path: Path) -> ArenaError:
    do = "check the path, or create one: mirage import nomiracl --help"
    if not path.exists():
        if path.suffix:
            return ArenaError(f"there is no file {path}", do="check the path")
        nearest = difflib.get_close_matches(path.name.lower(), arena_folders(shipped_folder() / "data"), n=1)
        do = f"did you mean {nearest[0]}?" if nearest else do
    return ArenaError(f"there is no arena at {path}", do=do)


def _unreadable_error(path: Path, problem: str) -> ArenaError:
    return ArenaError(f"the manifest cannot be read: {problem}", where=f"{path}/{NAME}", do=rebuild_hint(path))


def _version(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()[:16]


def _problem(manifest: Any) -> str:
    """Describe the first error in a parsed manifest; empty if there is none."""
    if not isinstance(manifest, dict):
        return "it is not a JSON object"
    if manifest.get("format") != FORMAT:
        return f"it has format {manifest.get('format')!r}; this version of mirage reads {FORMAT}"
    for name in TEXTS:
        if not isinstance(manifest.get(name), str):
            return f"it has no text {name!r}"
    if not isinstance(manifest.get("judge", ""), str):
        return "its judge is not a name"
    try:
        json.dumps(manifest, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        return "a text in it has a lone surrogate"
    origins, tables = manifest.get("made"), manifest.get("tables")
    if not isinstance(tables, dict) or not isinstance(origins, dict) or set(origins) != set(tables):
        return "the provenance of a table is missing"
    for table, entries in tables.items():
        if table not in schema.TABLES:
            return f"it has a table {table!r}, which this version of mirage does not support"
        if problem := _files_problem(table, entries):
            return problem
        if problem := _made_problem(origins[table]):
            return f"invalid provenance of {table}: {problem}"
    return ""


def _files_problem(table: str, entries: Any) -> str:
    """Describe the first error in the file list of a table; empty if there is none."""
    if not isinstance(entries, list):
        return f"the files of {table} are not a list"
    for file in entries:
        if not isinstance(file, dict) or any(type(file.get(k)) is not kind for k, kind in FILE.items()):
            return f"a file of {table} lacks one of " + ", ".join(FILE)
        if file["language"] and not is_code(file["language"]):
            return f"a file of {table} has the unknown language {file['language']!r}"
        if not (0 <= file["rows"] <= _COUNTS and 0 <= file["bytes"] <= _COUNTS):
            return f"a file of {table} has an invalid number of rows or bytes"
    return ""


def _made_problem(origin: Any) -> str:
    """Describe the first error in the provenance of a table; empty if there is none."""
    if not isinstance(origin, dict) or not isinstance(origin.get("by"), str):
        return "no command"
    sources, notes, runs = origin.get("from"), origin.get("notes"), origin.get("runs", {})
    if not isinstance(sources, list) or not all(isinstance(source, dict) for source in sources):
        return "its sources are not a list of records"
    if not isinstance(notes, list) or not all(isinstance(note, str) for note in notes):
        return "its notes are not a list of texts"
    settings = origin.get("settings", {})
    if not isinstance(settings, dict) or not all(isinstance(made, dict) for made in settings.values()):
        return "its settings are not records"
    if not isinstance(runs, dict) or not all(
        isinstance(run, dict) and all(isinstance(run.get(key, {}), dict) for key in ("tables", "options"))
        for run in runs.values()
    ):
        return "its runs are not records"
    return ""
