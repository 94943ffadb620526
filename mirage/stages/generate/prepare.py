"""Prompts and answers of one system, independent of the model behind it.

A prompt shows a query's passages and, if the query ends a conversation, the turns before it, each truncated to the
tokens that its template allows. Templates that show ids show them in a seeded order; templates that number them keep
the order of the table, to which the numbers refer. The function that makes the calls is an argument, so the stage runs
on a service, on a local model, or on a fake in tests.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mirage import llm, schema
from mirage.errors import BadInput, UnknownName
from mirage.llm.prompts import Template, render
from mirage.stages.generate.settings import GenerateSettings
from mirage.text.languages import name_of

if TYPE_CHECKING:
    import pyarrow as pa

SOUND = ("ok", "empty", "truncated", "refused")
"""Statuses of a service's reply; all others are retried."""

FirstKey = Callable[[str], str]
"""Maps the key of a repeated call to the key of the first one."""
Complete = Callable[..., Sequence[llm.Reply | None]]
"""`complete(conversations, accepted=...)`: one reply per conversation, None if not sent."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """The prompt of one query."""

    language: str
    """Code of the query's language."""
    query_id: str
    """The query."""
    text: str
    """Text of the prompt."""

    @property
    def messages(self) -> llm.Messages:
        """The prompt as a conversation."""
        return [{"role": "user", "content": self.text}]


@dataclass(frozen=True)
class PreparedPrompts:
    """Prompts to send, and answers that need none."""

    to_ask: tuple[Prompt, ...]
    """Prompts without a valid reply."""
    kept: tuple[schema.Answer, ...]
    """Answers to keep: to the same prompts, or to queries outside the request."""
    unaskable: tuple[schema.Answer, ...]
    """Queries without a prompt, each a row with its reason."""
    replaced: Mapping[tuple[str, str], schema.Answer]
    """Existing answers to the prompts to send, by language and query; kept if no reply arrives."""

    @property
    def conversations(self) -> list[llm.Messages]:
        """The prompts to send, as conversations."""
        return [prompt.messages for prompt in self.to_ask]


def generate(
    queries: pa.Table,
    passages: pa.Table,
    settings: GenerateSettings,
    *,
    complete: Complete,
    answers: pa.Table | None = None,
    turns: pa.Table | None = None,
    first_key: FirstKey = lambda key: key,
) -> pa.Table:
    """Generate one system's answers to queries.

    Args:
        queries: `schema.Query` rows.
        passages: `schema.Passage` rows, of the retriever in the settings if there is one.
        settings: system, template, model and queries.
        complete: makes the calls, with these settings.
        answers: `schema.Answer` rows. Valid answers of this system to the same prompts are kept; failed answers are
            retried.
        turns: `schema.Turn` rows; None if no query has any.
        first_key: maps the key of a repeated call to the key of the first one.

    Returns:
        `schema.Answer` rows of this system: a valid reply, or a row with the reason why there is none. Queries not sent
        (`complete` returned None) have no row.

    Raises:
        UnknownName: if a language has no queries.
        BadInput: if the system has answers to other prompts, by another model or other parameters.
    """
    prepared = prepare(queries, passages, settings, answers=answers, turns=turns, first_key=first_key)
    # A stored reply to such a prompt shows that the service accepts it.
    replies = complete(prepared.conversations, accepted=any(answer.status in SOUND for answer in prepared.kept))
    new_answers = [
        schema.Answer(
            prompt.language,
            prompt.query_id,
            settings.system,
            text=reply.text,
            status=reply.status,
            template=settings.template.name,
            reason=reply.reason,
            call=reply.key,
            numbered=not settings.template.by_id,
            retriever=settings.retriever,
            depth=settings.depth,
            thoughts=reply.reasoning,
        )
        if reply is not None
        else prepared.replaced.get((prompt.language, prompt.query_id))
        for prompt, reply in zip(prepared.to_ask, replies, strict=True)
    ]
    rows = [*prepared.kept, *prepared.unaskable, *(row for row in new_answers if row is not None)]
    return schema.sort("answers", schema.from_rows("answers", rows))


