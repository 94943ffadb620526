"""Object storage clients: read, write, and conditional replace.

S3, Google Cloud Storage and Azure are accessed by `obstore`, whose `put` sends the condition for replacing an object
(If-Match, If-None-Match, generation). HDFS is accessed by `pyarrow.fs`, read-only: its rename removes the target before
moving, so of two writers both could succeed.

Credentials come from the environment (AWS_*, GOOGLE_*, AZURE_*). A service's error text may contain an access key, so
our errors include only its code.
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
from mirage.store.extras import extra

CONNECT_SECONDS, READ_SECONDS, RETRY_SECONDS = 5, 20, 30
"""Timeouts for a connection, for the next bytes, and for all attempts of a request."""
_RETRIES, _FIRST_PAUSE, _LONGEST_PAUSE = 40, 0.2, 5
"""Maximum retries, within the time limit; first and longest backoff in seconds, exponential with jitter."""
_PIECE = 1 << 20
"""Bytes per piece of a download."""
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
"""HTTP 401, 403, 5xx"""
_RENEW = "get new credentials, set them in the environment, then rerun the command; fetched files are cached"


class Overtaken(ArenaError):
    """The object was replaced by another program since it was read."""


@dataclass(frozen=True, slots=True)
class Stored:
    """An object as it was read."""

    data: bytes
    """Content of the object."""
    state: Mapping[str, str]
    """Identifier of this state: ETag, and a version if the service has versions."""


@dataclass(frozen=True, slots=True)
class Listed:
    """An entry of a list of objects."""

    name: str
    """Name under the address, with `/` between folders."""
    modified: datetime
    """Modification time, by the service's clock."""


class Objects(Protocol):
    """The objects under an address.

    Every method raises ArenaError if the service denies access, and Unreachable if it does not answer.
    """

    def get(self, name: str, known: Stored | None = None) -> Stored:
        """Read an object; return `known` if it is unchanged.

        Raises:
            FileNotFoundError: if it does not exist.
        """

    def pieces(self, name: str) -> Iterator[bytes]:
        """Read a large object in pieces.

        Raises:
            FileNotFoundError: if it does not exist.
        """

    def put(self, name: str, data: bytes | Path) -> None:
        """Write an object from bytes or a file."""

    def need_conditions(self) -> None:
        """Check that the service supports conditional writes.

        Raises:
            ArenaError: if it does not, or accepts conditions but ignores them.
        """

    def replace(self, name: str, data: bytes, known: Stored | None) -> Stored:
        """Write an object if it is unchanged since `known`; None: if it does not exist.

        Raises:
            Overtaken: if it has changed.
        """

    def names(self) -> list[Listed]:
        """List all objects, in all folders."""

    def folders(self) -> list[str]:
        """List the folders directly under the address."""

    def delete(self, names: Sequence[str]) -> None:
        """Delete objects."""


def objects(address: str) -> Objects:
    """Connect to the objects under an address.

    Raises:
        BadInput: if the extra `storage` is not installed.
        ArenaError: if the service cannot be used with the settings of the environment.
    """
    return _Hadoop(address) if address.startswith("hdfs://") else _Service(address)


