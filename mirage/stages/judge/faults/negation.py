"""Rules that negate a sentence, by language.

Each rule is a pattern and its replacement; the first that matches is applied once. They cover the copula, common
auxiliaries and common verbs of encyclopaedic sentences, or the sentence-final verb. Sentences that contain none of
these, or are already negative, are not negated: a double negation would restore the meaning. A language has rules only
if people who read it found the sentences negated and well formed.
"""

from __future__ import annotations

import unicodedata
from functools import cache
from typing import Any, Literal

from mirage.text.languages import base
from mirage.text.segmentation import words


def _any(words: str) -> str:
    """Return a pattern for one of some words or, with underscores, phrases."""
    return rf"\b({words.replace(' ', '|').replace('_', ' ')})\b"


_NOT_ELIDED = r"(?<![\w'’-])(?<!\b(?:se|le|la|les|lui|leur|y|en|me|te|nous|vous) )"
"""Before a French verb: no elision and no pronoun, before which the negation would stand."""
_LEAST_WORDS, _CHARACTERS = 6, {"ja": 15, "th": 25, "zh": 12}
_WHOLE = r"^[\p{Lu}\p{Lt}\p{Lo}\p{N}\"«„“‘'「『(].*(?<!\b[\p{L}\d]|\b\d\d)[.!?。．！？।؟۔॥][\"»“”’'」』)]*$"
"""A whole sentence: it begins with a capital, or a letter without case, and ends with a stop that is not that of an
initial or an ordinal.
"""
_END = r"(?=[\s.。．।!！]*$)"
"""End of a sentence."""
_RULES: dict[str, tuple[tuple[str, str], ...]] = {
    "ar": (
        (r"(?<!أن )\bكان\b(?= \w)", "لم يكن"),
        (r"(?<!أن )\bكانت\b(?= \w)", "لم تكن"),
        (r"\bهو\b(?! [يتن]\w)", "ليس"),
        (r"\bهي\b(?! [يتن]\w)", "ليست"),
        (r"\bو[ُ]?لد(?= (?:في|عام|سنة|يوم|ب))", "لم يولد"),
        (r"\bو[ُ]?لدت(?= (?:في|عام|سنة|يوم|ب))", "لم تولد"),
        (r"\bت[أا]سس\b", "لم يتأسس"),
        (r"\bت[أا]سست\b", "لم تتأسس"),
        (
            _any("يقع تقع يوجد توجد يعد تعد يُعد تُعد يعتبر تعتبر يبلغ تبلغ يصب تصب ينبع تنبع يمتد تمتد يمكن يضم تضم"),
            r"لا \1",
        ),
        (r"(?<!قد )\b(اكتمل|انتهى|افتتح|بدأ|فاز|حصل|توفي|أصبح|نال|عاش|صار|استمر|بلغ)\b", r"ما \1"),
        (
            r"(?<!قد )" + _any("اكتملت انتهت افتتحت بدأت فازت حصلت توفيت أصبحت نالت عاشت صارت استمرت بلغت"),
            r"ما \1",
        ),
    ),
    "en": (
        (r"\b(has|have|had) (\w+(?:ed|en|wn|ght|de))\b", r"\1 not \2"),
        (_any("is are was were can could will would did does do may might must should") + r"(?! also)", r"\1 not"),
        (r"\b(has|have|had) an? (?!few|lot|little)", r"\1 no "),
    ),
    "es": (
        (
            r"(?<!\b(?:se|lo|la|le|los|las|les|me|te|nos|una) )"
            + _any(
                "se_encuentra se_encuentran se_inauguró se_fundó se_convirtió se_construyó se_terminó "
                "se_llama se_sitúa se_extiende es son fue fueron era eran está están ha han tiene tienen "
                "nació murió recibió ganó nace desemboca mide comenzó publicó escribió puede pueden alcanza "
                "obtuvo abrió duró debe"
            ),
            r"no \1",
        ),
    ),
    "fr": (
        (r"\b([Ss])['’](est|était|étaient)\b(?!-)", r"ne \1'\2 pas"),
        (r"\b(s)e (sont)\b(?!-)", r"ne \1e \2 pas"),
        (r"\b([Cc])['’]est\b(?!-)", r"\1e n'est pas"),
        (r"\b([Ii])l y a\b(?! [\w-]+ (?:ans|jours|mois|siècles))", r"\1l n'y a pas"),
        (_NOT_ELIDED + r"est\b(?!-)", "n'est pas"),
        (_NOT_ELIDED + r"sont\b(?!-)", "ne sont pas"),
        (_NOT_ELIDED + r"était\b(?!-)", "n'était pas"),
        (_NOT_ELIDED + r"étaient\b(?!-)", "n'étaient pas"),
        (_NOT_ELIDED + r"a\b(?= \w+(?:é|ée|és|i|u|is|it)\b)", "n'a pas"),
        (_NOT_ELIDED + r"ont\b(?!-)", "n'ont pas"),
        (
            _NOT_ELIDED
            + r"(fut|furent|peut|peuvent|naît|reçut|devint|mourut|remporta|se trouve|se situe|se jette)\b(?!-)",
            r"ne \1 pas",
        ),
    ),
    "ja": (
        (r"である" + _END, "ではない"),
        (r"(?<!い)です" + _END, "ではありません"),
        (r"ました" + _END, "ませんでした"),
        (r"ます" + _END, "ません"),
        (r"している" + _END, "していない"),
        (r"だった" + _END, "ではなかった"),
        (r"(?<=[たるいうくすつぬむぐ])(?<!です|ます|ください|なさい)" + _END, "わけではない"),
        (r"だ" + _END, "ではない"),
    ),
    "ru": (
        (
            _any(
                "был была было были является являются находится находятся родился родилась расположен "
                "расположена расположено впадает берёт берет стал стала стало может могут составляет "
                "получил получила умер умерла основан основана построен построена построили открыт открылся "
                "открылась завершилось завершили считается стоит имеет длится написал написала победил "
                "вышел вышла происходит занимает появился появилась начался началась закончился закончилось "
                "вытекает служит увидел увидела принадлежит входит"
            ),
            r"не \1",
        ),
    ),
    "zh": (
        (r"(?<![但于可就还只总要正凡若而都])是(?!否|的|非)", "不是"),
        (r"(位于|属于|注入|流入|流经)", r"不\1"),
        (r"(出生于|成立于|毕业于|建成于|起源于|发源于|始建于|(?<!出|诞)生于|诞生于|(?<!始)建于)", r"并非\1"),
        (r"获得(?!者|了|过)", "并未获得"),
    ),
}
_NEGATIVE: dict[str, str] = {
    "ar": r"\b(?:ليس|ليست|لم|لن|لا|ما لم|غير)\b",
    "en": r"\b(?:not|no|never|none|cannot)\b|n't\b",
    "es": r"\b(?:no|nunca|jamás|ningún|ninguna)\b",
    "fr": r"\b(?:ne|pas|jamais|aucun\w*)\b|\bn'",
    "ja": r"ない|ません|なかった|なく",
    "ru": r"\b(?:не|нет|ни|никогда)\b",
    "zh": r"不|没|无|非|未",
}
"""Negations: sentences that contain any of these are not changed."""


