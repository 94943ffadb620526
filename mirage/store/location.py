"""Where an arena is: in a folder, or on object storage.

    located("s3://bucket/arena")    # HOME/remote/s3/bucket/arena

An arena on object storage has a folder of this machine that stands for it: the path says the address and the address
the path, so that whatever takes an arena's folder takes both. In that folder is what cannot be on object storage: the
ledger of replies, and the lock of the writers of this machine. HOME is the user's own folder (`home.py`).
"""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import quote, unquote

from mirage.errors import BadInput
from mirage.store.folders import home_folder

SCHEMES = ("s3", "gs", "abfs", "abfss", "hdfs")
"""What an address on object storage begins with, before `://`."""
_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://(.*)", re.DOTALL)
_SAFE = " !$&'()+,;=@"
"""Characters that are kept in the name of a folder, beside letters, digits and `_.-~`."""
_CONTAINER = re.compile(r"[a-z0-9$-]+@[a-z0-9.-]+(:\d+)?")
"""Container and account of an `abfs` address, which have the form of a user and a host."""
_HOST = re.compile(r"[A-Za-z0-9._-]+(:\d+)?")


def located(text: str) -> Path:
    """The folder of an arena, or the one that stands for an arena on object storage.

    Args:
        text: a path, or an address: `s3://`, `gs://`, `abfs://` or `hdfs://`, bucket or host, and folders.

    Raises:
        BadInput: if the address has another scheme, holds credentials or a query, or names no folder.
    """
    match = _ADDRESS.fullmatch(text)
    if match is None:
        return Path(text)
    scheme, rest = match[1].lower(), match[2]
    where, do = f"{scheme}://", "give scheme://bucket/folder and nothing else"
    if scheme == "file":
        return Path(unquote(rest))
    if scheme not in SCHEMES:
        raise BadInput("this is no address of an arena", where=where, do=f"begin it with {', '.join(SCHEMES)}")
    # What is refused may be a secret: it is in no error.
    if "?" in rest or "#" in rest:
        raise BadInput("an address has no query and no fragment", where=where, do=do)
    host, *folders = rest.rstrip("/").split("/")
    if "@" in host and not (scheme.startswith("abfs") and _CONTAINER.fullmatch(host)):
        raise BadInput(
            "an address holds no name and no password",
            where=where,
            do="give credentials in the environment (AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, for example)",
        )
    if "@" not in host and not _HOST.fullmatch(host):
        raise BadInput("the address names no bucket", where=where, do=do)
    if any(part in ("", ".", "..") or not part.isprintable() for part in folders):
        raise BadInput("the address names no folder", where=f"{where}{host}", do=do)
    return _root().joinpath(scheme, *(quote(part, safe=_SAFE + ":") for part in (host, *folders)))


def is_remote(path: Path) -> bool:
    """Whether a folder stands for an arena on object storage."""
    return _parts(path) is not None


def address(path: Path) -> str:
    """How a person names an arena: its folder's path, or its address on object storage."""
    parts = _parts(path)
    if parts is None:
        return str(path)
    scheme, *names = parts
    return f"{scheme}://{'/'.join(unquote(name) for name in names)}"


def _root() -> Path:
    return home_folder() / "remote"


def _parts(path: Path) -> tuple[str, ...] | None:
    """Scheme, bucket and folders of the address that a folder stands for; None for any other folder."""
    root = _root()
    if not path.is_relative_to(root):
        return None
    parts = path.relative_to(root).parts
    return parts if len(parts) > 1 and parts[0] in SCHEMES else None
