"""An object storage for tests: moto's S3 over HTTP on this machine, which counts, refuses and waits as a test wants."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest

KEY, SECRET = "AKIAEXAMPLEOFTESTS", "secret-of-the-tests-0123456789"
BUCKET = "bucket"
Fault = Callable[[str, str], "tuple[int, str] | None"]
"""Given method and path: the status and S3's code of an error, or None where there shall be none."""


@dataclass(frozen=True)
class Request:
    """One request that came."""

    method: str
    path: str
    status: int
    received: int
    """Bytes of the body that came."""
    sent: int
    """Bytes of the body that went back."""


class Storage:
    """A server with one empty bucket."""

    def __init__(self) -> None:
        pytest.importorskip("obstore", reason="arenas on object storage need: pip install -e '.[storage]'")
        pytest.importorskip("moto", reason="a server for the tests needs: pip install 'moto[server]'")
        import logging

        from moto.server import DomainDispatcherApplication, create_backend_app
        from werkzeug.serving import make_server

        logging.getLogger("werkzeug").setLevel(logging.ERROR)
        self.requests: list[Request] = []
        self.fault: Fault = lambda _method, _path: None
        self.before: Callable[[str, str], object] = lambda _method, _path: None
        """Called with method and path before a request is served."""
        self._application = DomainDispatcherApplication(create_backend_app)
        self._server = make_server("127.0.0.1", 0, self._serve, threaded=True)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.put("", b"")

    @property
    def environment(self) -> dict[str, str]:
        """What a program needs to reach it."""
        return {
            "AWS_ENDPOINT_URL": self.url,
            "AWS_ACCESS_KEY_ID": KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_REGION": "us-east-1",
        }

    def names(self) -> set[str]:
        """The names of all objects."""
        return set(self._bucket().keys.keys()) if BUCKET in self._backend().buckets else set()

    def data(self, key: str) -> bytes:
        """The bytes of an object."""
        return bytes(self._bucket().keys[key].value)

    def put(self, key: str, data: bytes) -> None:
        """Put an object there, past the server; the bucket itself where the name is empty."""
        if key:
            self._backend().put_object(BUCKET, key, data)
        else:
            self._backend().create_bucket(BUCKET, "us-east-1")

    def age(self, key: str, hours: float) -> None:
        """Let an object have been written long ago."""
        from datetime import timedelta

        item = self._bucket().keys[key]
        item.last_modified -= timedelta(hours=hours)

    def stop(self) -> None:
        """End the server, and forget all it holds."""
        self._server.shutdown()
        self._server.server_close()
        self._backend().reset()

    def _backend(self) -> Any:
        from moto.s3.models import s3_backends

        return s3_backends["123456789012"]["aws"]

    def _bucket(self) -> Any:
        return self._backend().buckets[BUCKET]

    def _serve(self, environ: dict[str, Any], start: Callable[..., Any]) -> Any:
        method, path = environ["REQUEST_METHOD"], environ["PATH_INFO"]
        received = int(environ.get("CONTENT_LENGTH") or 0)
        self.before(method, path)
        if (refused := self.fault(method, path)) is not None:
            status, code = refused
            # As S3 does, the access key is told back.
            body = (
                f"<Error><Code>{code}</Code><AWSAccessKeyId>{KEY}</AWSAccessKeyId><Who>{SECRET}</Who></Error>".encode()
            )
            environ["wsgi.input"].read(received)
            self.requests.append(Request(method, path, status, received, len(body)))
            start(f"{status} Refused", [("Content-Type", "application/xml"), ("Content-Length", str(len(body)))])
            return [body]
        seen: list[int] = []

        def noted(status: str, headers: Any, *rest: Any) -> Any:
            seen.append(int(status.split()[0]))
            return start(status, headers, *rest)

        body = b"".join(self._application(environ, noted))
        self.requests.append(Request(method, path, seen[-1], received, len(body)))
        return [body]


@contextmanager
def storage() -> Iterator[Storage]:
    """A server that ends with the block."""
    server = Storage()
    try:
        yield server
    finally:
        server.stop()