def has_rules(language: str) -> bool:
    """Return whether there are rules for a language."""
    return base(language) in _RULES


def is_statement(sentence: str, language: str) -> bool:
    """Return whether a sentence of a passage states something by itself: a whole sentence of at least six words, or as
    many characters as these take, with a figure or a known verb. A list's number or a heading states nothing.
    """
    code = base(language)
    least = _CHARACTERS.get(code)
    long_enough = len(sentence) >= least if least else len(words(sentence)) >= _LEAST_WORDS
    whole = long_enough and (code == "th" or _compile(_WHOLE).search(sentence) is not None)
    if not whole or code not in _RULES:
        return whole and any(map(str.isdecimal, sentence))
    return (
        any(map(str.isdecimal, sentence))
        or negate(sentence, code) is not None
        or _compile(_NEGATIVE[code]).search(sentence) is not None
    )


def negate(sentence: str, language: str) -> str | None:
    """Negate a sentence; None if no rule of the language matches.

    Args:
        sentence: a sentence, without citations.
        language: code of its language.
    """
    code = base(language)
    if code not in _RULES or _compile(_NEGATIVE[code]).search(sentence):
        return None
    form: Literal["NFC", "NFD"] = "NFC" if unicodedata.is_normalized("NFC", sentence) else "NFD"
    for pattern, replacement in _RULES[code]:
        changed = _compile(unicodedata.normalize(form, pattern)).sub(
            unicodedata.normalize(form, replacement), sentence, count=1
        )
        if changed != sentence:
            return str(changed)
    return None


@cache
def _compile(pattern: str) -> Any:
    import regex  # the standard `re` breaks words at Hindi vowel signs

    return regex.compile(pattern, regex.V1)
