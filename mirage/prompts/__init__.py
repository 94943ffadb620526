"""The prompt texts, as files beside this one, and the user's own: each a template filled in one pass.

The four of NoMIRACL ask whether the contexts answer the query. `vanilla` is the one the published outputs were made
with; the others are the variations of the paper's prompt study on Mistral-7B (Table 3): `role` names a role and forbids
further output, `repeat` says the instruction and the query again after the contexts, `explanation` asks for steps
before the answer. Source: repository project-miracl/nomiracl, `nomiracl/prompts/template.py` (Apache-2.0), character
for character; generation settings: arXiv 2312.11361, section 4.3.

`rag` asks for an answer with its reasoning and citations, as the prompt of MIRAGE-Bench does (after ChatQA; arXiv
2410.13716), in words of our own.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path

from mirage import store
from mirage.errors import BadInput, UnknownName

TEMPLATES = ("vanilla", "role", "repeat", "explanation", "rag")
"""The templates that come with the program."""
PLACEHOLDERS = ("question", "contexts")
"""What a template must hold, in braces; each may stand more than once. `contexts_by_id` may stand for `contexts`: it
shows each passage with its id in place of a number, so that an answer can be checked by the ids it cites."""
MAX_PASSAGE_TOKENS = 800
"""Each passage of a RAG prompt is cut to its first so many tokens (MIRAGE-Bench, section 5), and so are the passages
that judges and graders see."""
_BY_ID, _LANGUAGE = "contexts_by_id", "language"
_BEFORE = "The question below ends a conversation. What was said before it, in order:"
"""Stands before the turns, where there are any."""
_HEADER = re.compile(r"---[ \t]*\n((?:[ \t]*(?:answered|abstained)[ \t]*:[ \t]*\S[^\n]*\n)+)---[ \t]*\n")
_PLACEHOLDER = re.compile(r"\{([A-Za-z_][A-Za-z_0-9]*)\}")


@dataclass(frozen=True, slots=True)
class Template:
    """A prompt text with its placeholders, and the settings an answer to it is generated with."""

    name: str
    """The name in `answers.template`: one of `TEMPLATES`, or the file's name without its ending."""
    text: str
    """The text, with `{question}` and `{contexts}` or `{contexts_by_id}`, and `{language}` for the English name of the
    query's language. Other braces are text."""
    max_new_tokens: int
    """Longest answer, in tokens of the model."""
    temperature: float = 0.1
    """Sampling temperature."""
    top_p: float | None = 0.95
    """Share of the probability mass that is sampled from; None for all of it, or what the model has by default."""
    max_passage_tokens: int = 375
    """Each passage is cut to its first so many tokens of the model before it is rendered."""
    answered_phrases: tuple[str, ...] = ()
    """Words by which the prompt has the model say that the passages answer; see `load_template`."""
    abstained_phrases: tuple[str, ...] = ()
    """Words by which it has the model say that they do not."""
    max_prompt_tokens: int | None = None
    """The passages are cut further, all to the same length, until the prompt has no more tokens; None for no limit."""

    @property
    def by_id(self) -> bool:
        """Whether passages show their ids; else they are numbered from 1."""
        return f"{{{_BY_ID}}}" in self.text


def load_template(name_or_path: str | Path) -> Template:
    """A template by name, or from a file of the user's.

    Args:
        name_or_path: one of `TEMPLATES`, or the path of a UTF-8 text file with the placeholders of `Template.text`. A
            file is taken as it is, but for the line break at its very end and a header: between two lines `---`,
            lines `answered: WORDS` and `abstained: WORDS` state how the model is told to say yes and no. It gets the
            settings of `vanilla`, or of `rag` if it shows ids.

    Raises:
        UnknownName: if it is a name, without a dot or a slash, of no template.
        BadInput: if the file is absent or cannot be read, lacks a placeholder or has one that is not known.
    """
    if name_or_path in TEMPLATES:
        return _template(str(name_or_path), bundled_text(str(name_or_path)))
    if isinstance(name_or_path, str) and not {".", "/"} & set(name_or_path):
        raise UnknownName("prompt template", name_or_path, TEMPLATES)
    path = Path(name_or_path)
    text = "\n".join(line for _, line in store.lines(path)).removeprefix("\ufeff")
    phrases: dict[str, list[str]] = {"answered": [], "abstained": []}
    if header := _HEADER.match(text):
        for line in header[1].splitlines():
            kind, _, words = line.partition(":")
            phrases[kind.strip()].append(words.strip())
        text = text[header.end() :]
    placeholders = set(_PLACEHOLDER.findall(text))
    for unknown in sorted(placeholders - {*PLACEHOLDERS, _BY_ID, _LANGUAGE}):
        raise BadInput(
            f"the template has an unknown placeholder {{{unknown}}}",
            where=str(path),
            do="use {question}, {contexts} or {contexts_by_id}, and {language}; "
            "to have braces in the prompt, put a space inside them",
        )
    for missing in PLACEHOLDERS:
        if missing not in placeholders and not (missing == "contexts" and _BY_ID in placeholders):
            raise BadInput(
                f"the template lacks the placeholder {{{missing}}}",
                where=str(path),
                do="put {question} where the query goes and {contexts} where the passages go",
            )
    if path.stem in TEMPLATES:
        raise BadInput(
            f"a template that comes with the program is named {path.stem} too", where=str(path), do="rename the file"
        )
    return replace(
        _template(path.stem, text),
        answered_phrases=tuple(phrases["answered"]),
        abstained_phrases=tuple(phrases["abstained"]),
    )


def _template(name: str, text: str) -> Template:
    """A template with the settings that its kind of answer needs."""
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
    """Fill a template. What is put in is never searched for placeholders.

    Args:
        template: from `load_template`.
        query: the query.
        passages: title and text of each, in the order shown; a passage without a title is its text alone.
        ids: the id of each, for a template that shows ids.
        language: English name of the query's language, for a template that names it.
        turns: speaker and text of each turn of the conversation that the query ends, in order.

    Returns:
        The prompt; passages `[1] title: text` numbered from 1, or with their ids, a blank line between them, as
        published. Turns stand above the template's text, since no template has a place for them; without turns the
        prompt is the template's text alone.

    Raises:
        BadInput: if there are no passages.
    """
    if not passages:
        raise BadInput("a prompt needs at least one passage", do="give the passages the query is asked about")
    labels = ids if template.by_id else range(1, len(passages) + 1)
    texts = (f"{title}: {text}" if title is not None else text for title, text in passages)
    contexts = "\n\n".join(f"[{label}] {passage}" for label, passage in zip(labels, texts, strict=True))
    prompt = fill(template.text, {"question": query, "contexts": contexts, _BY_ID: contexts, _LANGUAGE: language})
    return "\n\n".join([_BEFORE, *(f"{speaker}: {text}" for speaker, text in turns), prompt]) if turns else prompt


def bundled_text(name: str) -> str:
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