def prepare(
    queries: pa.Table,
    passages: pa.Table,
    settings: GenerateSettings,
    *,
    answers: pa.Table | None = None,
    turns: pa.Table | None = None,
    first_key: FirstKey = lambda key: key,
) -> PreparedPrompts:
    """Build the prompts and separate what need not be sent; the arguments are those of `generate`.

    Raises:
        UnknownName: if a language has no queries.
        BadInput: if the system has answers to other prompts, by another model or other parameters.
    """
    tokens = settings.tokens or llm.TokenEstimate()
    old = {(answer.language, answer.query_id): answer for answer in _rows(answers, settings.system)}
    shown = passages.filter(passages["relevant"]) if settings.relevant_only else passages
    by_query, conversations = _passages(shown), _turns(turns)
    prompts: list[Prompt] = []
    unaskable: list[schema.Answer] = []
    replaced: dict[tuple[str, str], schema.Answer] = {}
    for language, query_id, query, reason in choose_queries(queries, passages, settings):
        key = language, query_id
        before = old.get(key)
        needs_call = before is None or before.status not in SOUND or settings.replace
        try:
            if query is None:
                raise _UnaskableError(f"the query has no text: {reason}")
            if settings.retriever is not None and key not in by_query:
                raise _UnaskableError(f"{settings.retriever} returned no passage")
            parts = _PromptParts(query, by_query.get(key, []), conversations.get(key, []), *key)
            text = _prompt(settings.template, parts, settings.seed, tokens)
        except _UnaskableError as error:
            if needs_call:
                unaskable.append(_missing(key, settings, str(error)))
                old.pop(key, None)
            continue
        prompt = Prompt(language, query_id, text)
        if before is None or needs_call:
            prompts.append(prompt)
            if before is not None:
                replaced[key] = old.pop(key)
        elif not _same_call(before.call, llm.call_key(settings.model, prompt.messages), first_key):
            raise _made_differently(before, settings)
    return PreparedPrompts(tuple(prompts), tuple(old.values()), tuple(unaskable), replaced)


def _missing(key: tuple[str, str], settings: GenerateSettings, reason: str) -> schema.Answer:
    """Return the row of a query without a prompt."""
    return schema.Answer(
        *key,
        settings.system,
        text=None,
        status="missing",
        template=settings.template.name,
        reason=reason,
        call=None,
        retriever=settings.retriever,
        depth=settings.depth,
    )


def _made_differently(before: schema.Answer, settings: GenerateSettings) -> BadInput:
    """Return the error for an existing answer to another prompt, or by another model or other parameters."""
    difference = (
        f"template {before.template}"
        if before.template != settings.template.name
        else "another prompt, parameter or service"
    )
    return BadInput(
        f"{settings.system} has answers that were "
        + ("imported" if before.call is None else f"made in another way: {difference}"),
        where=f"language={before.language!r}, query_id={before.query_id!r}",
        do="use another name for --system, or replace its answers with --replace",
    )


def _same_call(call: str | None, key: str, first_key: FirstKey) -> bool:
    """Return whether a call has a key, or repeats the call that does."""
    return call is not None and key in (call, first_key(call))


class _UnaskableError(Exception):
    """A query that cannot be sent, with the reason."""


def shuffle(ids: Iterable[str], *, seed: int, language: str, query_id: str) -> list[str]:
    """Return passage ids in the seeded order of a query: by the hash of seed, query and id.

    The order depends on nothing else: not on the given order, other queries, the process or a library's version. A
    changed prompt would be sent and paid for again.
    """
    return sorted(
        ids, key=lambda passage_id: hashlib.sha256(f"{seed}\0{language}\0{query_id}\0{passage_id}".encode()).digest()
    )


@dataclass(frozen=True, slots=True)
class _PromptParts:
    """A query with the content of its prompt."""

    query: str
    passages: Sequence[tuple[str, str | None, str | None]]
    """Id, title and text of each."""
    turns: Sequence[tuple[str, str]]
    """Speaker and text of each."""
    language: str
    query_id: str


