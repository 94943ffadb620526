"""Locations of arenas: folders, or addresses on object storage.

    locate("s3://bucket/arena")    # HOME/remote/s3/bucket/arena

An arena on object storage has a local stand-in folder; path and address determine each other, so functions that take an
arena's folder accept both. The folder holds what object storage cannot: the ledger of replies, and the lock among
writers on this machine. HOME is the user's folder (`home.py`).
"""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import quote, unquote

from mirage.errors import BadInput
from mirage.store.folders import home_folder

SCHEMES = ("s3", "gs", "abfs", "abfss", "hdfs")
"""Schemes of addresses on object storage."""
_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://(.*)", re.DOTALL)
_SAFE = " !$&'()+,;=@"
"""Characters kept in a folder name, besides letters, digits and `_.-~`."""
_CONTAINER = re.compile(r"[a-z0-9$-]+@[a-z0-9.-]+(:\d+)?")
"""Container and account of an `abfs` address, which look like a user and a host."""
_HOST = re.compile(r"[A-Za-z0-9._-]+(:\d+)?")


def locate(text: str) -> Path:
    """Return the folder of an arena, or the local stand-in of an address on object storage.

    Args:
        text: a path, or an address: `s3://`, `gs://`, `abfs://` or `hdfs://`, bucket or host, and folders.

    Raises:
        BadInput: if the address has another scheme, contains credentials or a query, or has no folder.
    """
    match = _ADDRESS.fullmatch(text)
    if match is None:
        return Path(text)
    scheme, rest = match[1].lower(), match[2]
    where, do = f"{scheme}://", "use the form scheme://bucket/folder"
    if scheme == "file":
        return Path(unquote(rest))
    if scheme not in SCHEMES:
        raise BadInput(
            "this is not an address of an arena", where=where, do=f"use one of the schemes {', '.join(SCHEMES)}"
        )
    # A rejected part may be a secret, so error messages omit it.
    if "?" in rest or "#" in rest:
        raise BadInput("an address must not have a query or a fragment", where=where, do=do)
    host, *folders = rest.rstrip("/").split("/")
    if "@" in host and not (scheme.startswith("abfs") and _CONTAINER.fullmatch(host)):
        raise BadInput(
            "an address must not contain a name or a password",
            where=where,
            do="set credentials in the environment (AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, for example)",
        )
    if "@" not in host and not _HOST.fullmatch(host):
        raise BadInput("the address has no bucket", where=where, do=do)
    if any(part in ("", ".", "..") or not part.isprintable() for part in folders):
        raise BadInput("the address has no valid folder", where=f"{where}{host}", do=do)
    return _root().joinpath(scheme, *(quote(part, safe=_SAFE + ":") for part in (host, *folders)))


def is_remote(path: Path) -> bool:
    """Return whether a folder is the stand-in of an arena on object storage."""
    return _parts(path) is not None


def address(path: Path) -> str:
    """Return the name of an arena for people: its folder's path, or its address on object storage."""
    parts = _parts(path)
    if parts is None:
        return str(path)
    scheme, *names = parts
    return f"{scheme}://{'/'.join(unquote(name) for name in names)}"


def _root() -> Path:
    return home_folder() / "remote"


def _parts(path: Path) -> tuple[str, ...] | None:
    """Return scheme, bucket and folders of a stand-in folder's address; None for any other folder."""
    root = _root()
    if not path.is_relative_to(root):
        return None
    parts = path.relative_to(root).parts
    return parts if len(parts) > 1 and parts[0] in SCHEMES else None