class _Service:
    """Objects on S3, Google Cloud Storage or Azure, or on a compatible service."""

    def __init__(self, address: str) -> None:
        with extra("storage", "an arena on object storage"):
            import obstore
            from obstore import store

        self._address = address
        self._api: Any = obstore
        self._conditional = False
        with _convert_errors(address):
            self._store: Any = store.from_url(
                address,
                client_options={
                    # Plain HTTP only if the user has set such an endpoint.
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
        with _convert_errors(self._address, name):
            try:
                result = self._api.get(self._store, name, options={"if_none_match": tag} if tag else None)
                return Stored(bytes(result.bytes()), _state(result.meta))
            except NotModifiedError:
                assert known is not None  # noqa: S101  # only then was there a condition
                return known

    def pieces(self, name: str) -> Iterator[bytes]:
        with _convert_errors(self._address, name):
            for piece in self._api.get(self._store, name).stream(min_chunk_size=_PIECE):
                yield bytes(piece)

    def put(self, name: str, data: bytes | Path) -> None:
        with _convert_errors(self._address, writing=True):
            self._api.put(self._store, name, data)

    def replace(self, name: str, data: bytes, known: Stored | None) -> Stored:
        with _convert_errors(self._address, writing=True):
            mode = "create" if known is None else dict(known.state)
            # A single request: conditions on multipart uploads differ between services.
            result = self._api.put(self._store, name, data, mode=mode, use_multipart=False)
        return Stored(data, _state(result))

    def names(self) -> list[Listed]:
        with _convert_errors(self._address):
            return [
                Listed(meta["path"], meta["last_modified"])
                for batch in self._api.list(self._store, chunk_size=1_000)
                for meta in batch
            ]

    def folders(self) -> list[str]:
        with _convert_errors(self._address):
            return sorted(self._api.list_with_delimiter(self._store)["common_prefixes"])

    def delete(self, names: Sequence[str]) -> None:
        if names:
            with _convert_errors(self._address, writing=True):
                self._api.delete(self._store, list(names))

    def need_conditions(self) -> None:
        if self._conditional:
            return
        probe = ".conditions"
        with suppress(Overtaken):  # it exists from an earlier check
            self.replace(probe, b"", None)
        for known in (None, Stored(b"", {"e_tag": '"0"', "version": "0"})):
            try:
                self.replace(probe, b"", known)
            except Overtaken:
                continue
            raise ArenaError(
                "this object storage ignores write conditions: concurrent writers could lose rows",
                where=self._address,
                do="use a service with conditional writes, or write to a local folder and copy it there",
            )
        self._conditional = True


class _Hadoop:
    """Files on HDFS, read-only."""

    def __init__(self, address: str) -> None:
        self._address = address
        with _convert_hadoop_errors(address):
            self._system, self._root = open_hadoop(address)

    def get(self, name: str, known: Stored | None = None) -> Stored:
        with _convert_hadoop_errors(self._address, name):
            info = self._system.get_file_info(f"{self._root}/{name}")
            if not info.is_file:
                raise FileNotFoundError
            state = {"e_tag": f"{info.mtime_ns} {info.size}"}
            if known is not None and known.state == state:
                return known
            return Stored(b"".join(self.pieces(name)), state)

    def pieces(self, name: str) -> Iterator[bytes]:
        with (
            _convert_hadoop_errors(self._address, name),
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

        with _convert_hadoop_errors(self._address):
            infos = self._system.get_file_info(fs.FileSelector(self._root, recursive=True))
        return [Listed(info.path.removeprefix(f"{self._root}/"), info.mtime) for info in infos if info.is_file]

    def folders(self) -> list[str]:
        from pyarrow import fs

        with _convert_hadoop_errors(self._address):
            infos = self._system.get_file_info(fs.FileSelector(self._root))
        return sorted(info.base_name for info in infos if not info.is_file)

    def delete(self, names: Sequence[str]) -> None:  # noqa: ARG002  # of the protocol
        raise self._read_only()

    def _read_only(self) -> ArenaError:
        return ArenaError(
            "arenas on HDFS are read-only: without conditional writes, concurrent writers could lose rows",
            where=self._address,
            do="write to a local folder or to S3, Google Cloud Storage or Azure; then copy the folder to HDFS",
        )


def open_hadoop(address: str) -> tuple[Any, str]:
    """Return the file system of an address, and the path in it."""
    from pyarrow import fs

    system, path = fs.FileSystem.from_uri(address)
    return system, path


def _state(meta: Mapping[str, Any]) -> dict[str, str]:
    return {key: meta[key] for key in ("e_tag", "version") if meta.get(key)}


@contextmanager
def _convert_errors(address: str, name: str = "", *, writing: bool = False) -> Iterator[None]:
    """Convert errors of `obstore` to ours, with the service's code but not its text."""
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
                "there is no such bucket", where=address, do="create the bucket, or check its name"
            ) from None
        raise _absent(address, name) from None
    except (AlreadyExistsError, PreconditionError):
        raise Overtaken(
            "other programs keep changing this arena", where=address, do="rerun the command when they are done"
        ) from None
    # The library raises ValueError for invalid settings, and NotImplementedError for unsupported operations.
    except (BaseError, OSError, ValueError, NotImplementedError) as error:
        match = _CODE.search(str(error))
        code = match[1] if match else ""
        denied = isinstance(error, PermissionDeniedError | UnauthenticatedError | PermissionError)
        raise _refusal(address, code, denied=denied, status=_status(str(error)), writing=writing) from None


def _status(text: str) -> int:
    """Return the HTTP status in an error text; 0 if there is none."""
    match = re.search(r"status(?: code)?:? (\d{3})\b", text)
    return int(match[1]) if match else 0


def _refusal(address: str, code: str, *, denied: bool, status: int, writing: bool) -> MirageError:
    """Return the error for a service's code."""
    act = "written" if writing else "read"
    if code in _EXPIRED:
        return ArenaError("the credentials for the object storage have expired", where=address, do=_RENEW)
    if code in _UNKNOWN or status == _UNAUTHORISED:
        return ArenaError(
            f"the object storage rejects these credentials ({code or status})",
            where=address,
            do="check them in the environment (AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, for example)",
        )
    if denied or status == _FORBIDDEN:
        return ArenaError(
            f"this cannot be {act}: the object storage denies access ({code or 'access denied'})",
            where=address,
            do="use credentials with permission, or ask the bucket's owner",
        )
    if code and status < _SERVER:
        return ArenaError(
            f"this cannot be {act}: error {code} of the object storage", where=address, do="check the address"
        )
    return Unreachable(
        f"the object storage does not answer ({code or status or 'no response'})",
        where=address,
        do="check the network, credentials and AWS_ENDPOINT_URL, then rerun the command; no partial write happened",
    )


@contextmanager
def _convert_hadoop_errors(address: str, name: str = "") -> Iterator[None]:
    """Convert errors of `pyarrow.fs` to ours."""
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
            "HDFS needs Hadoop's libraries on this machine" if library else "HDFS does not answer",
            where=address,
            do="install Hadoop; set JAVA_HOME, HADOOP_HOME and CLASSPATH (`hadoop classpath --glob`)"
            if library
            else "check the network and the name of the host",
        ) from None


def _absent(address: str, name: str) -> FileNotFoundError:
    return FileNotFoundError(errno.ENOENT, "it does not exist", f"{address}/{name}" if name else address)