def _prompt(template: Template, parts: _PromptParts, seed: int, tokens: llm.Tokens) -> str:
    """Build the prompt of a query, with ordered passages, and passages and turns truncated.

    Raises:
        _UnaskableError: if there are no passages, one has no text, or there is no room for them.
    """
    if not parts.passages:
        raise _UnaskableError("no passage is stored with the query")
    by_id = {passage[0]: passage for passage in parts.passages}
    order = list(by_id)
    if template.by_id:
        order = shuffle(by_id, seed=seed, language=parts.language, query_id=parts.query_id)
    texts = [text for _, text in parts.turns]
    for passage_id in order:
        _, title, text = by_id[passage_id]
        if text is None:
            raise _UnaskableError(f"the text of passage {passage_id} is not stored")
        texts.append(text if title is None else f"{title}: {text}")
    counts = [tokens.count(text) for text in texts]

    def render_within(limit: int) -> str:
        cut = [tokens.cut(text, limit) if n > limit else text for text, n in zip(texts, counts, strict=True)]
        passages: list[tuple[str | None, str]] = [(None, text) for text in cut[len(parts.turns) :]]
        turns = [(speaker, text) for (speaker, _), text in zip(parts.turns, cut, strict=False)]
        return render(template, parts.query, passages, ids=order, language=name_of(parts.language), turns=turns)

    limit, max_prompt_tokens = template.max_passage_tokens, template.max_prompt_tokens
    prompt = render_within(limit)
    while max_prompt_tokens is not None and (over := tokens.count(prompt) - max_prompt_tokens) > 0:
        # Tokens may merge at boundaries, so the sum is approximate: reduce by at least one token each time.
        limit = min(_level(counts, sum(min(n, limit) for n in counts) - over), limit - 1)
        if limit < 1:
            raise _UnaskableError(f"the query leaves no room for passages within {max_prompt_tokens:,} tokens")
        prompt = render_within(limit)
    return prompt


def _level(counts: Sequence[int], room: int) -> int:
    """Return the largest common limit to which texts can be truncated to fit; shorter texts stay whole."""
    left = len(counts)
    for count in sorted(counts):
        if count * left > room:
            return max(room, 0) // left
        room -= count
        left -= 1
    return max(counts)


def choose_queries(
    queries: pa.Table, passages: pa.Table, settings: GenerateSettings
) -> list[tuple[str, str, str | None, str | None]]:
    """Return language, id, text and reason of the queries to send, sorted by key.

    Raises:
        UnknownName: if a language has no queries.
    """
    rows = schema.sort("queries", queries).to_pylist()
    if settings.relevant_only:
        columns = (passages[name].to_pylist() for name in ("language", "query_id", "relevant"))
        with_relevant = {
            (language, query_id) for language, query_id, relevant in zip(*columns, strict=True) if relevant
        }
        rows = [row for row in rows if (row["language"], row["query_id"]) in with_relevant]
    if settings.queries is not None:
        rows = [row for row in rows if (row["language"], row["query_id"]) in settings.queries]
    language_codes = {row["language"] for row in rows}
    for code in settings.languages or ():
        if code not in language_codes:
            raise UnknownName("language", code, language_codes, where="queries")
    selection = language_codes if settings.languages is None else set(settings.languages)
    counts = dict.fromkeys(selection, 0)
    rows_chosen = []
    for row in rows:
        code = row["language"]
        if code in selection and (settings.limit is None or counts[code] < settings.limit):
            counts[code] += 1
            rows_chosen.append((code, row["query_id"], row["text"], row["reason"]))
    return rows_chosen


def _passages(passages: pa.Table) -> dict[tuple[str, str], list[tuple[str, str | None, str | None]]]:
    """Return id, title and text of the passages of each query, by position."""
    columns = ("language", "query_id", "position", "passage_id", "title", "text")
    rows = zip(*(passages[name].to_pylist() for name in columns), strict=True)
    by_query: dict[tuple[str, str], list[tuple[str, str | None, str | None]]] = {}
    for language, query_id, _, *passage in sorted(rows, key=lambda row: row[:4]):
        by_query.setdefault((language, query_id), []).append((passage[0], passage[1], passage[2]))
    return by_query


def _turns(turns: pa.Table | None) -> dict[tuple[str, str], list[tuple[str, str]]]:
    """Return speaker and text of the turns before each query, in order."""
    by_query: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for row in schema.sort("turns", turns).to_pylist() if turns is not None else ():
        by_query.setdefault((row["language"], row["query_id"]), []).append((row["speaker"], row["text"]))
    return by_query


def _rows(answers: pa.Table | None, system: str) -> list[schema.Answer]:
    """Return the answers of one system."""
    import pyarrow.compute as pc

    if answers is None:
        return []
    rows: list[dict[str, Any]] = answers.filter(pc.equal(answers["system"], system)).to_pylist()
    return [schema.Answer(**row) for row in rows]
