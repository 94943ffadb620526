"""Prompt templates: bundled text files and the user's own.

The four of NoMIRACL ask whether the contexts answer the query. `vanilla` is the prompt of the published outputs; the
others are the variations of the paper's prompt study on Mistral-7B (Table 3): `role` sets a role and forbids further
output, `repeat` repeats the instruction and the query after the contexts, `explanation` asks for steps before the
answer. Source: repository project-miracl/nomiracl, `nomiracl/prompts/template.py` (Apache-2.0), verbatim; generation
settings: arXiv 2312.11361, section 4.3.

`rag` asks for an answer with its reasoning and citations, as the prompt of MIRAGE-Bench does (after ChatQA; arXiv
2410.13716), in words of our own.
"""

import hashlib
import itertools
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from pathlib import Path

from mirage.errors import BadInput, UnknownName
from mirage.store import files as store_files

TEMPLATES = ("vanilla", "role", "repeat", "explanation", "rag")
"""The bundled templates."""
PLACEHOLDERS = ("question", "contexts")
"""Required placeholders of a template, in braces; each may occur several times. `contexts_by_id` may replace
`contexts`: it shows each passage with its id instead of a number, so that citations can be checked by id.
"""
MAX_PASSAGE_TOKENS = 800
"""Maximum tokens of each passage in a RAG prompt (MIRAGE-Bench, section 5), and in prompts of judges and graders."""
_BY_ID, _LANGUAGE = "contexts_by_id", "language"
_BEFORE = "The question below ends a conversation. What was said before it, in order:"
"""Introduction of the turns, if there are any."""
_ALLOWED = (
    "use {question}, {contexts} or {contexts_by_id}, and {language}; to have braces in the prompt, put a space inside"
    " them"
)
_PLACEHOLDER = re.compile(r"\{([A-Za-z_][A-Za-z_0-9]*)\}")


@dataclass(frozen=True, slots=True)
class Template:
    """A prompt text with its placeholders, and the generation settings for its answers."""

    name: str
    """Name in `answers.template`: one of `TEMPLATES`, or the file's name without its extension."""
    text: str
    """The text, with `{question}` and `{contexts}` or `{contexts_by_id}`, and `{language}` for the English name of the
    query's language. Other braces are text."""
    max_new_tokens: int
    """Maximum answer length, in tokens of the model."""
    top_p: float | None = 0.95
    """Nucleus sampling probability; None for the model's default."""
    max_passage_tokens: int = 375
    """Maximum tokens of each passage before rendering."""
    max_prompt_tokens: int | None = None
    """Passages are truncated further, all to the same length, until the prompt fits; None for no limit."""

    @property
    def by_id(self) -> bool:
        """True if passages show their ids; otherwise they are numbered from 1."""
        return f"{{{_BY_ID}}}" in self.text


def load_template(name_or_path: str | Path) -> Template:
    """Load a template by name, or from a file.

    Args:
        name_or_path: one of `TEMPLATES`, or the path of a UTF-8 text file with the placeholders of `Template.text`. The
            file is used verbatim, except for a final line break. It gets the settings of `vanilla`, or of `rag` if it
            shows ids.

    Raises:
        UnknownName: if it is a name, without a dot or a slash, of no template.
        BadInput: if the file is missing or cannot be read, or has missing or unknown placeholders.
    """
    if name_or_path in TEMPLATES:
        return _template(str(name_or_path), bundled_text(str(name_or_path)))
    if isinstance(name_or_path, str) and not {".", "/"} & set(name_or_path):
        raise UnknownName("prompt template", name_or_path, TEMPLATES)
    path = Path(name_or_path)
    text = "\n".join(line for _, line in store_files.lines(path)).removeprefix("\ufeff")
    if text.startswith("---\n"):
        raise BadInput("a prompt has no header", where=str(path), do="remove the lines between the two ---")
    check_placeholders(
        "template",
        text,
        known=(*PLACEHOLDERS, _BY_ID, _LANGUAGE),
        needed=("question", _BY_ID if f"{{{_BY_ID}}}" in text else "contexts"),
        where=str(path),
        do=(_ALLOWED, "put {question} where the query goes and {contexts} where the passages go"),
    )
    if path.stem in TEMPLATES:
        raise BadInput(f"{path.stem} is the name of a bundled template", where=str(path), do="rename the file")
    return _template(path.stem, text)


