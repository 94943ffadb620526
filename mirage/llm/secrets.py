"""Removal of a key from what a service sends, in whatever form the service repeats it: in another case, encoded for an
address, JSON, HTML, mail or a header (Base64), in hexadecimal digits, or broken into lines, marks or hidden characters.
"""

import re
from base64 import b64encode
from functools import cache

_SHOWN = "[key]"
_SECRET = re.compile(r".{8,}|(?=.*[a-z])(?=.*[^a-z]).{6,}", re.IGNORECASE)
"""A key to remove anywhere; others are placeholders such as EMPTY, which occur in ordinary text."""
_ENCODED = r"(?:(?:[%&=]|(?<!\\)\\++)(?:(?:25)*|u00|x|#x0*)(?:{0});?|&#0*(?:{1});)"
"""A character encoded for an address, JSON, HTML or mail, by its code in both notations; backslashes are one run."""
_SPACES = _ENCODED.format("09|0[a-d]|20|a0", "9|1[0-3]|32|160")
_FOLD = r"|=(?=[\s\\])"
"""The end of a line that mail folds."""
_BETWEEN = (
    rf"(?:{_SPACES}|(?!{_ENCODED.format('[0-9a-f]{2}', '[0-9]{2,3}')})\\+"
    r"(?:[nrt]|u(?:03[0-6]\w|200[b-f]|206[0-4]|fe0\w|feff|fffd))?"
    rf"{_FOLD}|[MARKS\s\xad\u0300-\u036f\u200b-\u200f\u2060-\u2064\ufe00-\ufe0f\ufeff\ufffd]+)*+"
)
"""Pattern of text that may separate the characters of a key; MARKS are those of `_MARKS` that the key has not."""
_MARKS = ",;:.'\"*`|"


def remove_secret(text: str, secret: str) -> str:
    """Return a text without a key."""
    if not _SECRET.fullmatch(secret):
        return re.sub(rf"(?i)(bearer\s+){re.escape(secret)}", rf"\1{_SHOWN}", text)
    return _pattern(secret).sub(_SHOWN, text)


@cache
def _pattern(secret: str) -> re.Pattern[str]:
    """Return the pattern of a key in every form; the lookahead on first characters makes mismatches fail fast."""
    forms = _forms(secret)
    first = re.escape("".join({form[0] for form in forms}))
    between = _BETWEEN.replace("MARKS", "".join(mark for mark in _MARKS if mark not in secret))
    either = "|".join(between.join(map(_letter_pattern, form)) for form in forms)
    pattern = rf"(?=[{first}%&=\\])(?:{either})"
    if "=" in secret:  # it is a character of the key, not a sign of mail
        pattern = pattern.replace("[%&=]", "[%&]").replace(_FOLD, "")
    return re.compile(pattern, re.IGNORECASE)


def _letter_pattern(letter: str) -> str:
    """Return the pattern of a character as it is or encoded, in either case."""
    low, high = ord(letter), ord(letter.upper())
    return f"(?:{re.escape(letter)}|{_ENCODED.format(f'{low:02x}|{high:02x}', f'{low}|{high}')})"


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
