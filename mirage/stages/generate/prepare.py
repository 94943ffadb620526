"""Prompts and answers of one system, independent of the model behind it.

A prompt shows a query's passages and, if the query ends a conversation, the turns before it, each truncated to the
tokens that its template allows. Templates that show ids show them in a seeded order; templates that number them keep
the order of the table, to which the numbers refer. A RAG service gets the query itself.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from mirage import schema
from mirage.errors import BadInput, UnknownName
from mirage.llm.completion import Messages, Reply
from mirage.llm.prompts import render
from mirage.llm.tokens import TokenEstimate
from mirage.schema import QueryKey
from mirage.stages.generate.settings import GenerateSettings
from mirage.stages.shown import ShownPassages, query_turns
from mirage.stats.rows import group, read_rows
from mirage.text.languages import name_of

SOUND = ("ok", "empty", "truncated", "refused")
"""Statuses of a service's reply; all others are retried."""

FirstKey = Callable[[str], str]
"""Maps the key of a repeated call to the key of the first one."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """The prompt of one query, or a question to a RAG service."""

    language: str
    """Code of the query's language."""
    query_id: str
    """The query."""
    text: str
    """Text of the prompt."""
    messages: Messages
    """The prompt as a conversation."""

    @property
    def key(self) -> QueryKey:
        """Language and id of the query."""
        return self.language, self.query_id


@dataclass(frozen=True)
class PreparedPrompts:
    """Prompts to send, and answers that need none."""

    chosen: tuple[QueryKey, ...]
    """All queries of the run."""
    to_ask: tuple[Prompt, ...]
    """Prompts without a valid reply."""
    unaskable: tuple[schema.Answer, ...]
    """Queries without a prompt, each a row with its reason."""
    before: Mapping[QueryKey, schema.Answer]
    """The system's existing answers."""

    @property
    def conversations(self) -> list[Messages]:
        """The prompts to send, as conversations."""
        return [prompt.messages for prompt in self.to_ask]

    @property
    def any_valid(self) -> bool:
        """True if the system has a valid answer that is not asked for again."""
        asked = {prompt.key for prompt in self.to_ask}
        return any(answer.status in SOUND for key, answer in self.before.items() if key not in asked)


def prepare(
    queries: pa.Table,
    passages: pa.Table | None,
    settings: GenerateSettings,
    *,
    answers: pa.Table | None = None,
    turns: pa.Table | None = None,
    first_key: FirstKey = lambda key: key,
) -> PreparedPrompts:
    """Build the prompts and separate what need not be sent.

    Args:
        queries: `schema.Query` rows.
        passages: `schema.Passage` rows, of the retriever in the settings if there is one; a RAG service needs none.
        settings: system, template, model and queries.
        answers: `schema.Answer` rows. Valid answers of this system to the same prompts are kept; failed answers are
            retried.
        turns: `schema.Turn` rows; None if no query has any.
        first_key: maps the key of a repeated call to the key of the first one.

    Raises:
        UnknownName: if a language has no queries.
        BadInput: if the system has answers to other prompts, by another model or other parameters.
    """
    before = {(answer.language, answer.query_id): answer for answer in _rows(answers, settings.system)}
    prompt_of = _Prompts(passages, settings, turns)
    chosen: list[QueryKey] = []
    prompts: list[Prompt] = []
    unaskable: list[schema.Answer] = []
    for language, query_id, query, reason in choose_queries(queries, passages, settings):
        key = language, query_id
        chosen.append(key)
        old = before.get(key)
        needs_call = old is None or old.status not in SOUND or settings.replace
        try:
            if not query:
                raise _UnaskableError(f"the query has no text: {reason}")
            text = prompt_of(key, query)
        except _UnaskableError as error:
            if needs_call:
                unaskable.append(answer_of(key, settings, None, str(error)))
            continue
        messages = settings.conversation(*key, text)
        if old is None or needs_call:
            prompts.append(Prompt(*key, text, messages))
        elif not _same_call(old.call, settings.model.keys(messages)[0], first_key):
            raise _made_differently(old, settings)
    return PreparedPrompts(tuple(chosen), tuple(prompts), tuple(unaskable), before)


