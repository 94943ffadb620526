"""Separation of a reasoning model's thoughts from its text.

Imports, generated answers and the replies of judges and graders all use `part_thoughts`, so that a draft is never read,
measured, shown or judged as the answer. Supported forms:

- tags: `<think>`, `<thinking>`, `<thought>`, `<reasoning>`, `<reflection>`, `<scratchpad>`, `<seed:think>` and similar
  (any case, with attributes, escaped as `&lt;think&gt;`), `[THINK]` (Mistral), `◁think▷` (Kimi);
- special tokens: `<|begin_of_thought|>`, `<|START_THINKING|>` (Cohere), `<|inner_prefix|>` (Apertus),
  `<|channel>thought` (Gemma), `<unused94>thought` (MedGemma);
- channels (gpt-oss): `<|channel|>analysis<|message|>`; the text is the content of channel `final`;
- headings: `Here is my thought process:` before `Here is my response:` (Granite).

Text after the end of a model's turn is not part of the answer either (`mirage.text.turns`).

Any closing mark closes any opening mark, since models mix them. A closing mark alone means that the text began in
thought, since chat templates put the opening mark into the prompt. A mark in code, in quotation marks or within a
sentence ("the tag <think> opens ...") is part of the text.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from mirage.text.segmentation import Span
from mirage.text.turns import HINT, MARK, turn_spans

_TAG = (
    r"(?:[\w-]{1,20}:)?(?:think(?:ing)?|thoughts?|reasoning|reflection|scratchpad|antthinking|inner_?monologue"
    r"|longcat_think)"
)
_WORD = r"(?:thoughts?|think(?:ing)?|reasoning)"
_OPEN = (
    rf"(?:<|&lt;)\s*{_TAG}(?:\s[^<>\n]{{0,200}}?)?(?<!/)(?:>|&gt;)|◁\s*{_TAG}\s*▷|\[{_WORD}\]"
    rf"|<\|\s*(?:begin_of_|begin_|start_of_|start_)?{_WORD}\s*\|>|<\|inner_prefix\|>"
    r"|(?:<\|channel>|<unused94>)thought"
)
_CLOSE = (
    rf"(?:<|&lt;)\s*/\s*{_TAG}\s*(?:>|&gt;)|◁\s*/\s*{_TAG}\s*▷|\[/{_WORD}\]"
    rf"|<\|\s*(?:/|end_of_|end_){_WORD}\s*\|>|<\|inner_suffix\|>|<channel\|>|<unused95>"
)
_MARK = re.compile(rf"(?P<open>{_OPEN})|(?P<close>{_CLOSE})", re.IGNORECASE)
_HEADER = re.compile(
    r"(?:<\|start\|>[^<>]{0,100})?<\|channel\|>\s*(?P<channel>\w+)[^<>]{0,200}(?:<\|constrain\|>[^<>]{0,100})?<\|message\|>"
)
_BODY_END = re.compile(r"<\|(?:end|return|call|start|channel)\|>")
_BARE_ROLE = r"assistant(?:[ \t]*\n\s*)?"
_BARE_CHANNELS = re.compile(
    rf"\s*(?:{_BARE_ROLE}(?:analysis|commentary)|(?:analysis|commentary)(?=\S)|(?={_BARE_ROLE}final))"
    rf"(?P<thoughts>.*?){_BARE_ROLE}final(?P<text>.*)\Z",
    re.DOTALL,
)
"""Channels whose special tokens were dropped by a tokenizer: `analysisWe need ...assistantfinalThe bridge ...`, also
with the role before the first: `assistantanalysis`.
"""
_BARE_THOUGHT = re.compile(r"\s*assistant(?:analysis|commentary)(?=\S)")
"""The beginning of such a text."""
_HEADINGS = re.compile(
    r"[\s#*_]*here(?:['’]s| is) my thought process[\s:*_]*(?P<thoughts>.*?)"
    r"\n[\s#*_]*here(?:['’]s| is) my response(?:[:*_]|\s)*(?P<text>.*)\Z",
    re.DOTALL | re.IGNORECASE,
)
_WRAPPER = re.compile(
    r"\s*(?:<(?P<tag>answer|response|output|solution|final|final_answer)>"
    r"|<\|(?:begin_of_|start_of_|start_)(?P<token>solution|response|answer)\|>)",
    re.IGNORECASE,
)
_HINT = re.compile(
    r"[<◁]|&lt;|\[/?th|\[/?reas|\[(?:/?inst|eos|sys|gm|\|)|thought process|assistant\s*(?:final|analysis|commentary)",
    re.IGNORECASE,
)
_CITED = re.compile(
    r"""```.*?```|`[^`\n]*`|"[^"\n]*"|“[^”\n]*”|„[^“”\n]*[“”]|«[^»\n]*»|「[^」\n]*」|『[^』\n]*』""", re.DOTALL
)
"""Code and quotations within a line."""
_QUOTES = tuple("'‘(（"), tuple("'’)）")
_ROLE = re.compile(r"(?:\s|<\|[^|<>]{1,30}\|>|<s>|#+|assistant\b:?)*", re.IGNORECASE)
"""Headers of a chat template left before the reply."""
_SENTENCE_END = re.compile(r"[.!?…。！？।۔؟:：]\s*\Z")


@dataclass(frozen=True, slots=True)
class PartedText:
    """A text separated from its thoughts."""

    whole: str
    """The model's raw output."""
    text: str
    """The text without thoughts; unchanged if there are none."""
    thoughts: str | None
    """The thoughts, without their marks; null if there are none."""
    closed: bool
    """Whether the thoughts end; if not, nothing after them is text."""
    removed: tuple[Span, ...]
    """Spans of the output that are not in the text: thoughts, and marks around the answer."""

    @property
    def masked(self) -> str:
        """The output with spaces in place of removed spans, so that positions stay the same."""
        masked = list(self.whole)
        for start, end in self.removed:
            masked[start:end] = ("\n" if character == "\n" else " " for character in self.whole[start:end])
        return "".join(masked)

    @property
    def further(self) -> str | None:
        """Text after the end of the turn, with its mark; null if there is only the mark."""
        start, end = self.removed[-1] if self.removed else (0, 0)
        tail = self.whole[start:end] if end == len(self.whole) and self.closed else ""
        return tail.strip() if MARK.match(tail) and MARK.sub("", tail).strip() else None

    @property
    def gap(self) -> str | None:
        """Why the text is missing or incomplete; null if it is complete."""
        if not self.removed or (self.closed and self.text):
            return None
        if not self.closed:
            return "the text ends within the model's thoughts"
        return f"the text has only {'the thoughts of the model' if self.thoughts else 'marks and turns of others'}"


def part_thoughts(text: str, shown_texts: Iterable[str] = ()) -> PartedText:
    """Separate a model's thoughts from its text, by the rules in the module docstring.

    Args:
        text: the model's output.
        shown_texts: texts in its prompt that it may quote. If one has a closing mark, a closing mark without an
            opening one may be a quotation, and ends no thought.
    """
    if not _HINT.search(text):
        return PartedText(text, text, None, closed=True, removed=())
    thoughts, closed = _match_channels(text) or _match_headings(text) or _match_marks(text, shown_texts)
    removed = [span for span, _ in thoughts]
    removed += _wrapper(text, removed)
    removed = _with_turns(text, sorted(removed))
    if not removed:
        return PartedText(text, text, None, closed=True, removed=())
    # Channel tokens are not part of a thought.
    inner = "\n\n".join(
        thought
        for _, inside in thoughts
        if (thought := _BODY_END.sub("", _HEADER.sub("\n", text[slice(*inside)])).strip())
    )
    return PartedText(text, _remove_spans(text, removed), inner or None, closed, tuple(removed))


def _with_turns(text: str, removed: list[Span]) -> list[Span]:
    """Return sorted removed spans with those outside the model's turn."""
    if not HINT.search(text):
        return removed
    start = removed[0][1] if removed and not text[: removed[0][0]].strip() else 0
    turns = turn_spans(text, start, sorted([*removed, *(match.span() for match in _CITED.finditer(text, start))]))
    ending = turns[-1][0] if turns and turns[-1][1] == len(text) else len(text)
    return sorted([*turns, *((first, last) for first, last in removed if first < ending)])


_Thoughts = list[tuple[Span, Span]]
"""Spans of thoughts, with and without their marks."""


def _match_channels(text: str) -> tuple[_Thoughts, bool] | None:
    """Return the thoughts of a text in channels, and whether channel `final` follows; None for other texts."""
    cited = [match.span() for match in _CITED.finditer(text)]
    headers = [match for match in _HEADER.finditer(text) if not _is_within(match.span(), cited)]
    if not headers:
        return None
    thoughts, position, final = [], 0, False
    for header in headers:
        if header["channel"].lower() != "final":
            continue
        final = True
        before = header.start()
        thoughts.append(((position, header.end()), (position, before)))
        end = _BODY_END.search(text, header.end())
        position = end.start() if end else len(text)
    thoughts.append(((position, len(text)), (position, len(text))))
    return [(span, inside) for span, inside in thoughts if span[0] < span[1]], final


def _match_headings(text: str) -> tuple[_Thoughts, bool] | None:
    """Return the thoughts of a text with headings or bare channels; None for other texts."""
    if match := _BARE_CHANNELS.match(text) or _HEADINGS.match(text):
        return [((0, match.start("text")), match.span("thoughts"))], True
    begun = _BARE_THOUGHT.match(text)
    return begun and ([((0, len(text)), (begun.end(), len(text)))], False)


def _match_marks(text: str, shown_texts: Iterable[str]) -> tuple[_Thoughts, bool]:
    """Return the thoughts between marks, and whether the last of them ends."""
    cited = [match.span() for match in _CITED.finditer(text)]
    marks = list(_MARK.finditer(text))
    bare = [mark for mark in marks if not _is_within(mark.span(), cited) and not _is_quoted(text, mark)]
    thoughts: _Thoughts = []
    position = 0
    mention = -1
    while mark := next((mark for mark in bare if mark.start() >= position), None):
        position = mark.end()
        if mark["open"]:
            closing = next((close for close in bare if close["close"] and close.start() >= mark.end()), None)
            # An unclosed code fence or quotation in a thought would hide its end.
            closing = closing or next(
                (close for close in marks if close["close"] and close.start() >= mark.end()), None
            )
            start = 0 if _ROLE.fullmatch(text, 0, mark.start()) else mark.start()
            if not _opens_thought(text, mark, closing, thoughts):
                mention = _line(text, mark)[1]
            elif closing is None:
                return [*thoughts, ((start, len(text)), (mark.end(), len(text)))], False
            else:
                thoughts.append(((start, closing.end()), (mark.end(), closing.start())))
                position = closing.end()
        elif mark.end() > mention and _ends_thought(text, mark) and not _closes_any(shown_texts):
            if text[mark.end() :].strip() or not thoughts:
                thoughts = [((0, mark.end()), (0, mark.start()))]
            else:
                thoughts.append((mark.span(), (mark.start(), mark.start())))
    return thoughts, True


def _opens_thought(text: str, mark: re.Match[str], closing: re.Match[str] | None, thoughts: _Thoughts) -> bool:
    """Return whether an opening mark starts a thought, instead of being part of the text."""
    last = thoughts[-1][0][1] if thoughts else 0
    start, end = _line(text, mark)
    if _ROLE.fullmatch(text, last, mark.start()):
        return True
    if not text[max(start, last) : mark.start()].strip():
        return closing is not None or bool(thoughts) or not text[mark.end() : end].strip()
    if closing is None:
        return False
    inside = text[mark.end() : closing.start()].strip()
    sentences = "\n" in inside or bool(_SENTENCE_END.search(inside))
    return bool(thoughts) or (sentences and bool(_SENTENCE_END.search(text[start : mark.start()])))


def _ends_thought(text: str, mark: re.Match[str]) -> bool:
    """Return whether a closing mark without an opening one ends a thought, instead of being part of the text."""
    start, end = _line(text, mark)
    before, after = text[start : mark.start()], text[mark.end() : end]
    if not before.strip() or not after.strip():
        return True
    return not before[-1].isspace() or after[0].isalnum() or bool(_SENTENCE_END.search(before))


def _closes_any(texts: Iterable[str]) -> bool:
    return any(mark["close"] for text in texts for mark in _MARK.finditer(text))


def _line(text: str, mark: re.Match[str]) -> Span:
    end = text.find("\n", mark.end())
    return text.rfind("\n", 0, mark.start()) + 1, len(text) if end < 0 else end


def _is_quoted(text: str, mark: re.Match[str]) -> bool:
    return text[: mark.start()].endswith(_QUOTES[0]) and text.startswith(_QUOTES[1], mark.end())


def _is_within(span: Span, others: list[Span]) -> bool:
    return any(start < span[0] and span[1] < end for start, end in others)


def _wrapper(text: str, removed: list[Span]) -> list[Span]:
    """Return the marks around the answer: `<answer>` after thoughts, `<|begin_of_solution|>` anywhere."""
    start = removed[0][1] if removed and not text[: removed[0][0]].strip() else 0
    opening = _WRAPPER.match(text, start)
    if opening is None or (opening["tag"] and not removed):
        return []
    name = rf"</{opening['tag']}>" if opening["tag"] else rf"<\|end_(?:of_)?{opening['token']}\|>"
    closing = re.compile(name, re.IGNORECASE).search(text, opening.end())
    return [opening.span(), *([closing.span()] if closing else [])]


def _remove_spans(text: str, removed: list[Span]) -> str:
    """Return the text without some spans, keeping words apart."""
    pieces: list[str] = []
    position = 0
    for start, end in [*removed, (len(text), len(text))]:
        piece = text[position:start]
        if pieces:
            piece = piece.lstrip(" ") if pieces[-1][-1].isspace() else piece
            piece = piece if not piece or pieces[-1][-1].isspace() or piece[0].isspace() else f" {piece}"
        if piece:
            pieces.append(piece)
        position = max(position, end)
    return "".join(pieces).strip()


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """Columns of an answer that depend on its thoughts (`schema.Answer`)."""

    text: str | None
    status: str | None
    reason: str | None
    thoughts: str | None


_WHOLE = (None, "ok", "empty", "truncated")
"""Statuses that an answer without a text cannot keep."""


def store_answer(
    text: str | None, status: str | None = None, reason: str | None = None, thoughts: str | None = None
) -> StoredAnswer:
    """Separate an answer's thoughts from its text, for storing.

    Args:
        text: the answer from its source.
        status: status from the source; null if it gives none.
        reason: reason from the source why the answer is not valid.
        thoughts: thoughts that the source already separates.
    """
    parted = part_thoughts(text) if text else None
    if parted is None or not parted.removed:
        return StoredAnswer(text, status, reason, thoughts)
    thoughts = "\n\n".join(filter(None, (thoughts, parted.thoughts, parted.further))) or None
    if parted.gap is not None and status in _WHOLE:
        status, reason = "truncated" if parted.text else "empty", reason or parted.gap
    return StoredAnswer(parted.text, status, reason, thoughts)
