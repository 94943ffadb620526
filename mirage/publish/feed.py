"""The feed of a board's changes (Atom, RFC 4287), from its chain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from mirage.publish.chain import BoardHead

FEED = "feed.xml"


def feed(heads: Sequence[BoardHead], manifests: Sequence[Mapping[str, Any]]) -> bytes:
    """Return the feed: one entry per publication with its changes, the latest first.

    Args:
        heads: the log.
        manifests: the manifest of each publication, in the same order.
    """
    last = manifests[-1]
    entries = []
    for head, manifest in zip(reversed(heads), reversed(manifests), strict=True):
        lines = "".join(f"<li>{escape(str(line))}</li>" for line in manifest["changes"])
        entries.append(
            f"<entry><id>urn:sha256:{head.head}</id><title>Publication {head.number}</title>"
            f"<updated>{escape(manifest['at'])}</updated>"
            f'<link rel="alternate" href="index.html"/><link rel="related" href="{head.manifest}"/>'
            f'<content type="html">{escape(f"<ul>{lines}</ul>")}</content></entry>'
        )
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom">'
        f"<id>urn:sha256:{heads[0].head}</id><title>{escape(last['arena']['title'])}</title>"
        f"<updated>{escape(last['at'])}</updated><author><name>{escape(last['arena']['title'])}</name></author>"
        f'<link rel="self" href="{FEED}"/>' + "\n".join(entries) + "</feed>\n"
    ).encode()