def answer_of(key: QueryKey, settings: GenerateSettings, reply: Reply | None, reason: str | None) -> schema.Answer:
    """Return the row of a reply, or of a query without a prompt; `numbered` is null without a template."""
    template = settings.template
    return schema.Answer(
        *key,
        settings.system,
        text=reply.text if reply else None,
        status=reply.status if reply else "missing",
        template=template.name if template else None,
        reason=reason,
        call=reply.key if reply else None,
        numbered=not template.by_id if template and reply else None,
        retriever=settings.own_retriever,
        depth=settings.depth,
        thoughts=reply.reasoning if reply else None,
    )


def _made_differently(before: schema.Answer, settings: GenerateSettings) -> BadInput:
    """Return the error for an existing answer to another prompt, or by another model or other parameters."""
    template = settings.template and settings.template.name
    difference = (
        f"template {before.template}" if before.template != template else "another prompt, parameter or service"
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


class _Prompts:
    """The prompts of queries, with ordered passages, and passages and turns truncated."""

    def __init__(self, passages: pa.Table | None, settings: GenerateSettings, turns: pa.Table | None) -> None:
        if passages is not None and settings.relevant_only:
            passages = passages.filter(passages["relevant"])
        self._settings, self._tokens = settings, settings.tokens or TokenEstimate()
        self._shown = ShownPassages(passages, None, columns=("passage_id", "title", "text"))
        self._turns = query_turns(turns)

    def __call__(self, key: QueryKey, query: str) -> str:
        """Return the prompt of a query; for a RAG service the query itself.

        Raises:
            _UnaskableError: if there are no passages, one has no text, or there is no room for them.
        """
        template, tokens = self._settings.template, self._tokens
        if template is None:
            return query
        by_id = {passage_id: of for passage_id, *of in self._shown.of(key, None, None)}
        if not by_id:
            retriever = self._settings.retriever
            raise _UnaskableError(
                f"{retriever} returned no passage" if retriever else "no passage is stored with the query"
            )
        order, turns = list(by_id), self._turns.get(key, [])
        if template.by_id:
            order = shuffle(by_id, seed=self._settings.seed, language=key[0], query_id=key[1])
        texts = [text for _, text in turns]
        for passage_id in order:
            title, text = by_id[passage_id]
            if text is None:
                raise _UnaskableError(f"the text of passage {passage_id} is not stored")
            texts.append(text if title is None else f"{title}: {text}")
        counts = [tokens.count(text) for text in texts]

        def render_within(limit: int) -> str:
            cut = [tokens.cut(text, limit) if n > limit else text for text, n in zip(texts, counts, strict=True)]
            passages: list[tuple[str | None, str]] = [(None, text) for text in cut[len(turns) :]]
            said = [(speaker, text) for (speaker, _), text in zip(turns, cut, strict=False)]
            return render(template, query, passages, ids=order, language=name_of(key[0]), turns=said)

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


def choose_queries(queries: pa.Table, passages: pa.Table | None, settings: GenerateSettings) -> list[tuple[Any, ...]]:
    """Return language, id, text and reason of the queries to send, sorted by key.

    Raises:
        UnknownName: if a language has no queries.
    """
    rows = list(read_rows(schema.sort("queries", queries), "language", "query_id", "text", "reason"))
    if settings.relevant_only and passages is not None:
        with_relevant = set(read_rows(passages.filter(passages["relevant"]), "language", "query_id"))
        rows = [row for row in rows if row[:2] in with_relevant]
    if settings.queries is not None:
        rows = [row for row in rows if row[:2] in settings.queries]
    by_language = group((row[0], row) for row in rows)
    for code in settings.languages or ():
        if code not in by_language:
            raise UnknownName("language", code, by_language, where="queries")
    chosen = by_language if settings.languages is None else settings.languages
    return [row for code, own in by_language.items() if code in chosen for row in own[: settings.limit]]


def _rows(answers: pa.Table | None, system: str) -> list[schema.Answer]:
    """Return the answers of one system."""
    if answers is None:
        return []
    return [schema.Answer(**row) for row in answers.filter(pc.equal(answers["system"], system)).to_pylist()]
