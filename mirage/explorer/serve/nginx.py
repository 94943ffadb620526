"""The nginx configuration in front of the explorers, as text.

A reader stays with one explorer, which holds the visit, its downloads and its uploads in its memory. The cookie
`mirage_replica` says which one: nginx sets it to the explorer that has answered. While that one is away another takes
over, and the cookie then names the other, so that downloads follow the visit.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from mirage.errors import BadInput

COOKIE = "mirage_replica"
"""Cookie with the index of a reader's explorer."""
ADDRESS_HEADER = "X-Real-IP"
"""Header with the reader's network address."""
PROXY_HEADER = "X-Mirage-Proxy"
"""Header with the secret shared by proxy and explorers."""
POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self' data: blob:; worker-src 'self' blob:; "
    "object-src 'none'; base-uri 'self'; form-action 'self'; frame-ancestors 'self'"
)
"""Content-Security-Policy: same origin only. Streamlit's client needs inline styles, and eval for charts."""
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "SAMEORIGIN",
    "Referrer-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
"""Security headers of every response."""
_HOST = re.compile(r"[A-Za-z0-9.*-]+|\[[0-9A-Fa-f:]+\]")
_LISTEN = re.compile(r"[A-Za-z0-9.:\[\] _=-]+")
_SECRET = re.compile(r"[A-Za-z0-9_-]{16,}")
_PATH = re.compile(r"(/?[A-Za-z0-9_.~-]+)*/?")


@dataclass(frozen=True, slots=True)
class Site:
    """Settings of the configuration."""

    ports: Sequence[int]
    """Ports of the explorers on this machine."""
    listen: str
    """Listen address of nginx: `127.0.0.1:8501`, or `443 ssl`."""
    hosts: Sequence[str]
    """Host names; requests for others get status 421."""
    path: str = ""
    """Base path (`STREAMLIT_SERVER_BASE_URL_PATH`); empty for the root."""
    htpasswd: Path | None = None
    """File of names and passwords; None without a login."""
    secret: str = ""
    """Shared secret that makes explorers trust the proxy's headers; empty for none."""
    megabytes: int = 64
    """Maximum size of an upload."""


def site(settings: Site) -> str:
    """Return the configuration for nginx's `http` block, such as a file in `/etc/nginx/conf.d`.

    Raises:
        BadInput: if a setting contains nginx syntax.
    """
    _check(settings)
    prefix = f"/{settings.path.strip('/')}" if settings.path.strip("/") else ""
    login = "auth_basic off;"
    if settings.htpasswd is not None:
        # The charset makes browsers send names in UTF-8; nginx has no setting for it.
        login = f"""auth_basic 'mirage", charset="UTF-8';\n    auth_basic_user_file {_quote(str(settings.htpasswd))};"""
    # Without a login in nginx, $remote_user is unverified.
    name = "$remote_user" if settings.htpasswd is not None else '""'
    headers = "\n".join(f'    add_header {name} "{value}" always;' for name, value in HEADERS.items())
    upload = f"client_max_body_size {settings.megabytes + 1}m;"  # plus multipart overhead
    rest = f"location / {{ return 302 {prefix}/; }}" if prefix else "location = /metrics { return 404; }"
    return f"""\
# Written by `mirage app --nginx-conf`.
map $http_upgrade $mirage_connection {{
    default upgrade;
    ""      "";
}}
# Sticky sessions: the explorer named by the cookie, else the least busy.
map $cookie_{COOKIE} $mirage_upstream {{
    default mirage_any;
{_lines(f'"{k}" mirage_{k};' for k in range(len(settings.ports)))}
}}
# The explorer that answered: the last one tried.
map $upstream_addr $mirage_served {{
    default "";
{_lines(f'"~:{port}$" "{k}";' for k, port in enumerate(settings.ports))}
}}
map "$mirage_served $cookie_{COOKIE}" $mirage_cookie {{
    default "{COOKIE}=$mirage_served; Path={prefix}/; HttpOnly; SameSite=Lax";
    "~^ " "";
{_lines(f'"{k} {k}" "";' for k in range(len(settings.ports)))}
}}
{_upstreams(settings.ports)}
server {{
    listen {settings.listen} default_server;
    server_name _;
    server_tokens off;
{headers}
{_health()}
    location / {{ return 421; }}
}}
server {{
    listen {settings.listen};
    server_name {" ".join(settings.hosts)};
    server_tokens off;
    absolute_redirect off;
    {login}
{headers}
    add_header Set-Cookie $mirage_cookie always;
{_health()}
    location = {prefix}/_stcore/metrics {{ return 404; }}
    location {prefix}/ {{
        proxy_pass http://$mirage_upstream;
        proxy_http_version 1.1;
        proxy_set_header Host $http_host;
        proxy_set_header Upgrade $http_upgrade;
        proxy_set_header Connection $mirage_connection;
        proxy_set_header X-Forwarded-Proto $scheme;
        proxy_set_header X-Forwarded-User {name};
        proxy_set_header {ADDRESS_HEADER} $remote_addr;
        proxy_set_header {PROXY_HEADER} "{settings.secret}";
        proxy_hide_header X-Content-Type-Options;
        proxy_hide_header Server;
        # Fail over at once from an explorer that is down; allow a busy one its time.
        proxy_connect_timeout 2s;
        proxy_next_upstream error timeout;
        proxy_read_timeout 1d;
        proxy_buffering off;
        {upload}
    }}
    {rest}
}}
"""


