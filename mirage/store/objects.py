"""Objects of a service: read, written, and replaced only by whoever has seen what is replaced.

S3, Google Cloud Storage and Azure are reached by `obstore`, whose `put` sends the condition under which an object is
replaced (If-Match, If-None-Match, generation). HDFS is reached by `pyarrow.fs` and read alone: its rename removes what
is in the way before it moves, so that of two writers both could win.

Credentials come from the environment (AWS_*, GOOGLE_*, AZURE_*). What a service says of an error may hold an access
key, so that an error of ours holds no text of theirs but the code.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Protocol

from mirage.errors import ArenaError, MirageError, Unreachable
from mirage.extras import extra

CONNECT_SECONDS, READ_SECONDS, RETRY_SECONDS = 5, 20, 30
"""How long to wait for a connection, for the next bytes, and for an answer of any attempt."""
_RETRIES, _FIRST_PAUSE, _LONGEST_PAUSE = 40, 0.2, 5
"""Attempts after the first, as many as the time allows; pauses in seconds, which grow and are drawn at random."""
_PIECE = 1 << 20
"""Bytes of a piece of a download."""
_CODE = re.compile(r"<Code>(\w{1,40})</Code>")
_EXPIRED = {"ExpiredToken", "ExpiredTokenException", "RequestExpired", "TokenRefreshRequired"}
_UNKNOWN = {
    "InvalidAccessKeyId",
    "SignatureDoesNotMatch",
    "InvalidToken",
    "AuthenticationFailed",
    "InvalidClientTokenId",
}
_UNAUTHORISED, _FORBIDDEN, _SERVER = 401, 403, 500
"""Status of a response: who is this; not you; the fault is ours, and all above."""
_RENEW = "get new ones, put them into the environment, then run the command again; what was fetched is kept"


class Overtaken(ArenaError):
    """Another program has replaced the object since it was read."""


@dataclass(frozen=True, slots=True)
class Stored:
    """An object as it was read."""

    data: bytes
    """Its bytes."""
    state: Mapping[str, str]
    """What the service calls this state of it: ETag, and a version where it keeps any."""


@dataclass(frozen=True, slots=True)
class Listed:
    """An object in a list."""

    name: str
    """Its name under the address, with `/` between folders."""
    modified: datetime
    """When it was written, by the service's clock."""


class Objects(Protocol):
    """The objects under an address. Every method raises ArenaError where the service refuses, and Unreachable where it
    does not answer.
    """

    def get(self, name: str, known: Stored | None = None) -> Stored:
        """Read an object; `known` itself where it is still so.

        Raises:
            FileNotFoundError: if it is absent.
        """

    def pieces(self, name: str) -> Iterator[bytes]:
        """Read a large object.

        Raises:
            FileNotFoundError: if it is absent.
        """

    def put(self, name: str, data: bytes | Path) -> None:
        """Write an object: some bytes, or what a file holds."""

    def need_conditions(self) -> None:
        """Refuse a service that does not keep two writers apart.

        Raises:
            ArenaError: if it has no conditional writes, or takes conditions and does not heed them.
        """

    def replace(self, name: str, data: bytes, known: Stored | None) -> Stored:
        """Write an object if it is still as it was known; None: if it is absent.

        Raises:
            Overtaken: if it is not.
        """

    def names(self) -> list[Listed]:
        """All objects, of all folders."""

    def folders(self) -> list[str]:
        """The folders right under the address."""

    def delete(self, names: Sequence[str]) -> None:
        """Remove objects."""


def objects(address: str) -> Objects:
    """The objects under an address.

    Raises:
        BadInput: if the extra `storage` is not installed.
        ArenaError: if the service cannot be used as the environment has it.
    """
    return _Hadoop(address) if address.startswith("hdfs://") else _Service(address)


