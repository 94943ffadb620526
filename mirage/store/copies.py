"""Copies of arenas: for writing without changing the original, and to and from object storage."""

from __future__ import annotations

import hashlib
import os
import re
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mirage import schema
from mirage.errors import ArenaError, BadInput
from mirage.store import manifest as manifests
from mirage.store.arena import Arena, is_arena, open_arena
from mirage.store.folders import make_folder, make_private
from mirage.store.user_files import BESIDE

if TYPE_CHECKING:
    from pyarrow import fs

_FILE = re.compile(rf"(?:{'|'.join(schema.TABLES)})/[\w-]+-[0-9a-f]{{12}}\.parquet")
"""Path of a table's file in an arena."""
_PIECE = 1 << 20
"""Bytes copied at a time."""


def copy(arena: Arena, into: Path) -> Arena:
    """Copy an arena's tables with its file of makers, without its ledger and other files.

    Args:
        arena: the original, which is not changed.
        into: a new or empty folder; an arena that is already there is opened unchanged.

    Raises:
        ArenaError: if the folder has other files, or cannot be written.
    """
    if not is_arena(into):
        copy_arena(str(arena.path), str(into))
    return open_arena(into)


def copy_arena(source: str, target: str) -> None:
    """Copy an arena between folders and object storage; repeated after an interruption, it completes the copy.

    The manifest is written last: an interrupted copy is not an arena.

    Args:
        source: a folder, or an address that `pyarrow.fs` knows (`s3://`, `gs://`, `abfss://`), with the credentials of
            the environment.
        target: likewise, new, empty, or with files of the same arena.

    Raises:
        ArenaError: if there is no arena at `source`, `target` holds something else, or a file cannot be copied, is no
            regular file or is damaged; nothing is then left of a new copy.
        BadInput: if an address is unknown to `pyarrow.fs`.
    """
    import pyarrow as pa
    from pyarrow import fs

    (here, root), (there, into) = _place(source), _place(target)
    try:
        raw = _read(here, f"{root}/{manifests.NAME}")
        if raw is None:
            raise ArenaError(f"there is no arena at {source}", do="check the path or the address")
        manifest, _ = manifests.parse_manifest(Path(root), raw)
        digests = {file["path"]: file["sha256"] for file in manifests.listed_files(manifest)}
        # A link beside the tables may lead out.
        digests |= {
            name: None
            for name in BESIDE
            if here.get_file_info(f"{root}/{name}").type != fs.FileType.NotFound
            and not os.path.islink(f"{root}/{name}")  # noqa: PTH114
        }
        for name in digests:
            if not here.get_file_info(f"{root}/{name}").is_file:
                raise manifests.damage_error(Path(root), {"path": name}, "it is missing or no regular file")
        found = there.get_file_info(fs.FileSelector(into, allow_not_found=True, recursive=True))
        own = {*digests, manifests.NAME, f"{manifests.NAME}.tmp"}
        files = {each.path.removeprefix(into).strip("/"): each for each in found if each.type != fs.FileType.Directory}
        others = {name for name, each in files.items() if name not in own or not each.is_file}
        present = _read(there, f"{into}/{manifests.NAME}")
        # An earlier copy may have been interrupted before the source changed.
        left = {name for name in others if _FILE.fullmatch(name)} if present is None else set()
        if others - left or present not in (None, raw):
            raise ArenaError(f"{target} holds other files", do="use a new or empty folder")
        try:
            for name, digest in digests.items():
                if digest is None or name not in files or _digest(there, f"{into}/{name}") != digest:
                    copied = _copy_file(here, f"{root}/{name}", there, f"{into}/{name}")
                    if digest not in (None, copied):
                        there.delete_file(f"{into}/{name}")
                        problem = "its content does not match the manifest (SHA-256)"
                        raise manifests.damage_error(Path(root), {"path": name}, problem)
        except ArenaError:
            if present is None:
                with suppress(OSError):
                    there.delete_dir(into)
            raise
        with _create(there, f"{into}/{manifests.NAME}.tmp") as stream:
            stream.write(raw)
        for name in left:
            there.delete_file(f"{into}/{name}")
        there.move(f"{into}/{manifests.NAME}.tmp", f"{into}/{manifests.NAME}")
    except (OSError, pa.ArrowException) as error:
        raise ArenaError(
            f"the arena cannot be copied: {error}",
            where=target,
            do="check space, permissions and credentials, then rerun",
        ) from None


def _place(text: str) -> tuple[fs.FileSystem, str]:
    """Return the file system of a folder or an address, and the path in it."""
    import pyarrow as pa
    from pyarrow import fs

    if "://" not in text:
        return fs.LocalFileSystem(), str(Path(text).absolute())
    try:
        system, path = fs.FileSystem.from_uri(text)
    except (OSError, ValueError, pa.ArrowException) as error:
        scheme = text.partition("://")[0]  # the rest may hold a password
        raise BadInput(
            f"the address cannot be used: {str(error).replace(text, f'{scheme}://')}",
            where=f"{scheme}://",
            do="use s3://, gs:// or abfss://",
        ) from None
    return system, path.rstrip("/")


def _copy_file(here: fs.FileSystem, source: str, there: fs.FileSystem, target: str) -> str:
    """Copy a file; return the SHA-256 of its bytes."""
    sha256 = hashlib.sha256()
    with here.open_input_stream(source, compression=None) as original, _create(there, target) as copied:
        while data := original.read(_PIECE):
            sha256.update(data)
            copied.write(data)
    return sha256.hexdigest()


def _create(system: fs.FileSystem, path: str) -> Any:
    """Create a file, on this machine for its owner alone, and open it for writing."""
    from pyarrow import fs

    if isinstance(system, fs.LocalFileSystem):
        make_folder(Path(path).parent)
        make_private(Path(path))
    else:
        system.create_dir(path.rpartition("/")[0])
    return system.open_output_stream(path, compression=None)


def _digest(system: fs.FileSystem, path: str) -> str:
    """Return the SHA-256 of a file's bytes."""
    with system.open_input_file(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _read(system: fs.FileSystem, path: str) -> bytes | None:
    """Return the bytes of a file; None if there is none."""
    if not system.get_file_info(path).is_file:
        return None
    with system.open_input_stream(path) as stream:
        return bytes(stream.read())
