"""Removal of a key from what a service sends, in whatever form the service repeats it: in another case, encoded for an
address, JSON, HTML or a header (Base64), in hexadecimal digits, or broken into lines.
"""

from __future__ import annotations

import re
from base64 import b64encode
from functools import cache

_SHOWN = "[key]"
_SECRET = re.compile(r".{8,}|(?=.*[a-z])(?=.*[^a-z]).{6,}", re.IGNORECASE)
"""A key to remove anywhere; others are placeholders such as EMPTY, which occur in ordinary text."""
_ENCODED = re.compile(r"[%\\&](?:(?:25)*|\\*u00|\\*x|#x0*)([0-9a-f]{2});?|&#0*(\d{2,3});", re.IGNORECASE)
"""A character encoded for an address, JSON or HTML."""
_BETWEEN = re.compile(r"\\+(?:[nrt]|u(?:200[b-f]|2060|feff))?|[\s\xad\u200b-\u200f\u2060\ufeff]+", re.IGNORECASE)
"""What may stand between the characters of a key."""
_EITHER = re.compile(f"{_ENCODED.pattern}|{_BETWEEN.pattern}", re.IGNORECASE)


def remove_secret(text: str, secret: str) -> str:
    """Return a text without a key."""
    if not _SECRET.fullmatch(secret):
        return re.sub(rf"(?i)(bearer\s+){re.escape(secret)}", rf"\1{_SHOWN}", text)
    forms = _forms(secret)
    decoded = _BETWEEN.sub("", "".join(_ENCODED.sub(_decode, text).split())).lower()
    if not any(form in decoded for form in forms):
        return text
    letters, places, end = [], [], 0
    for match in (*_EITHER.finditer(text), None):
        begin, after = match.span() if match else (len(text), len(text))
        parts = [(text[place], place, place + 1) for place in range(end, begin)]
        if match and match.lastindex and not (letter := _decode(match)).isspace():
            parts.append((letter, begin, after))
        for letter, *place in parts:
            letters.append(letter.lower())
            places += [place] * len(letters[-1])
        end = after
    shown, end = "", 0
    for found in re.finditer("|".join(map(re.escape, forms)), "".join(letters)):
        shown += text[end : places[found.start()][0]] + _SHOWN
        end = places[found.end() - 1][1]
    return shown + text[end:]


def _decode(match: re.Match[str]) -> str:
    """Return an encoded character."""
    return chr(int(match[1], 16) if match[1] else int(match[2]))


@cache
def _forms(secret: str) -> tuple[str, ...]:
    """Return the forms of a key, in lower case.

    In Base64 the characters before it, such as `Bearer`, shift the bits; only the digits of the key's own are compared.
    """
    raw = secret.encode()
    forms = [secret, raw.hex()]
    for shift, first in enumerate((0, 2, 3)):
        digits = b64encode(bytes(shift) + raw).decode()[first : (shift + len(raw)) * 8 // 6]
        forms += [digits, digits.translate(str.maketrans("+/", "-_"))]
    return tuple(dict.fromkeys(form.lower() for form in forms))
