"""Calls in batches at half price: the same replies as `complete`, within a day, and resumable after days.

Requests are recorded in the ledger's file (`mirage.store.open_batches`), submitted in parts by OpenAI's batch protocol,
and collected when their batch ends. A run collects what earlier runs submitted: nothing is submitted twice. Requests
that a batch did not answer (expired, cancelled, in error) are failed calls, which the next run makes again.
"""

from __future__ import annotations

import asyncio
import io
import json
import logging
import time
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

import numpy as np

from mirage.errors import Unreachable
from mirage.llm import retry
from mirage.llm.batch import Batch
from mirage.llm.calls import ChatModel, cost_of
from mirage.llm.client import change_parameter, connect, redact_reply, rename_parameters
from mirage.llm.completion import Reply, failed_reply, prompt_tokens, read_completion
from mirage.llm.retry import ErrorBody, Unreadable
from mirage.store.ledger import BATCH_SHARE
from mirage.store.open_batches import OpenBatch, OpenBatches

if TYPE_CHECKING:
    from openai import AsyncOpenAI
    from openai.types import Batch as ServiceBatch

_LOG = logging.getLogger(__name__)
_SLOWER = 1.5
"""Growth of the seconds between polls, which begin as the backoff does."""
_MAX_FILE = 200_000_000
"""Maximum bytes of a file of requests."""
_MAX_RESULTS = 1_000_000_000
"""Maximum bytes of a file of results, which is held in memory: 100,000 per request of a full batch."""
_ENDED = ("completed", "failed", "expired", "cancelled")
"""States of a batch that do not change."""
_ENQUEUED = "token_limit_exceeded"
"""Code of the error of a batch whose tokens do not fit the account's queue."""
_SETTLE = 3.0
"""Seconds until a created batch is listed at the latest."""
_SEARCHED = 500
"""Maximum number of the latest batches to search."""
_NO_BATCHES = "the service offers no batches: omit --batch"

T = TypeVar("T")


def complete_in_batches(batch: Batch, model: ChatModel) -> None:
    """Get the replies of a service to the open conversations of a batch, like `complete`, in its own batches.

    Args:
        batch: the conversations; the file of their ledger records the open batches.
        model: the model, with its service. Its rates do not apply.

    Raises:
        Unreachable: if the service rejects a batch or does not know it, or the longest wait is over. Replies received
            are in the ledger, and open batches stay recorded.
        ArenaError: if the ledger cannot be written.
    """
    ledger = batch.ledger
    with OpenBatches(ledger.path) as record:
        for part in record.parts():
            keys = record.keys(part.part)
            if len(ledger.have(keys)) == len(keys):
                record.end(part.part)
        if batch.open:
            asyncio.run(_Run(batch, model, record, model.limits.batch_size).run())


