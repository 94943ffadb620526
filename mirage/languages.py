"""The 18 languages of MIRACL, NoMIRACL and MIRAGE-Bench: data only.

Codes are ISO 639-1. The NoMIRACL hub set names its configurations by the lower-case English name, the MIRAGE
sets by the code. Families after Glottolog's top level, Indo-European split by branch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from mirage.errors import UnknownName


@dataclass(frozen=True, slots=True)
class Language:
    """One language and what a program must know to show, split and name it."""

    code: str
    """ISO 639-1 code; the value of every `language` column."""
    name: str
    """English name."""
    endonym: str
    """The language's name in itself."""
    script: str
    """ISO 15924 code of the script its texts are written in."""
    direction: Literal["ltr", "rtl"]
    """Writing direction of a paragraph."""
    spaced: bool
    """Whether words are separated by spaces (false: ja, th, zh)."""
    family: str
    """Language family, or branch within Indo-European."""

    @property
    def nomiracl_name(self) -> str:
        """The name the NoMIRACL hub data set uses: lower-case English."""
        return self.name.lower()


LANGUAGES: dict[str, Language] = {
    language.code: language
    for language in (
        Language("ar", "Arabic", "العربية", "Arab", "rtl", True, "Semitic"),
        Language("bn", "Bengali", "বাংলা", "Beng", "ltr", True, "Indo-Aryan"),
        Language("de", "German", "Deutsch", "Latn", "ltr", True, "Germanic"),
        Language("en", "English", "English", "Latn", "ltr", True, "Germanic"),
        Language("es", "Spanish", "Español", "Latn", "ltr", True, "Romance"),
        Language("fa", "Persian", "فارسی", "Arab", "rtl", True, "Iranian"),
        Language("fi", "Finnish", "Suomi", "Latn", "ltr", True, "Uralic"),
        Language("fr", "French", "Français", "Latn", "ltr", True, "Romance"),
        Language("hi", "Hindi", "हिन्दी", "Deva", "ltr", True, "Indo-Aryan"),
        Language("id", "Indonesian", "Bahasa Indonesia", "Latn", "ltr", True, "Austronesian"),
        Language("ja", "Japanese", "日本語", "Jpan", "ltr", False, "Japonic"),
        Language("ko", "Korean", "한국어", "Kore", "ltr", True, "Koreanic"),
        Language("ru", "Russian", "Русский", "Cyrl", "ltr", True, "Slavic"),
        Language("sw", "Swahili", "Kiswahili", "Latn", "ltr", True, "Atlantic-Congo"),
        Language("te", "Telugu", "తెలుగు", "Telu", "ltr", True, "Dravidian"),
        Language("th", "Thai", "ไทย", "Thai", "ltr", False, "Tai-Kadai"),
        Language("yo", "Yoruba", "Yorùbá", "Latn", "ltr", True, "Atlantic-Congo"),
        Language("zh", "Chinese", "中文", "Hans", "ltr", False, "Sino-Tibetan"),
    )
}
"""Every language by its code, in the order of the codes."""


def language(code: str, *, where: str = "") -> Language:
    """Look a language up by its code, or by the lower-case English name NoMIRACL uses.

    Raises:
        UnknownName: if there is no such language; the message names the nearest.
    """
    entry = LANGUAGES.get(code)
    if entry is None:
        entry = next((candidate for candidate in LANGUAGES.values() if candidate.nomiracl_name == code.lower()), None)
    if entry is None:
        raise UnknownName("language", code, LANGUAGES, where=where)
    return entry
