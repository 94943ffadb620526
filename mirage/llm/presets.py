"""Addresses and key variables of services with an OpenAI-compatible API.

Keys are only read from the environment. An unlisted service needs its address (`--base-url`) and, unless it runs on
this machine, the name of the variable with its key (`--key-env`).
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeVar
from urllib.parse import SplitResult, urlsplit

from mirage.errors import BadInput, UnknownName
from mirage.llm.secrets import remove_secret
from mirage.text.data import load_words

_LOOPBACK = ("127.0.0.1", "localhost", "::1")

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Preset:
    """Address, key variable and protocol deviations of a service."""

    name: str
    base_url: str
    """Address of the OpenAI-compatible API. `{A|B}` is filled from the environment variable A, else from B."""
    key_env: str | None = None
    """Environment variable with the key; None for a server that needs none."""
    limit: str = "max_tokens"
    """The service's name of the limit of new tokens."""


PRESETS: dict[str, Preset] = {
    name: Preset(name, **values) for name, values in load_words("presets", "mirage.llm").items()
}
"""Every preset by its name."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A resolved address and its key; the key is not in the repr."""

    base_url: str
    """Address of the API."""
    secret: str | None = field(default=None, repr=False)
    """The key; None if none is needed."""
    limit: str = "max_tokens"
    """The service's name of the limit of new tokens."""
    name: str | None = None
    """Name of the service in ledgers, if its address changes."""

    @property
    def local(self) -> bool:
        """True if the service runs on this machine."""
        return urlsplit(self.base_url).hostname in _LOOPBACK

    @property
    def service(self) -> str:
        """The service's identifier in ledgers: its name, else the normalised origin and path of its address."""
        if self.name:
            return self.name
        parts = urlsplit(self.base_url)
        host = "127.0.0.1" if self.local else parts.hostname or ""
        port = parts.port if parts.port != {"http": 80, "https": 443}.get(parts.scheme) else None
        return f"{parts.scheme}://{host}{f':{port}' if port else ''}{parts.path.rstrip('/')}"

    def redact(self, value: T) -> T:
        """Remove the key from a text, its UTF-8 bytes, or every text of a JSON value, in case a service repeats it."""
        if isinstance(value, bytes):
            text = value.decode("utf-8", "surrogateescape")
            return self.redact(text).encode("utf-8", "surrogateescape")  # type: ignore[return-value]
        if isinstance(value, str) and self.secret:
            return remove_secret(value, self.secret)  # type: ignore[return-value]
        if isinstance(value, Mapping):
            return {self.redact(name): self.redact(part) for name, part in value.items()}  # type: ignore[return-value]
        return [self.redact(part) for part in value] if isinstance(value, list) else value  # type: ignore[return-value]


def resolve(
    preset: str | None = None,
    *,
    base_url: str | None = None,
    key_env: str | None = None,
    environ: Mapping[str, str] | None = None,
    keyless: bool = False,
) -> Endpoint:
    """Find the address and read the key.

    Args:
        preset: name of a preset; `openai` if neither this nor an address is given.
        base_url: an address that replaces the preset's.
        key_env: name of the variable with the key; by default the preset's. A server on this machine needs none.
        environ: the environment; by default the process's.
        keyless: accept an address on another machine without a key.

    Raises:
        UnknownName: if there is no such preset.
        BadInput: if a required variable is not set, or an address or a key is invalid. The message names the variable,
            never its value.
    """
    environ = os.environ if environ is None else environ
    if preset is not None and preset not in PRESETS:
        raise UnknownName("provider", preset, PRESETS)
    provider = Preset("", base_url or "") if base_url and not preset else PRESETS[preset or "openai"]
    address, origin = _address(base_url or provider.base_url, environ)
    parts = _parts(address, origin)
    local = parts.hostname in _LOOPBACK
    variable = key_env or provider.key_env
    secret = environ.get(variable, "").strip() if variable else ""
    if not secret and variable and (key_env or not local):
        raise BadInput(f"the environment variable {variable} is not set", do=f"set {variable} to your key")
    if not secret and not local and not keyless:
        raise BadInput(f"no key variable is known for {address}", do="name the variable with its key: --key-env NAME")
    if not (secret.isascii() and secret.isprintable()) or set(secret) & set(' "\\'):
        raise BadInput(f"the value of {variable} is not a valid key", do=f"set {variable} to the key only")
    return Endpoint(address, secret or None, limit=provider.limit)


def _address(template: str, environ: Mapping[str, str]) -> tuple[str, str]:
    """Return the address with its variable filled in, and its name for messages."""
    variables = template.partition("{")[2].partition("}")[0]
    if not variables:
        return template.rstrip("/"), repr(template)
    names = variables.split("|")
    name = next((name for name in names if environ.get(name, "").strip()), None)
    if name is None:
        raise BadInput(f"the environment variable {names[0]} is not set", do=f"set {names[0]} to the service's address")
    return template.replace("{" + variables + "}", environ[name].strip().rstrip("/")), f"the value of {name}"


def _parts(address: str, origin: str) -> SplitResult:
    # First, so that no message repeats it.
    if "@" in address.partition("://")[2].partition("/")[0] or {"?", "#"} & set(address):
        raise BadInput(
            "the address has more than host and path, perhaps a key",
            do="give only the address, and the name of the variable with the key: --key-env NAME",
        )
    try:
        parts = urlsplit(address)
        valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        valid = False
    if not valid:
        raise BadInput(f"{origin} is not an address", do="use one like https://host/v1")
    return parts
