"""JSON documents in zip archives."""

import io
import json
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mirage.errors import BadInput
from mirage.store.files import LONGEST_OF_OWN, need_file, need_object

ZIP = b"PK\x03\x04"
"""First bytes of a zip archive."""
_ZSTD = 93
"""Number of zstd among the compressions of zip, unknown to Python's own reader."""
_LOCAL = struct.Struct("<26xHH")
"""Local header of a member up to the lengths of its name and extra field."""
_EXPANDS = 500
"""Largest ratio of the sizes of an archive unpacked and packed, beyond which it is a bomb; logs reach 50."""
_AGAIN = "copy the archive again; it is complete only after its run has ended"


def is_archive(path: Path) -> bool:
    """Return whether a file is a zip archive, by its first bytes."""
    try:
        with path.open("rb") as stream:
            return stream.read(len(ZIP)) == ZIP
    except OSError:
        return False


def archive_names(path: Path) -> tuple[str, ...]:
    """Return the names of the members of a zip archive.

    Raises:
        BadInput: if the archive is missing or damaged.
    """
    need_file(path)
    with _convert_errors(path), zipfile.ZipFile(path) as archive:
        return tuple(archive.namelist())


def archived_documents(path: Path, wanted: Callable[[str], bool]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield name and value of the JSON documents of a zip archive, in the archive's order.

    Args:
        path: the archive.
        wanted: returns whether a member is read, by its name.

    Raises:
        BadInput: if the archive is missing, damaged, encrypted, a bomb or has an unknown compression, or a document is
            not a JSON object.
    """
    need_file(path)
    with _convert_errors(path), zipfile.ZipFile(path) as archive:
        entries = [entry for entry in archive.infolist() if wanted(entry.filename)]
        if (size := sum(entry.file_size for entry in entries)) > max(LONGEST_OF_OWN, _EXPANDS * path.stat().st_size):
            raise BadInput(f"the archive would unpack to {size / 1e9:,.1f} GB", where=str(path), do=_AGAIN)
        for entry in entries:
            with _convert_errors(path, entry.filename):
                value = json.loads(_content(path, archive, entry))
            yield entry.filename, need_object(value, f"{path}: {entry.filename}")


def _content(path: Path, archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    if entry.file_size > LONGEST_OF_OWN:
        raise BadInput(
            f"this member has {entry.file_size:,} bytes, more than {LONGEST_OF_OWN:,}",
            where=f"{path}: {entry.filename}",
            do="leave it out of the archive",
        )
    if entry.compress_type != _ZSTD:
        return archive.read(entry)
    import pyarrow as pa

    with path.open("rb") as stream:
        stream.seek(entry.header_offset)
        stream.seek(sum(_LOCAL.unpack(stream.read(_LOCAL.size))), io.SEEK_CUR)
        packed = stream.read(entry.compress_size)
    try:
        with pa.CompressedInputStream(io.BytesIO(packed), "zstd") as plain:
            data = plain.read(entry.file_size + 1)
    except (OSError, pa.ArrowException) as error:
        raise zipfile.BadZipFile(str(error)) from None
    if zlib.crc32(data) != entry.CRC:
        raise zipfile.BadZipFile("its checksum is wrong")
    return bytes(data)


@contextmanager
def _convert_errors(path: Path, member: str | None = None) -> Iterator[None]:
    """Convert errors while reading an archive to BadInput."""
    where = str(path) if member is None else f"{path}: {member}"
    try:
        yield
    except (zipfile.BadZipFile, zlib.error, EOFError, struct.error) as error:
        raise BadInput(f"the archive is damaged or incomplete: {error}", where=where, do=_AGAIN) from None
    except RecursionError:
        raise BadInput("this is not JSON: it is nested too deeply", where=where, do=_AGAIN) from None
    except NotImplementedError as error:
        raise BadInput(f"this compression cannot be read: {error}", where=where, do="pack it with deflate") from None
    except RuntimeError:  # what `zipfile` raises for it
        raise BadInput("the archive is encrypted", where=where, do="unpack it, and give what it holds") from None
    except ValueError as error:
        raise BadInput(f"this is not JSON: {error}", where=where, do=_AGAIN) from None
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror or error}", do="give a file that can be read") from None
