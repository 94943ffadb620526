"""Languages with a BCP 47 tag: names, scripts and order.

The 18 languages of MIRACL, NoMIRACL and MIRAGE-Bench are in `languages.toml`. All others come from `langcodes` (the
IANA registry of language subtags, and names and scripts of the Unicode CLDR), which is imported when first needed.

    language("vi").name                     # Vietnamese
    language("pt_br").code                  # pt-BR: the normalised code
    in_order(["zh-TW", "all", "el", "ar"])  # ["ar", "el", "zh-TW", "all"]
"""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from mirage.errors import BadInput, UnknownName
from mirage.text.data import load_words


@dataclass(frozen=True, slots=True)
class Language:
    """One language, with the facts needed to show, segment and name it."""

    code: str
    """Normalised BCP 47 tag (`sw`, `pt-BR`, `sr-Latn`); the value of every `language` column."""
    name: str
    """English name."""
    endonym: str
    """The language's name in itself; the English name if unknown."""
    script: str
    """ISO 15924 code of its script."""
    direction: Literal["ltr", "rtl"]
    """Writing direction of a paragraph."""
    spaced: bool
    """Whether words are separated by spaces (false: ja, th, zh, lo, km, my and others in their scripts)."""
    family: str | None
    """Language family, or branch within Indo-European and Afro-Asiatic; None if not listed here."""

    @property
    def base(self) -> str:
        """The language without script, region and variant: `pt` of `pt-BR`."""
        return base(self.code)

    @property
    def tested(self) -> bool:
        """True if words, sentences, detection and outcomes are tested in it: the 18 languages, with variants."""
        parent = LANGUAGES.get(self.base)
        return parent is not None and (self.script == parent.script or not self.spaced)

    @property
    def nomiracl_name(self) -> str:
        """Name of the NoMIRACL dataset's configuration: lower-case English."""
        return self.name.lower()


WORDS = load_words("languages")
"""The tables of `languages.toml`."""

LANGUAGES = {code: Language(code, **facts) for code, facts in WORDS["languages"].items()}
"""The 18 tested languages by ISO 639-1 code, in code order."""

_FAMILY = {code: family for family, codes in WORDS["families"].items() for code in codes.split()} | {
    code: entry.family for code, entry in LANGUAGES.items()
}
_RIGHT_TO_LEFT, _UNSPACED = (WORDS["scripts"][name].split() for name in ("right_to_left", "unspaced"))
_ALL = "all"
"""Placeholder for every language in stored tables; Allar, which has this code, is therefore not supported."""
UNDETERMINED = "und"
"""BCP 47 code of an undetermined language."""
_LONGEST, _SHORTEST = 64, 4
"""Maximum characters of a tag or name, minimum of a name: a mistyped code is not the name of a rare language."""


_FILE_TAG = re.compile(
    r"(?:topics|queries|qrels|run|corpus|collection|passages|documents|docs|segments)[^.]*"
    r"\.([a-z]{2,3}(?:[-_][A-Za-z0-9]{2,8})*)"
    r"(?:\.(?:tsv|txt|jsonl?|ndjson|trec|xml|sgml|gz|zst))+"
)
"""The name of a file that says its language: `topics.pt-BR.tsv`."""
_FILE_WORDS = frozenset(("new", "min"))
"""Codes of languages that a file's name rather has for another reason."""


def base(code: str) -> str:
    """Return the language of a normalised code without script, region and variant: `zh` of `zh-TW`."""
    return code.partition("-")[0]


def fold_codes(codes: Collection[str], known: Collection[str] = (), apart: Collection[str] = ()) -> dict[str, str]:
    """Return one code for the codes of each language that has several: `zh` for `zh`, `zh-CN` and `zh-Hans`.

    Args:
        codes: the codes.
        known: codes that an arena has already, and that stay.
        apart: codes of languages of their own.
    """
    folded = {}
    for code in {*codes}.difference(known, apart):
        alike = {other for other in (*codes, *known) if base(other) == base(code)}.difference(apart)
        if len(alike) > 1:
            there = alike.intersection(known)
            folded[code] = there.pop() if len(there) == 1 else base(code)
    return {code: other for code, other in sorted(folded.items()) if code != other}


_ALIASES = {"hn": "hi"}
"""Codes in use that are not BCP 47: the MIRAGE-Bench paper has `hn` for Hindi."""


def language(code: str, *, where: str = "") -> Language:
    """Look up a language by its code in any spelling (`pt-BR`, `pt_br`, `por`), or by its English name.

    The code of a macrolanguage's main member means the macrolanguage (`arb` is `ar`, `cmn` is `zh`).

    Raises:
        UnknownName: if there is no such language; the message lists the nearest.
    """
    entry = _find(code)
    if entry is None:
        names = {name for known in (*LANGUAGES, *_FAMILY) for name in (known, language(known).name.lower())}
        raise UnknownName("language", code, names, where=where)
    return entry


def miracl_language(code: str) -> Language:
    """Look up a language, as `language` does, among the 18 of MIRACL.

    Raises:
        UnknownName: if it is not one of the 18; the message lists the nearest.
    """
    entry = _find(code)
    if entry is None or entry.code not in LANGUAGES:
        raise UnknownName("language", code, LANGUAGES)
    return entry


