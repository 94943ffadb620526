"""Addresses and key variables of the services that speak the OpenAI chat protocol.

Keys are read from the environment alone. A service that is not listed needs its address (`--base-url`) and, unless it
runs on this machine, the name of the variable that holds its key (`--key-env`).
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import SplitResult, urlsplit

from mirage.errors import BadInput, UnknownName

_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_DATED = re.compile(r"\d{4}-\d{2}-\d{2}(?:-preview)?")
_UNDATED = ("v1", "latest", "preview")
_NEW_LIMIT = "2024-09-01"
"""First dated version of Azure's API that knows `max_completion_tokens`."""
_SECRET = 8
"""A key shorter than this is a stand-in such as EMPTY, which would be found in innocent words."""


@dataclass(frozen=True, slots=True)
class Preset:
    """Where a service is, which variable holds its key, and where its protocol departs from the common one."""

    name: str
    base_url: str
    """Address of the OpenAI-compatible API. `{A|B}` is filled from the environment variable A, else from B;
    `{A=ADDRESS}` is ADDRESS where A is not set."""
    key_env: str | None
    """Environment variable with the key; None for a server that needs none."""
    limit: str = "max_tokens"
    """What it calls the limit of new tokens."""
    version_env: str | None = None
    """Environment variable with a dated version of the API, where one of that kind is to be used instead."""


# The variables of the published programs: Azure as AZURE_OPENAI_API_BASE, AZURE_OPENAI_API_KEY and
# AZURE_OPENAI_API_VERSION in NoMIRACL (project-miracl/nomiracl, nomiracl/generation/azure.py), with
# AZURE_OPENAI_ENDPOINT for the address in MIRAGE-Bench (vectara/mirage-bench, mirage_bench/generate/azure_openai.py);
# Anyscale as ANYSCALE_BASE_URL and ANYSCALE_API_KEY in both (generation/anyscale.py, generate/anyscale.py).
PRESETS: dict[str, Preset] = {
    preset.name: preset
    for preset in (
        Preset("openai", "https://api.openai.com/v1", "OPENAI_API_KEY", limit="max_completion_tokens"),
        Preset(
            "azure",
            "{AZURE_OPENAI_ENDPOINT|AZURE_OPENAI_API_BASE}/openai/v1",
            "AZURE_OPENAI_API_KEY",
            limit="max_completion_tokens",
            version_env="AZURE_OPENAI_API_VERSION",
        ),
        Preset("nvidia", "https://integrate.api.nvidia.com/v1", "NVIDIA_API_KEY"),
        Preset("anyscale", "{ANYSCALE_BASE_URL=https://api.endpoints.anyscale.com/v1}", "ANYSCALE_API_KEY"),
        Preset("cohere", "https://api.cohere.ai/compatibility/v1", "COHERE_API_KEY"),
        Preset("anthropic", "https://api.anthropic.com/v1", "ANTHROPIC_API_KEY"),
        Preset("gemini", "https://generativelanguage.googleapis.com/v1beta/openai", "GEMINI_API_KEY"),
        Preset("vllm", "http://127.0.0.1:8000/v1", None),
        Preset("transformers", "http://127.0.0.1:8000/v1", None),
    )
}
"""Every preset by its name."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A resolved address and its key; the key shows in no representation."""

    base_url: str
    """Address of the API."""
    secret: str | None = field(default=None, repr=False)
    """The key; None where none is needed."""
    limit: str = "max_tokens"
    """What the service calls the limit of new tokens."""
    azure_version: str | None = None
    """Dated version of Azure's API, whose addresses name the deployment; None for the common protocol."""
    name: str | None = None
    """Name of the service in ledgers, where its address changes."""

    @property
    def local(self) -> bool:
        """Whether the service runs on this machine."""
        return urlsplit(self.base_url).hostname in _LOOPBACK

    @property
    def service(self) -> str:
        """The service as ledgers name it: its own name, else origin and path of its address, spelt in one way."""
        if self.name:
            return self.name
        parts = urlsplit(self.base_url)
        host = "127.0.0.1" if self.local else parts.hostname or ""
        port = parts.port if parts.port != {"http": 80, "https": 443}.get(parts.scheme) else None
        return f"{parts.scheme}://{host}{f':{port}' if port else ''}{parts.path.rstrip('/')}"

    def redact(self, text: str) -> str:
        """The text without the key, should a service repeat it."""
        return text.replace(self.secret, "[key]") if self.secret and len(self.secret) >= _SECRET else text