class _Service:
    """Objects of S3, Google Cloud Storage or Azure, or of what speaks as one of them."""

    def __init__(self, address: str) -> None:
        with extra("storage", "an arena on object storage"):
            import obstore
            from obstore import store

        self._address = address
        self._api: Any = obstore
        self._proved = False
        with _told(address):
            self._store: Any = store.from_url(
                address,
                client_options={
                    # Without encryption only where whoever runs this has named such a server.
                    "allow_http": os.environ.get("AWS_ENDPOINT_URL", "").startswith("http://"),
                    "connect_timeout": f"{CONNECT_SECONDS}s",
                    "read_timeout": f"{READ_SECONDS}s",
                    "timeout": "30m",
                },
                retry_config={
                    "max_retries": _RETRIES,
                    "retry_timeout": timedelta(seconds=RETRY_SECONDS),
                    "backoff": {
                        "init_backoff": timedelta(seconds=_FIRST_PAUSE),
                        "max_backoff": timedelta(seconds=_LONGEST_PAUSE),
                        "base": 2,
                    },
                },
            )

    def get(self, name: str, known: Stored | None = None) -> Stored:
        from obstore.exceptions import NotModifiedError

        tag = known.state.get("e_tag") if known is not None else None
        with _told(self._address, name):
            try:
                result = self._api.get(self._store, name, options={"if_none_match": tag} if tag else None)
                return Stored(bytes(result.bytes()), _state(result.meta))
            except NotModifiedError:
                assert known is not None  # noqa: S101  # only then was there a condition
                return known

    def pieces(self, name: str) -> Iterator[bytes]:
        with _told(self._address, name):
            for piece in self._api.get(self._store, name).stream(min_chunk_size=_PIECE):
                yield bytes(piece)

    def put(self, name: str, data: bytes | Path) -> None:
        with _told(self._address, writing=True):
            self._api.put(self._store, name, data)

    def replace(self, name: str, data: bytes, known: Stored | None) -> Stored:
        with _told(self._address, writing=True):
            mode = "create" if known is None else dict(known.state)
            # In one request: a condition on parts is not the same for all services.
            result = self._api.put(self._store, name, data, mode=mode, use_multipart=False)
        return Stored(data, _state(result))

    def names(self) -> list[Listed]:
        with _told(self._address):
            return [
                Listed(meta["path"], meta["last_modified"])
                for batch in self._api.list(self._store, chunk_size=1_000)
                for meta in batch
            ]

    def folders(self) -> list[str]:
        with _told(self._address):
            return sorted(self._api.list_with_delimiter(self._store)["common_prefixes"])

    def delete(self, names: Sequence[str]) -> None:
        if names:
            with _told(self._address, writing=True):
                self._api.delete(self._store, list(names))

    def need_conditions(self) -> None:
        if self._proved:
            return
        probe = ".conditions"
        with suppress(Overtaken):  # it was proved before
            self.replace(probe, b"", None)
        for known in (None, Stored(b"", {"e_tag": '"0"', "version": "0"})):
            try:
                self.replace(probe, b"", known)
            except Overtaken:
                continue
            raise ArenaError(
                "this object storage replaces objects whatever the condition: two writers could lose each other's rows",
                where=self._address,
                do="write on a service with conditional writes, or into a local folder that is copied there",
            )
        self._proved = True


class _Hadoop:
    """Files of HDFS, for reading alone."""

    def __init__(self, address: str) -> None:
        self._address = address
        with _told_hadoop(address):
            self._system, self._root = _hadoop(address)

    def get(self, name: str, known: Stored | None = None) -> Stored:
        with _told_hadoop(self._address, name):
            info = self._system.get_file_info(f"{self._root}/{name}")
            if not info.is_file:
                raise FileNotFoundError
            state = {"e_tag": f"{info.mtime_ns} {info.size}"}
            if known is not None and known.state == state:
                return known
            return Stored(b"".join(self.pieces(name)), state)

    def pieces(self, name: str) -> Iterator[bytes]:
        with (
            _told_hadoop(self._address, name),
            self._system.open_input_stream(f"{self._root}/{name}", compression=None) as stream,
        ):
            while piece := stream.read(_PIECE):
                yield piece

    def put(self, name: str, data: bytes | Path) -> None:  # noqa: ARG002  # of the protocol
        raise self._read_only()

    def need_conditions(self) -> None:
        raise self._read_only()

    def replace(self, name: str, data: bytes, known: Stored | None) -> Stored:  # noqa: ARG002  # of the protocol
        raise self._read_only()

    def names(self) -> list[Listed]:
        from pyarrow import fs

        with _told_hadoop(self._address):
            infos = self._system.get_file_info(fs.FileSelector(self._root, recursive=True))
        return [Listed(info.path.removeprefix(f"{self._root}/"), info.mtime) for info in infos if info.is_file]

    def folders(self) -> list[str]:
        from pyarrow import fs

        with _told_hadoop(self._address):
            infos = self._system.get_file_info(fs.FileSelector(self._root))
        return sorted(info.base_name for info in infos if not info.is_file)

    def delete(self, names: Sequence[str]) -> None:  # noqa: ARG002  # of the protocol
        raise self._read_only()

    def _read_only(self) -> ArenaError:
        return ArenaError(
            "an arena on HDFS is only read: it has no conditional write, and two writers could lose each other's rows",
            where=self._address,
            do="write it into a local folder or on S3, Google Cloud Storage or Azure; then copy the folder to HDFS",
        )


