"""Rules that negate a sentence, by language.

Each rule is a pattern and its replacement; the first that matches is applied once. They cover the copula, common
auxiliaries and common verbs of encyclopaedic sentences, or the sentence-final verb. Sentences that contain none of
these, or are already negative, are not negated: a double negation would restore the meaning.
"""

from __future__ import annotations

import unicodedata
from functools import cache
from typing import Any

from mirage.text.languages import base


def _any(words: str) -> str:
    """Return a pattern for one of some words or, with underscores, phrases."""
    return rf"\b({words.replace(' ', '|').replace('_', ' ')})\b"


_END = r"(?=[\s.。．।!！]*$)"
"""End of a sentence."""
_RULES: dict[str, tuple[tuple[str, str], ...]] = {
    "ar": (
        (r"\bكان\b", "لم يكن"),
        (r"\bكانت\b", "لم تكن"),
        (r"\b(هو|هي)\b", r"ليس \1"),
        (r"\bو[ُ]?لد\b", "لم يولد"),
        (r"\bو[ُ]?لدت\b", "لم تولد"),
        (r"\bت[أا]سس\b", "لم يتأسس"),
        (r"\bت[أا]سست\b", "لم تتأسس"),
        (
            _any("يقع تقع يوجد توجد يعد تعد يُعد تُعد يعتبر تعتبر يبلغ تبلغ يصب تصب ينبع تنبع يمتد تمتد يمكن يضم تضم"),
            r"لا \1",
        ),
        (r"\b(اكتمل|انتهى|افتتح|بدأ|فاز|حصل|توفي|أصبح|رأى|كتب|بنى|نال|عاش|صار|ألّف|ألف|دام|استمر|بلغ)\b", r"ما \1"),
        (
            _any("اكتملت انتهت افتتحت بدأت فازت حصلت توفيت أصبحت رأت كتبت بنت نالت عاشت صارت دامت استمرت بلغت"),
            r"ما \1",
        ),
    ),
    "bn": (
        (r"(ছিলেন|ছিল|করেন|করেছিলেন|করেছিল|হয়েছিল|হয়|হন|যায়|পান|পায়|আছে|নেন|দেন|থাকে|থাকেন)" + _END, r"\1 না"),
        (r"(\S+)" + _END, r"\1 নয়"),
    ),
    "de": (
        (
            _any(
                "ist sind war waren heißt erreicht wird werden wurde wurden hat haben hatte kann können "
                "liegt steht gilt gehört mündet beträgt erhielt begann entspringt fließt gewann starb"
            ),
            r"\1 nicht",
        ),
    ),
    "en": (
        (
            _any("is are was were has_been have_been had_been can could will would did does do may might must should"),
            r"\1 not",
        ),
        (r"\b(has|have|had) (\w+(?:ed|en|wn|ght|de))\b", r"\1 not \2"),
        (r"\b(has|have|had)\b", r"\1 no"),
    ),
    "es": (
        (
            _any(
                "se_encuentra se_encuentran se_inauguró se_fundó se_convirtió se_construyó se_terminó "
                "se_llama se_sitúa se_extiende es son fue fueron era eran está están ha han tiene tienen "
                "nació murió recibió ganó nace desemboca mide comenzó publicó escribió puede pueden alcanza "
                "forma obtuvo abrió duró debe"
            ),
            r"no \1",
        ),
    ),
    "fa": (
        (r"\bاست\b", "نیست"),
        (r"\bهستند\b", "نیستند"),
        (
            _any("بود شد شدند بودند دارد دارند کرد کردند یافت گرفت رسید رفت ساخت داشت ماند نوشت داد دادند") + _END,
            r"ن\1",
        ),
        (r"\bمی(?=[\u200c ]\w)", "نمی"),
    ),
    "fi": (
        (r"\bon\b", "ei ole"),
        (r"\bovat\b", "eivät ole"),
        (r"\boli\b", "ei ollut"),
        (r"\bolivat\b", "eivät olleet"),
        (r"\bsijaitsee\b", "ei sijaitse"),
        (r"\bsyntyi\b", "ei syntynyt"),
        (r"\bvalmistui\b", "ei valmistunut"),
        (r"\bkuoli\b", "ei kuollut"),
        (r"\bsai\b", "ei saanut"),
        (r"\blaskee\b", "ei laske"),
        (r"\balkoi\b", "ei alkanut"),
        (r"\b(perustettiin|rakennettiin|avattiin|valittiin|nimitettiin|julkaistiin|aloitettiin)\b", r"ei \1"),
    ),
    "fr": (
        (r"\best\b", "n'est pas"),
        (r"\bsont\b", "ne sont pas"),
        (r"\bétait\b", "n'était pas"),
        (r"\bétaient\b", "n'étaient pas"),
        (r"\b(?<!qu')a\b(?= \w+(?:é|ée|és|i|u|is|it)\b)", "n'a pas"),
        (r"\bont\b", "n'ont pas"),
        (
            _any(
                "fut furent peut peuvent naît mesure compte reçut devint mourut remporta se_trouve se_situe "
                "se_jette relie"
            ),
            r"ne \1 pas",
        ),
        (r"\ba\b", "n'a pas"),
    ),
    "hi": ((r"(?<!\w)(हैं|है|थे|थीं|थी|था|होता|होती|होते|गया|गई|गए|हुआ|हुई|हुए|किया|जीता|मिला)(?!\w)(?=[^\w]*$)", r"नहीं \1"),),
    "id": (
        (r"\b(adalah|merupakan|ialah)\b", r"bukan \1"),
        (
            _any(
                "lahir terletak berada dapat memiliki mempunyai bermuara berlangsung berdiri termasuk "
                "menjadi wafat meninggal selesai terdapat mulai di(?!a|n)[a-z]{4,} me[a-z]{5,} ber[a-z]{4,} "
                "ter[a-z]{4,}"
            ),
            r"tidak \1",
        ),
    ),
    "ja": (
        (r"である" + _END, "ではない"),
        (r"です" + _END, "ではありません"),
        (r"ました" + _END, "ませんでした"),
        (r"ます" + _END, "ません"),
        (r"している" + _END, "していない"),
        (r"だった" + _END, "ではなかった"),
        (r"(?<=[たるいうくすつぬむぐ])" + _END, "わけではない"),
        (r"だ" + _END, "ではない"),
    ),
    "ko": (
        (r"이었다" + _END, "이 아니었다"),
        (r"(?:했다|하였다)" + _END, "하지 않았다"),
        (r"(?:되었다|됐다)" + _END, "되지 않았다"),
        (r"[었았]다" + _END, "지 않았다"),
        (r"이다" + _END, "이 아니다"),
        (r"있다" + _END, "있지 않다"),
        (r"한다" + _END, "하지 않는다"),
        (r"된다" + _END, "되지 않는다"),
        (r"입니다" + _END, "이 아닙니다"),
        (r"했습니다" + _END, "하지 않았습니다"),
        (r"[었았]습니다" + _END, "지 않았습니다"),
        (r"있습니다" + _END, "있지 않습니다"),
        (r"합니다" + _END, "하지 않습니다"),
        (r"(?<!니)다" + _END, "다고 할 수 없다"),
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
    "sw": (
        (r"\bni\b", "si"),
        (r"\balizaliwa\b", "hakuzaliwa"),
        (r"\balikuwa\b", "hakuwa"),
        (r"\b(i|u|ki|zi|vi|ya|li|wa)likuwa\b", r"ha\1kuwa"),
        (r"\bali(\w{3,})\b", r"haku\1"),
        (r"\bwali(\w{3,})\b", r"hawaku\1"),
        (r"\bili(\w{3,})\b", r"haiku\1"),
        (r"\buli(\w{3,})\b", r"hauku\1"),
        (r"\b(ina|ana|una|kina|zina|vina|wana|yana|lina)\b", r"ha\1"),
        (r"\b(iko|uko|yuko|kiko|ziko|viko|wako|upo|ipo|yupo)\b", r"ha\1"),
        (r"\b(hutoka|humwaga|huanza|hupatikana|hupita|huitwa)\b", r"si kwamba \1"),
    ),
    "te": (
        (r"ఉంది" + _END, "లేదు"),
        (r"ఉన్నాయి" + _END, "లేవు"),
        (r"(?:ాడు|ారు|ింది|ాయి|ాను)" + _END, "లేదు"),
        (r"(\S+ం|\S+రాలు|\S+ుడు|\S+ది|\S+లు|\S+ి)" + _END, r"\1 కాదు"),
    ),
    "th": (
        (r"(?<!ไม่)เป็น", "ไม่ได้เป็น"),
        (r"คือ", "ไม่ใช่"),
        (r"(?<!ไม่)(ตั้งอยู่|เกิด(?=ที่|ใน|เมื่อ)|ได้รับ|สร้าง|ก่อตั้ง|เริ่ม|ไหล|สูง|ยาว|อยู่)", r"ไม่ได้\1"),
        (r"(?<!ไม่)มี(?!นา|ชื่อ|ด)", "ไม่มี"),
    ),
    "yo": (
        (r"\bjẹ́", "kì í ṣe"),
        (r"\bwà\b", "kò sí"),
        (r"\b(ó|Ó) ", r"kò "),
        (r"\bwọ́n ", "wọn kò "),
        (r"\bni\b", "kọ́ ni"),
    ),
    "zh": (
        (r"(?<![但于可就还只总要正凡若而都])是", "不是"),
        (
            r"(位于|属于|发源于|出生于|成立于|注入|毕业于|建成于|流入|流经|起源于|始建于|生于|诞生于|获得|建于|建立)",
            r"并非\1",
        ),
        (r"(?<!没)有(?!限|关|名|机)", "没有"),
        (r"在", "不在"),
    ),
}
_NEGATIVE: dict[str, str] = {
    "ar": r"\b(?:ليس|ليست|لم|لن|لا|ما لم|غير)\b",
    "bn": r"(?<!\w)(?:না|নয়|নেই|নি)(?!\w)",
    "de": r"\b(?:nicht|kein\w*|nie|niemals)\b",
    "en": r"\b(?:not|no|never|none|cannot)\b|n't\b",
    "es": r"\b(?:no|nunca|jamás|ningún|ninguna)\b",
    "fa": r"\b(?:نیست|نیستند|ن?می\u200cنشود|نشد|نبود|ندارد|هیچ)\b",
    "fi": r"\b(?:ei|eivät|en|et|emme|ette)\b",
    "fr": r"\b(?:ne|pas|jamais|aucun\w*)\b|\bn'",
    "hi": r"(?<!\w)(?:नहीं|न|ना|मत)(?!\w)",
    "id": r"\b(?:tidak|bukan|belum|tak)\b",
    "ja": r"ない|ません|なかった|なく",
    "ko": r"않|없|아니|못",
    "ru": r"\b(?:не|нет|ни|никогда)\b",
    "sw": r"\b(?:si|hakuna|haku\w+|hai\w+|hapana)\b",
    "te": r"లేదు|కాదు|లేవు|కాని",
    "th": r"ไม่",
    "yo": r"\b(?:kò|kì|kọ́|má)\b",
    "zh": r"不|没|无|非|未",
}
"""Negations: sentences that contain any of these are not changed."""


def has_rules(language: str) -> bool:
    """Return whether there are rules for a language."""
    return base(language) in _RULES


def negate(sentence: str, language: str) -> str | None:
    """Negate a sentence; None if no rule of the language matches.

    Args:
        sentence: a sentence, without citations.
        language: code of its language.
    """
    code = base(language)
    if code not in _RULES or _compile(_NEGATIVE[code]).search(sentence):
        return None
    for pattern, replacement in _RULES[code]:
        for form in ("NFC", "NFD"):
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