def check_placeholders(
    what: str, text: str, *, known: Iterable[str], needed: Iterable[str] = (), where: str, do: tuple[str, str]
) -> None:
    """Check the placeholders of a text of the user's own.

    Args:
        what: names the text.
        text: the text.
        known: placeholders that it may have.
        needed: placeholders that it must have.
        where: the file.
        do: advice for an unknown and for a missing placeholder.

    Raises:
        BadInput: naming the first that is unknown or missing.
    """
    there = set(_PLACEHOLDER.findall(text))
    for name in sorted(there.difference(known)):
        raise BadInput(f"the {what} has an unknown placeholder {{{name}}}", where=where, do=do[0])
    for name in needed:
        if name not in there:
            raise BadInput(f"the {what} lacks the placeholder {{{name}}}", where=where, do=do[1])


def _template(name: str, text: str) -> Template:
    """Build a template with the settings for its kind of answer."""
    template = Template(name, text, max_new_tokens=400 if name == "explanation" else 50)
    if template.by_id:
        return replace(
            template, max_new_tokens=2048, top_p=None, max_passage_tokens=MAX_PASSAGE_TOKENS, max_prompt_tokens=8192
        )
    return template


def render(
    template: Template,
    query: str,
    passages: Sequence[tuple[str | None, str]],
    *,
    ids: Sequence[str] = (),
    language: str = "",
    turns: Sequence[tuple[str, str]] = (),
) -> str:
    """Fill a template; inserted values are not searched for placeholders.

    Args:
        template: from `load_template`.
        query: the query.
        passages: title and text of each, in the order shown; a passage without a title is its text only.
        ids: the id of each, for a template that shows ids.
        language: English name of the query's language, for a template that names it.
        turns: speaker and text of each turn before the query, in order.

    Returns:
        The prompt; passages `[1] title: text` numbered from 1, or with their ids, separated by blank lines, as
        published. Turns precede the template's text, since templates have no placeholder for them.

    Raises:
        BadInput: if there are no passages.
    """
    if not passages:
        raise BadInput("a prompt needs at least one passage", do="add passages to the query")
    labels = ids if template.by_id else range(1, len(passages) + 1)
    texts = (f"{title}: {text}" if title is not None else text for title, text in passages)
    contexts = "\n\n".join(f"[{label}] {passage}" for label, passage in zip(labels, texts, strict=True))
    prompt = fill(template.text, {"question": query, "contexts": contexts, _BY_ID: contexts, _LANGUAGE: language})
    return "\n\n".join([_BEFORE, *(f"{speaker}: {text}" for speaker, text in turns), prompt]) if turns else prompt


@cache
def bundled_text(name: str) -> str:
    """Return the text of a bundled file by its name without the extension."""
    return files(__name__).joinpath(f"{name}.txt").read_text(encoding="utf-8")


def fill(text: str, values: Mapping[str, str]) -> str:
    """Replace `{name}` by its value, in one pass: inserted values are not searched for placeholders."""
    return _PLACEHOLDER.sub(lambda match: values[match[1]], text)


def fence_texts(kind: str, texts: Iterable[str], code: str) -> str:
    """Return texts in numbered fences of a kind, `<<PASSAGE 1 CODE>>`, separated by blank lines."""
    return "\n\n".join(f"<<{kind} {n} {code}>>\n{text}\n<<END {code}>>" for n, text in enumerate(texts, 1))


def one_message(name: str, **values: str) -> list[dict[str, str]]:
    """Return a bundled prompt with its placeholders filled, as a conversation."""
    return [{"role": "user", "content": fill(bundled_text(name), values)}]


def fence_code(texts: Iterable[str], *, digits: int = 12) -> str:
    """Return a code for the fences around texts that a model judges: a prefix of their hash, as long as needed.

    It occurs in none of the texts, in either case, and the author of one text cannot predict it, as it depends on all.

    Args:
        texts: every text to fence.
        digits: minimum number of hexadecimal digits.
    """
    texts = list(texts)
    digest = hashlib.sha256(json.dumps(texts).encode()).hexdigest()
    folded = [text.casefold() for text in texts]
    for length in itertools.count(digits):
        while len(digest) < length:
            digest += hashlib.sha256(digest.encode()).hexdigest()
        if not any(digest[:length] in text for text in folded):
            break
    return digest[:length]
