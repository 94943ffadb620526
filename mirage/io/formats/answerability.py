"""Fields of a record that say whether its query is answerable."""

import re

from mirage.io.formats.spec import Value, load_names

ANSWERABLE, UNANSWERABLE = (load_names("read")[name] for name in ("answerable", "unanswerable"))
"""Names of fields that say whether the query of a record is answerable."""
_KINDS = ("type", "question_type", "query_type", "answer_type", "category", "kind", "qtype")
"""Names of fields that may say so among other kinds of queries."""
_STATED = frozenset((*ANSWERABLE, *UNANSWERABLE, *_KINDS))
_KIND_WORDS = {
    "answerable": True,
    **dict.fromkeys(("unanswerable", "not answerable", "non answerable", "no answer", "impossible"), False),
}
_YES, _NO = frozenset(("true", "yes", "y", "1", "1.0")), frozenset(("false", "no", "n", "0", "0.0"))


def says_answerable(value: Value) -> bool | None:
    """Return whether a field of a record says that its query is answerable; None if none says yes or no."""
    if value.keys().isdisjoint(_STATED):
        return None
    for name in (*ANSWERABLE, *UNANSWERABLE, *_KINDS):
        content = value.get(name)
        if isinstance(content, list) and len(content) == 1:
            content = content[0]
        if not isinstance(content, str | bool | int | float):
            continue
        word = str(content).strip().casefold()
        if name not in _KINDS and word in _YES | _NO:
            return (word in _YES) == (name in ANSWERABLE)
        if (said := _KIND_WORDS.get(re.sub(r"[\W_]+", " ", word).strip())) is not None:
            return said
    return None