def _hadoop(address: str) -> tuple[Any, str]:
    """The file system of an address, and the path in it."""
    from pyarrow import fs

    system, path = fs.FileSystem.from_uri(address)
    return system, path


def _state(meta: Mapping[str, Any]) -> dict[str, str]:
    return {key: meta[key] for key in ("e_tag", "version") if meta.get(key)}


@contextmanager
def _told(address: str, name: str = "", *, writing: bool = False) -> Iterator[None]:
    """Turn the errors of `obstore` into ours, without a word of what the service said but its code."""
    from obstore.exceptions import (
        AlreadyExistsError,
        BaseError,
        NotModifiedError,
        PermissionDeniedError,
        PreconditionError,
        UnauthenticatedError,
    )

    try:
        yield
    except (MirageError, NotModifiedError):
        raise
    except FileNotFoundError:
        if writing:
            raise ArenaError(
                "there is no such bucket", where=address, do="make the bucket, or check its name"
            ) from None
        raise _absent(address, name) from None
    except (AlreadyExistsError, PreconditionError):
        raise Overtaken(
            "other programs keep changing this arena", where=address, do="run the command again when they are done"
        ) from None
    # The library passes on settings that it refuses as ValueError, and what a service cannot do as NotImplementedError.
    except (BaseError, OSError, ValueError, NotImplementedError) as error:
        match = _CODE.search(str(error))
        code = match[1] if match else ""
        denied = isinstance(error, PermissionDeniedError | UnauthenticatedError | PermissionError)
        raise _refusal(address, code, denied=denied, status=_status(str(error)), writing=writing) from None


def _status(text: str) -> int:
    """The status of an HTTP response that an error tells of; 0 where there was none."""
    match = re.search(r"status(?: code)?:? (\d{3})\b", text)
    return int(match[1]) if match else 0


def _refusal(address: str, code: str, *, denied: bool, status: int, writing: bool) -> MirageError:
    """What is wrong, by the service's code."""
    act = "written" if writing else "read"
    if code in _EXPIRED:
        return ArenaError("the credentials for the object storage have expired", where=address, do=_RENEW)
    if code in _UNKNOWN or status == _UNAUTHORISED:
        return ArenaError(
            f"the object storage does not know these credentials ({code or status})",
            where=address,
            do="check them in the environment (AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, for example)",
        )
    if denied or status == _FORBIDDEN:
        return ArenaError(
            f"this cannot be {act}: the object storage denies it ({code or 'access denied'})",
            where=address,
            do=f"use credentials that may have it {act}, or ask whoever owns the bucket",
        )
    if code and status < _SERVER:
        return ArenaError(
            f"this cannot be {act}: the object storage refuses ({code})", where=address, do="check the address"
        )
    return Unreachable(
        f"the object storage does not answer ({code or status or 'no response'})",
        where=address,
        do="check the network, credentials and AWS_ENDPOINT_URL, then run the command again; nothing is half written",
    )


@contextmanager
def _told_hadoop(address: str, name: str = "") -> Iterator[None]:
    """Turn the errors of `pyarrow.fs` into ours."""
    import pyarrow as pa

    try:
        yield
    except FileNotFoundError:
        raise _absent(address, name) from None
    except PermissionError:
        raise _refusal(address, "", denied=True, status=0, writing=False) from None
    except (OSError, pa.ArrowException) as error:
        library = "libhdfs" in str(error) or "libjvm" in str(error)
        raise Unreachable(
            "HDFS needs Hadoop's own library on this machine" if library else "HDFS does not answer",
            where=address,
            do="install Hadoop; set JAVA_HOME, HADOOP_HOME and CLASSPATH (`hadoop classpath --glob`)"
            if library
            else "check the network and the name of the host",
        ) from None


def _absent(address: str, name: str) -> FileNotFoundError:
    return FileNotFoundError(errno.ENOENT, "it is absent", f"{address}/{name}" if name else address)