def standalone(site_text: str, folder: Path, *, root: bool) -> str:
    """Return a complete configuration for a separate nginx in the foreground.

    Args:
        site_text: result of `site`.
        folder: folder for the process id, error log and temporary files.
        root: whether root starts it; workers then also run as root, since only root can read the folder.
    """
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    return f"""\
daemon off;
{"user root;" if root else ""}
worker_processes 1;
pid {_quote(str(folder / "pid"))};
error_log {_quote(str(folder / "error.log"))};
events {{ worker_connections 8192; }}
http {{
    access_log off;
{_lines(f"{kind}_temp_path {_quote(str(folder / kind))};" for kind in kinds)}
{site_text}}}
"""


def _check(settings: Site) -> None:
    sound = {
        "hosts": bool(settings.hosts) and all(_HOST.fullmatch(host) for host in settings.hosts),
        "listen": _LISTEN.fullmatch(settings.listen) is not None,
        "path": _PATH.fullmatch(settings.path) is not None,
        "secret": not settings.secret or _SECRET.fullmatch(settings.secret) is not None,
    }
    for name, is_sound in sound.items():
        if not is_sound:
            given = (
                "it needs 16 or more letters, digits, - and _" if name == "secret" else repr(getattr(settings, name))
            )
            raise BadInput(f"invalid setting for nginx: {name}: {given}", do="see docs/deploy.md")


def _quote(text: str) -> str:
    if any(character in text for character in '"\\\n$'):
        raise BadInput(f"invalid path for nginx: {text!r}", do="move the file to a path of plain characters")
    return f'"{text}"'


def _lines(lines: Iterable[str]) -> str:
    return "\n".join(f"    {line}" for line in lines)


def _upstreams(ports: Sequence[int]) -> str:
    def server(port: int, role: str = "") -> str:
        return f"server 127.0.0.1:{port} max_fails=1 fail_timeout=2s{role};"

    # With a single explorer nginx ignores failures and always retries it.
    blocks = [f"upstream mirage_any {{\n    least_conn;\n{_lines(server(port) for port in ports)}\n}}"]
    for k, port in enumerate(ports):
        others = [server(other, " backup") for other in ports if other != port]
        blocks.append(f"upstream mirage_{k} {{\n{_lines([server(port), *others])}\n}}")
    return "\n".join(blocks)


def _health() -> str:
    return "\n".join(
        f"    location = /{name} {{ auth_basic off; proxy_pass http://mirage_any/{name}; proxy_connect_timeout 2s; }}"
        for name in ("healthz", "readyz")
    )