@dataclass
class _Run:
    """Submission and collection of the open conversations of one `complete_in_batches`."""

    batch: Batch
    model: ChatModel
    record: OpenBatches
    size: int
    """Maximum requests per part."""
    spent: float = 0.0
    """Price of the replies collected."""
    changes: Mapping[str, str | None] = field(default_factory=dict)
    """New names of unsupported parameters; None for omitted parameters."""
    full: bool = False
    """Whether the account's queue was full, so that one part is open at a time."""
    service: _Service = field(init=False)

    async def run(self) -> None:
        """Submit pending parts, and collect until no part is open."""
        endpoint, limits = self.model.service(), self.model.limits
        async with (
            connect(endpoint, limits) as client,
            connect(endpoint, replace(limits, max_body=_MAX_RESULTS)) as reader,
        ):
            self.service = _Service((client, reader), self.model)
            await self._run()

    async def _run(self) -> None:
        clock = asyncio.get_running_loop().time
        limits = self.model.limits
        hours, began, poll, told = limits.batch_wait, clock(), limits.backoff, False
        while True:
            with self.record.lock():
                await self._submit()
            parts = self._parts()
            if not parts:
                return
            if not told:
                told = True
                _LOG.warning(
                    "Requests at the service: %s, in batches: %s. Results come within a day; Ctrl-C stops waiting, and"
                    " the same command collects them later.",
                    f"{len(self.batch.pending()):,}",
                    f"{len(parts):,}",
                )
            ended = False
            for part in parts:
                made = await self.service.retrieve(str(part.batch))
                if made.status in _ENDED:
                    await self._collect(part, made)
                    ended = True
            if ended:
                poll = limits.backoff
                continue
            if hours is not None and clock() + poll - began > 3600 * hours:
                raise Unreachable(
                    f"requests still at the service: {len(self.batch.pending()):,}, in batches: {len(parts):,}",
                    where=self.model.service().base_url,
                    do="rerun the command later to collect them; nothing is submitted or paid for twice",
                )
            await asyncio.sleep(poll)
            poll = min(limits.longest_pause, _SLOWER * poll)

    def _parts(self) -> list[OpenBatch]:
        """Return the parts that hold pending requests."""
        names = set(self.record.find(self.batch.pending()).values())
        return [part for part in self.record.parts() if part.part in names]

    async def _submit(self) -> None:
        """Submit parts that an earlier run has recorded, and requests that no part holds."""
        parts = self._parts()
        for part in parts:
            if part.batch is None:
                await self._submit_part(part)
        if self.full and parts:
            return
        pending = self.batch.pending()
        found = self.record.find(pending)
        # Another program that collected some stored the replies before it forgot the requests.
        ledger = self.batch.ledger
        for key in sorted(ledger.have(pending.keys() - found.keys())):
            self.batch.settle(Reply(key=key, attempts=0, **(ledger.get(key) or {})))
        unsent = [key for key in self._affordable_requests(found) if key not in found]
        for group in self._groups(unsent):
            requests = ((key, self.batch.request(key)) for key in group)
            claimed = self.record.claim(self.model.service().service, requests, self.changes)
            if claimed is not None:
                await self._submit_part(claimed)
            if self.full:
                return

    def _affordable_requests(self, found: Collection[str]) -> list[str]:
        """Return the pending requests for which the budget suffices if every reply has its maximum length.

        Args:
            found: keys of requests that are submitted, for which their price is reserved.
        """
        limits, settings = self.model.limits, self.batch.settings
        if limits.budget is None:
            return list(self.batch.pending())
        left = limits.budget - self.spent
        affordable = []
        for key in sorted(self.batch.pending(), key=lambda key: key not in found):
            tokens = prompt_tokens(self.batch.conversations[self.batch.open[key]])
            left -= BATCH_SHARE * (limits.cost(tokens, settings.max_tokens) or 0.0)
            if left < 0 and key not in found:
                break
            affordable.append(key)
        return affordable

    def _groups(self, keys: Sequence[str]) -> Iterator[list[str]]:
        """Yield the requests of each part, within the limits of requests and bytes."""
        group: list[str] = []
        size = 0
        for key in keys:
            n = len(self._line(key, self.batch.request(key), self.changes))
            if group and (len(group) >= self.size or size + n > _MAX_FILE):
                yield group
                group, size = [], 0
            group.append(key)
            size += n
        if group:
            yield group

    def _line(self, key: str, request: Mapping[str, Any], changes: Mapping[str, str | None]) -> bytes:
        """Return the line of a request in the file of a part."""
        body = rename_parameters(self.batch.settings.body(request, self.model.service().limit), changes)
        return self.service.line(key, body)

    async def _submit_part(self, part: OpenBatch) -> None:
        """Submit a part; each step is recorded, so that an interrupted one is found again."""
        name, file = part.part, part.file
        if file is None:
            requests = ((key, self.record.request(name, key) or {}) for key in self.record.keys(name))
            content = b"".join(self._line(key, request, part.changes) for key, request in requests)
            file = await self.service.upload(f"mirage-{name}.jsonl", content)
            self.record.update(name, "file", file)
        if part.creating is None:
            self.record.update(name, "creating", time.time())
        self.record.update(name, "batch", await self.service.create(file, requested=part.creating is not None))

    async def _collect(self, part: OpenBatch, made: ServiceBatch) -> None:
        """Store the results of an ended batch, and remove its part."""
        left = set(self.record.keys(part.part))
        if made.status == "failed":
            self._fail(part, made, len(left))
            return
        for file in filter(None, (made.output_file_id, made.error_file_id)):
            for result in await self.service.results(file):
                key = str(result.get("custom_id"))
                if key in left:
                    left.remove(key)
                    self._settle_request(part, key, result)
        for key in left:
            self._settle_failed(key, f"the batch is {made.status}, without a result of this request")
        self.record.end(part.part)

    def _fail(self, part: OpenBatch, made: ServiceBatch, n: int) -> None:
        """Forget a batch that the service rejected as a whole: nothing of it was paid for.

        Args:
            part: the part.
            made: the batch.
            n: number of its requests.

        Raises:
            Unreachable: if the rejection has another reason than a full queue, or one request does not fit.
        """
        self.record.end(part.part)
        errors = getattr(made.errors, "data", None) or [None]
        code, reason = (str(getattr(errors[0], name, None) or "") for name in ("code", "message"))
        if code != _ENQUEUED or (n == 1 and not self._parts()):
            shown = " ".join(reason.split())[:300] or code or "no reason given"
            raise Unreachable(
                f"the service rejected batch {part.batch}: {shown}",
                where=self.model.service().base_url,
                do="check the model's name, the options and whether the service offers batches for this model",
            )
        self.full, self.size = True, max(1, min(self.size, n) // 2)
        _LOG.warning("The account's queue is full; a smaller batch follows.")

    def _settle_request(self, part: OpenBatch, key: str, result: Mapping[str, Any]) -> None:
        """Settle a request by its result; one with an unsupported parameter stays open, to be submitted without it."""
        request = self.record.request(part.part, key)
        if request is None:
            # Another program has collected this batch; its replies are in the ledger.
            return
        response = result.get("response")
        status, body = map(response.get, ("status_code", "body")) if isinstance(response, dict) else (None, None)
        try:
            if status != 200:
                raise ErrorBody(status if isinstance(status, int) else 200, body or result.get("error"))
            content, limit = json.dumps(body).encode(), request["max_tokens"]
            reply = read_completion(key, content, 1, messages=request["messages"], max_tokens=limit)
        except Unreadable as error:
            verdict = retry.judge_failure(error, request)
            if verdict.action == "adapt" and verdict.parameter not in {*part.changes, *part.changes.values()}:
                self.changes = change_parameter(self.changes, verdict.parameter) or self.changes
                return
            if verdict.action != "refused":
                self._settle_failed(key, verdict.reason)
                return
            reply = failed_reply(key, verdict.reason, attempts=1, status="refused")
        reply = replace(redact_reply(reply, self.model.service()), batched=True)
        self.spent += cost_of(reply, self.model.limits).money or 0.0
        if self.batch.waits_for(key):
            self.batch.take(reply, request)
        elif reply.status != "api_error":
            self.batch.ledger.put(key, request, reply.ledger_record())

    def _settle_failed(self, key: str, reason: str) -> None:
        """Settle a request that this run waits for as a failed call."""
        if self.batch.waits_for(key):
            self.batch.settle(failed_reply(key, reason, attempts=1))


class _Service:
    """A service that speaks OpenAI's batch protocol. Every call is retried after transient failures.

    Args:
        clients: an open client of the service, and one that reads responses of up to `_MAX_RESULTS`.
        model: the model with its service, retries and pauses.
    """

    def __init__(self, clients: tuple[AsyncOpenAI, AsyncOpenAI], model: ChatModel) -> None:
        self._client, self._reader = clients
        self._endpoint, self._limits, self._rng = model.service(), model.limits, np.random.default_rng()
        self._reached = False

    @property
    def url(self) -> str:
        """Path of the requests of a batch; Azure's has no version."""
        azure = (urlsplit(self._endpoint.base_url).hostname or "").endswith(".azure.com")
        return "/chat/completions" if azure else "/v1/chat/completions"

    def line(self, key: str, body: Mapping[str, Any]) -> bytes:
        """Return the line of a request in a file."""
        request = {"custom_id": key, "method": "POST", "url": self.url, "body": body}
        text = json.dumps(request, ensure_ascii=False, separators=(",", ":"))
        return text.encode("utf-8", "backslashreplace") + b"\n"

    async def upload(self, name: str, content: bytes) -> str:
        """Upload a file of requests; return the service's id of it."""

        async def call() -> str:
            return _id(await self._client.files.create(file=(name, content, "application/jsonl"), purpose="batch"))

        return await self._repeat(call, do=_NO_BATCHES)

    async def create(self, file: str, *, requested: bool) -> str:
        """Create the batch of an uploaded file; return the service's id of it.

        This is not idempotent: if it was requested before, perhaps too late to see its success, the service's batches
        are searched for the file first.

        Args:
            file: id of the file.
            requested: whether the creation may have been requested before.
        """
        endpoint: Any = self.url

        async def call() -> str:
            nonlocal requested
            if requested:
                await asyncio.sleep(min(_SETTLE, self._limits.longest_pause))
                if (found := await self._find(file)) is not None:
                    return found
            requested = True
            create = self._client.batches.create
            return _id(await create(completion_window="24h", endpoint=endpoint, input_file_id=file))

        return await self._repeat(call, do=_NO_BATCHES)

    async def retrieve(self, batch: str) -> ServiceBatch:
        """Return a batch with its state."""

        async def call() -> ServiceBatch:
            found = await self._client.batches.retrieve(batch)
            _id(found)
            return found

        return await self._repeat(
            call,
            do=f"batch {batch} belongs to another account or was deleted: use the key that submitted it, or ask again"
            " under another --service",
        )

    async def results(self, file: str) -> Iterator[dict[str, Any]]:
        """Read the records of a file of results; none if the service has deleted it, or if a line is too long or is no
        JSON object. Lines end at line feeds only: texts may have other line separators.
        """

        async def call() -> bytes:
            import openai

            try:
                return (await self._reader.files.content(file)).content
            except openai.NotFoundError:
                return b""

        content = await self._repeat(call, do="rerun the command; results received are cached")
        lines = (line for line in io.BytesIO(content) if len(line) <= self._limits.max_body)
        return filter(None, map(_record, lines))

    async def _find(self, file: str) -> str | None:
        """Return the id of the batch of a file; None if there is none."""

        async def call() -> str | None:
            n = 0
            async for made in self._client.batches.list(limit=100):
                n += 1
                if made.input_file_id == file:
                    return _id(made)
                if n >= _SEARCHED:
                    break
            return None

        return await self._repeat(call, do=f"the service does not list its batches: cancel the one of {file}, if any")

    async def _repeat(self, call: Callable[[], Awaitable[T]], *, do: str) -> T:
        """Make a call, with retries; `do` is the advice if the service rejects it.

        Raises:
            Unreachable: if the call fails permanently.
        """
        limits, attempt = self._limits, 0
        while True:
            attempt += 1
            try:
                made = await call()
                self._reached = True
                return made
            except Exception as error:  # `judge_failure` raises other errors again
                # The client passes on a body that is not JSON as a text, and lacks what a JSON object lacks.
                odd = isinstance(error, AttributeError | TypeError)
                verdict = retry.judge_failure(Unreadable("it is not of the batch protocol") if odd else error)
            self._reached |= not verdict.unreached
            again, wait = verdict.action == "again", verdict.wait or 0.0
            tries = limits.retries if self._reached else min(retry.KNOCKS - 1, limits.retries)
            if not again or attempt > tries or wait > limits.longest_pause:
                own = not self._reached or (verdict.action == "stop" and "HTTP 404" not in verdict.reason)
                advice = verdict.do if own else "rerun the command; nothing is sent twice" if again else do
                raise Unreachable(self._endpoint.redact(verdict.reason), where=self._endpoint.base_url, do=advice)
            pause = retry.pause(attempt, self._rng, base=limits.backoff, longest=limits.longest_pause)
            await asyncio.sleep(max(wait, pause))


def _id(made: Any) -> str:
    """Return the id of an object of the service.

    Raises:
        Unreadable: if there is none.
    """
    if not isinstance(made.id, str) or not made.id:
        raise Unreadable("it has no id")
    return made.id


def _record(line: bytes) -> dict[str, Any] | None:
    """Parse a line of a file of results; None if it is blank or not an object."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None