def name_of(code: str) -> str:
    """Return the English name of a language by its code."""
    return language(code).name


def in_language(code: str) -> str:
    """Return a language as a place in a sentence: `in Telugu`; `without a language` for `und`."""
    return "without a language" if code == UNDETERMINED else f"in {name_of(code)}"


def scope_name(code: str) -> str:
    """Return the English name of a language, or `All languages` for `all`: what pages and charts show for a code."""
    return "All languages" if code == _ALL else name_of(code)


def search_name(code: str) -> str:
    """Return the label of a code in a picker: its English and own name, and the code, all of them searchable.

    `Telugu · తెలుగు (te)`; `English (en)`; `All languages` for `all`.
    """
    if code == _ALL:
        return scope_name(code)
    entry = language(code)
    names = dict.fromkeys((entry.name, entry.endonym))
    return f"{' · '.join(names)} ({code})"


def is_code(code: str) -> bool:
    """Return whether a text is a normalised language code, as in a `language` column."""
    if code in LANGUAGES or code in ("", _ALL):
        return code in LANGUAGES
    entry = _look_up(code)
    return entry is not None and entry.code == code


def known_code(name: str | None) -> str | None:
    """Return the code of a language named by a source; None if missing or unknown."""
    entry = _look_up(name) if name and name.strip().lower() != _ALL else None
    return None if entry is None else entry.code


def place(code: str) -> tuple[int, str]:
    """Return the sort key of a language code: codes, then `all`, then the empty code."""
    return {_ALL: 1, "": 2}.get(code, 0), code


def in_order(codes: Iterable[str]) -> list[str]:
    """Return distinct codes in the order of tables, files and pages: see `place`."""
    return sorted(set(codes), key=place)


def language_of_file(name: str) -> str | None:
    """Return the language in a file's name, or None.

    The 18 of MIRACL are taken anywhere in it (`topics.miracl-v1.0-sw-dev.tsv`). Any other tag in its normal form stands
    alone between the kind and the ending (`topics.pt-BR.tsv`), and of codes with three letters only those of languages
    that this module has a family of: `dev`, `top` and most short words are codes too.
    """
    if (
        (match := _FILE_TAG.fullmatch(name))
        and (code := match[1].replace("_", "-")) not in _FILE_WORDS
        and is_code(code)
    ):
        entry = language(code)
        if len(entry.base) == 2 or entry.family is not None:
            return code
    return next((part for part in re.split(r"[._-]", name) if part in LANGUAGES), None)


def refuse_name_of_all(codes: Iterable[str]) -> None:
    """Reject a language with the code of the row over all languages.

    Raises:
        BadInput: if there is one.
    """
    if _ALL in codes:
        raise BadInput(
            f"the language code {_ALL} is reserved for the row over all languages",
            do="use the language's own code, or omit the column",
        )


def _find(code: str) -> Language | None:
    return LANGUAGES.get(code) or _look_up(_ALIASES.get(code.lower(), code))


@lru_cache(maxsize=4_096)
def _look_up(text: str) -> Language | None:
    """Return the language of a code or an English name; None if there is none."""
    if by_name := next((known for known in LANGUAGES.values() if known.nomiracl_name == text.lower()), None):
        return by_name
    tag = _tag(text)
    if tag is None or tag == _ALL:
        return None
    return LANGUAGES.get(tag) or _describe_tag(tag)


def _tag(text: str) -> str | None:
    """Return the normalised tag of a code or an English name."""
    import langcodes
    from langcodes.tag_parser import LanguageTagError

    if not text.isprintable() or len(text) > _LONGEST:
        return None
    try:
        tag = langcodes.standardize_tag(text, macro=True)
        if langcodes.tag_is_valid(tag):
            return tag
    except LanguageTagError:
        pass
    if len(text) < _SHORTEST:
        return None
    try:
        return langcodes.find(text, language="en").to_tag()
    except LookupError:
        return None


def _describe_tag(tag: str) -> Language:
    import langcodes

    entry = langcodes.Language.get(tag)
    name = entry.display_name()
    if parent := LANGUAGES.get(base(tag)):
        name = name.replace(langcodes.Language.get(parent.code).display_name(), parent.name)
    if f"[{tag}]" in name:
        name = tag
    elif entry.variants or entry.extensions or entry.private:
        name = f"{name} ({tag})"
    likely = entry.maximize()
    if name == tag or likely.language != entry.language:
        # For an unknown language CLDR falls back to American English.
        return Language(tag, name, name, entry.script or "Zyyy", "ltr", True, None)
    script = entry.script or likely.script or "Zyyy"
    # Look up by language and script, because CLDR names Taiwanese Chinese only in Traditional Chinese.
    endonym = entry.display_name(langcodes.Language.make(language=entry.language, script=script))
    direction: Literal["ltr", "rtl"] = "rtl" if script in _RIGHT_TO_LEFT else "ltr"
    capital = endonym[:1].upper() + endonym[1:]
    return Language(tag, name, capital, script, direction, script not in _UNSPACED, _FAMILY.get(base(tag)))
