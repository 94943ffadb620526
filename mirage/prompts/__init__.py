"""The prompt texts, as files beside this one, and the user's own: each a template filled in one pass.

The four of NoMIRACL ask whether the contexts answer the question. `vanilla` is the one the published outputs were made
with; the others are the variations of the paper's prompt study on Mistral-7B (Table 3): `role` names a role and forbids
further output, `repeat` says the instruction and the question again after the contexts, `explanation` asks for steps
before the answer. Source: repository project-miracl/nomiracl, `nomiracl/prompts/template.py` (Apache-2.0), character
for character; generation settings: arXiv 2312.11361, section 4.3.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from mirage import store
from mirage.errors import BadInput, UnknownName

TEMPLATES = ("vanilla", "role", "repeat", "explanation")
"""The templates that come with the program."""
PLACEHOLDERS = ("question", "contexts")
"""What a template must hold, in braces; each may stand more than once."""
_PLACEHOLDER = re.compile(r"\{([A-Za-z_][A-Za-z_0-9]*)\}")


@dataclass(frozen=True, slots=True)
class Template:
    """A prompt text with its placeholders, and the settings a reply to it is generated with."""

    name: str
    """The name in `answers.template`: one of `TEMPLATES`, or the file's name without its ending."""
    text: str
    """The text, with `{question}` and `{contexts}`. Other braces are text."""
    max_new_tokens: int
    """Longest reply, in tokens of the model."""
    temperature: float = 0.1
    """Sampling temperature."""
    top_p: float = 0.95
    """Share of the probability mass that is sampled from."""
    max_passage_tokens: int = 375
    """Each passage is cut to its first so many tokens of the model before it is rendered."""


def load(name_or_path: str | Path) -> Template:
    """A template by name, or from a file of the user's.

    Args:
        name_or_path: one of `TEMPLATES`, or the path of a UTF-8 text file with `{question}` and `{contexts}`. A file is
            taken as it is, but for the line break at its very end, and gets the settings of `vanilla`.

    Raises:
        UnknownName: if it is a name, without a dot or a slash, of no template.
        BadInput: if the file is absent or cannot be read, lacks a placeholder or has one that is not known.
    """
    if name_or_path in TEMPLATES:
        text = bundled(str(name_or_path))
        return Template(str(name_or_path), text, max_new_tokens=400 if name_or_path == "explanation" else 50)
    if isinstance(name_or_path, str) and not {".", "/"} & set(name_or_path):
        raise UnknownName("prompt template", name_or_path, TEMPLATES)
    path = Path(name_or_path)
    text = "\n".join(line for _, line in store.lines(path)).removeprefix("\ufeff")
    found = set(_PLACEHOLDER.findall(text))
    for unknown in sorted(found - set(PLACEHOLDERS)):
        raise BadInput(
            f"the template has an unknown placeholder {{{unknown}}}",
            where=str(path),
            do="use {question} and {contexts}; to have braces in the prompt, put a space inside them",
        )
    for missing in PLACEHOLDERS:
        if missing not in found:
            raise BadInput(
                f"the template lacks the placeholder {{{missing}}}",
                where=str(path),
                do="put {question} where the question goes and {contexts} where the passages go",
            )
    return Template(path.stem, text, max_new_tokens=50)


def render(template: Template, question: str, passages: Sequence[tuple[str | None, str]]) -> str:
    """Fill a template. What is put in is never searched for placeholders.

    Args:
        template: from `load`.
        question: the question.
        passages: title and text of each, in the order shown; a passage without a title is its text alone.

    Returns:
        The prompt; passages numbered `[1] title: text` from 1, a blank line between them, as published.

    Raises:
        BadInput: if there are no passages.
    """
    if not passages:
        raise BadInput("a prompt needs at least one passage", do="give the passages the question is asked about")
    shown = (f"{title}: {text}" if title is not None else text for title, text in passages)
    values = {"question": question, "contexts": "\n\n".join(f"[{i}] {passage}" for i, passage in enumerate(shown, 1))}
    return fill(template.text, values)


def bundled(name: str) -> str:
    """The text of a file of this folder, by its name without the ending."""
    return files(__name__).joinpath(f"{name}.txt").read_text(encoding="utf-8")


def fill(text: str, values: Mapping[str, str]) -> str:
    """Put the values in the places of `{name}`, all in one pass: what is put in is never searched for placeholders."""
    return _PLACEHOLDER.sub(lambda match: values[match[1]], text)


def fence_code(texts: Iterable[str], *, digits: int = 12) -> str:
    """A code for the marks around texts that a model is to judge: the beginning of their hash, as long as needed.

    It occurs in none of the texts, in either case, and who writes one of them cannot know it, for it depends on all.

    Args:
        texts: every text that is to stand between marks.
        digits: how many hexadecimal digits at least.
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
