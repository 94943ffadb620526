"""The arena owner's records of distributed ballots, in the user's folder.

HOME/ballots/ID.json    the systems of a ballot's items; voters see only item ids
HOME/ballots/secret     32 bytes that sign ballots; they allow reading which answer is whose
"""

from __future__ import annotations

import json
import os
import secrets
from contextlib import suppress
from typing import Any

from mirage.errors import ArenaError
from mirage.store.files import list_files, write_text
from mirage.store.folders import home_folder

_SECRET = 32
"""Length of the secret in bytes."""


def ballot_secret() -> bytes:
    """Return the secret that signs ballots, generating it on first use.

    Raises:
        ArenaError: if it cannot be read or written.
    """
    path = home_folder() / "ballots" / "secret"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            # Write to a temporary file, then link it: if two programs race, both read the winner's secret.
            draft = path.with_name(f".secret.{os.getpid()}.{secrets.token_hex(4)}")
            try:
                descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
                with os.fdopen(descriptor, "wb") as stream:
                    stream.write(secrets.token_bytes(_SECRET))
                    stream.flush()
                    os.fsync(stream.fileno())
                with suppress(FileExistsError):
                    os.link(draft, path)
            finally:
                draft.unlink(missing_ok=True)
        secret = path.read_bytes()
    except OSError as error:
        raise ArenaError(
            f"the secret of the ballots cannot be stored: {error.strerror or error}",
            where=str(path),
            do="check permissions, or name another folder in MIRAGE_HOME",
        ) from None
    if len(secret) != _SECRET:
        raise ArenaError("the secret of the ballots is damaged", where=str(path), do="restore it from a backup")
    return secret


def keep_ballot(name: str, record: dict[str, Any]) -> None:
    """Store the record of a ballot under its id.

    Raises:
        ArenaError: if it cannot be written.
    """
    path = home_folder() / "ballots" / f"{name}.json"
    try:
        write_text(path, json.dumps(record, ensure_ascii=False, sort_keys=True))
    except OSError as error:
        raise ArenaError(
            f"the ballot cannot be stored: {error.strerror or error}",
            where=str(path),
            do="check permissions, or name another folder in MIRAGE_HOME",
        ) from None


def kept_ballots() -> dict[str, dict[str, Any]]:
    """Return the records of the ballots made here, sorted by id.

    Raises:
        ArenaError: if one cannot be read.
    """
    folder = home_folder() / "ballots"
    records = {}
    for path in list_files(folder, "*.json") if folder.is_dir() else ():
        try:
            records[path.stem] = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            raise ArenaError("a ballot's record cannot be read", where=str(path), do="restore or remove it") from None
    return records