def resolve(
    preset: str | None = None,
    *,
    base_url: str | None = None,
    key_env: str | None = None,
    environ: Mapping[str, str] | None = None,
) -> Endpoint:
    """Find the address and read the key.

    Args:
        preset: name of a preset; `openai` where neither this nor an address is given.
        base_url: an address that replaces the preset's.
        key_env: name of the variable that holds the key; by default the preset's. A server on this machine needs none.
        environ: the environment; by default the process's.

    Raises:
        UnknownName: if there is no such preset.
        BadInput: if a variable that is needed is not set, or an address or a key cannot be one. The message names the
            variable, never its value.
    """
    environ = os.environ if environ is None else environ
    if preset is not None and preset not in PRESETS:
        raise UnknownName("provider", preset, PRESETS)
    provider = PRESETS[preset] if preset else (None if base_url else PRESETS["openai"])
    address, origin = _address(base_url or (provider.base_url if provider else ""), environ)
    parts = _parts(address, origin)
    local = parts.hostname in _LOOPBACK
    variable = key_env or (provider.key_env if provider else None)
    secret = environ.get(variable, "").strip() if variable else ""
    if not secret and variable and (key_env or not local):
        raise BadInput(f"the environment variable {variable} is not set", do=f"set {variable} to your key")
    if not secret and not local:
        raise BadInput(
            f"no key variable is known for {address}", do="name the variable that holds its key: --key-env NAME"
        )
    if not (secret.isascii() and secret.isprintable()) or set(secret) & set(' "\\'):
        raise BadInput(f"the value of {variable} cannot be a key", do=f"set {variable} to the key alone")
    endpoint = Endpoint(address, secret or None, limit=provider.limit if provider else "max_tokens")
    version = (
        environ.get(provider.version_env, "").strip() if provider and provider.version_env and not base_url else ""
    )
    return _dated(endpoint, version, provider.version_env or "") if provider and version else endpoint


def _dated(endpoint: Endpoint, version: str, variable: str) -> Endpoint:
    """The endpoint of a dated version of Azure's API; of `v1`, `latest` and `preview`, that of the common protocol."""
    if version in _UNDATED:
        return endpoint
    if not _DATED.fullmatch(version):
        raise BadInput(
            f"the value of {variable} is no version of Azure's API", do=f"set {variable} like 2024-10-21, or unset it"
        )
    limit = endpoint.limit if version >= _NEW_LIMIT else "max_tokens"
    address = endpoint.base_url.removesuffix("/v1")
    return replace(endpoint, base_url=address, azure_version=version, limit=limit)


def _address(template: str, environ: Mapping[str, str]) -> tuple[str, str]:
    """The address with its variable filled in, and what to call it in a message."""
    variables = template.partition("{")[2].partition("}")[0]
    if not variables:
        return template.rstrip("/"), repr(template)
    variable_names, _, default = variables.partition("=")
    names = variable_names.split("|")
    name = next((name for name in names if environ.get(name, "").strip()), None)
    if name is None and not default:
        raise BadInput(f"the environment variable {names[0]} is not set", do=f"set {names[0]} to the service's address")
    value = environ[name].strip().rstrip("/") if name else default
    return template.replace("{" + variables + "}", value), f"the value of {name}" if name else repr(default)


def _parts(address: str, origin: str) -> SplitResult:
    try:
        parts = urlsplit(address)
        valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        valid = False
    if not valid:
        raise BadInput(f"{origin} is not an address", do="give one like https://host/v1")
    if parts.username or parts.password or parts.query:
        raise BadInput(
            "the address holds more than host and path, perhaps a key",
            do="give the address alone, and the name of the variable that holds the key: --key-env NAME",
        )
    return parts
