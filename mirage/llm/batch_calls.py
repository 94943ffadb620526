"""Calls in batches at half price: the same replies as `complete`, within a day, and resumable after days.

Requests are recorded in the ledger's file (`mirage.store.open_batches`), submitted in parts, and collected when their
batch ends. A run collects what earlier runs submitted: nothing is submitted twice. Requests that a batch did not answer
(expired, cancelled, in error) are sent on their own afterwards, at the full price.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from mirage.errors import Unreachable
from mirage.llm import retry
from mirage.llm.batch import Batch
from mirage.llm.batch_protocol import ENQUEUED, MAX_FILE, MAX_RESULTS, BatchService, BatchState
from mirage.llm.calls import ChatModel, cost_of
from mirage.llm.client import change_parameter, complete, connect, redact_reply, rename_parameters
from mirage.llm.completion import Reply, failed_reply, prompt_tokens, read_completion
from mirage.llm.retry import ErrorBody, Unreadable
from mirage.store.ledger import BATCH_SHARE
from mirage.store.open_batches import OpenBatch, OpenBatches

_LOG = logging.getLogger(__name__)
_SLOWER = 1.5
"""Growth of the seconds between polls, which begin as the backoff does."""
_RESULT = Literal["answered", "changed", "alone"]
"""`changed`: to be submitted again with other parameters; `alone`: to be sent on its own."""


def complete_in_batches(batch: Batch, model: ChatModel) -> None:
    """Get the replies of a service to the open conversations of a batch, like `complete`, in its own batches.

    Args:
        batch: the conversations; the file of their ledger records the open batches.
        model: the model, with its service. Its rates only apply to requests that are sent on their own.

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
        if not batch.open:
            return
        run = _Run(batch, model, record)
        asyncio.run(run.run())
        alone = [key for key, name in record.find(batch.pending()).items() if name is None]
        if alone:
            _LOG.warning("Requests without a result in their batch, now sent one by one: %s.", f"{len(alone):,}")
            budget = model.limits.budget
            limits = replace(model.limits, budget=None if budget is None else max(0.0, budget - run.spent))
            with record.lock():
                run.settle_known(alone)
                complete(batch, replace(model, limits=limits), only=frozenset(alone))
                record.drop(ledger.have(alone))


@dataclass
class _Run:
    """Submission and collection of the open conversations of one `complete_in_batches`."""

    batch: Batch
    model: ChatModel
    record: OpenBatches
    spent: float = 0.0
    """Price of the replies collected."""
    changes: Mapping[str, str | None] = field(default_factory=dict)
    """New names of unsupported parameters; None for omitted parameters."""
    size: int = 0
    """Maximum requests per part."""
    full: bool = False
    """Whether the account's queue was full, so that one part is open at a time."""
    told: bool = False
    service: BatchService = field(init=False)

    def __post_init__(self) -> None:
        self.size = self.model.limits.batch_size

    def settle_known(self, keys: Iterable[str]) -> None:
        """Settle requests that another program has collected; it stores replies before it forgets the requests."""
        ledger = self.batch.ledger
        for key in sorted(ledger.have(keys)):
            self.batch.settle(Reply(key=key, attempts=0, **(ledger.get(key) or {})))

    async def run(self) -> None:
        """Submit pending parts, and collect until no part is open."""
        endpoint, limits = self.model.service(), self.model.limits
        async with (
            connect(endpoint, limits) as client,
            connect(endpoint, replace(limits, max_body=MAX_RESULTS)) as reader,
        ):
            self.service = BatchService((client, reader), endpoint, limits)
            await self._run()

    async def _run(self) -> None:
        clock = asyncio.get_running_loop().time
        limits = self.model.limits
        hours, began, poll = limits.batch_wait, clock(), limits.backoff
        while True:
            with self.record.lock():
                await self._submit()
            parts = self._parts()
            if not parts:
                return
            self._tell(parts)
            ended = False
            for part in parts:
                state = await self.service.state(str(part.batch))
                if state.ended:
                    await self._collect(part, state)
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
        self.settle_known(pending.keys() - found.keys())
        unsent = [key for key in self._affordable(found) if key not in found]
        for group in self._groups(unsent):
            requests = ((key, self.batch.request(key)) for key in group)
            claimed = self.record.claim(self.model.service().service, requests, self.changes)
            if claimed is not None:
                await self._submit_part(claimed)
            if self.full:
                return

    def _affordable(self, found: Collection[str]) -> list[str]:
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
            if group and (len(group) >= self.size or size + n > MAX_FILE):
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

    def _tell(self, parts: Sequence[OpenBatch]) -> None:
        """Report once what the run is waiting for."""
        if not self.told:
            _LOG.warning(
                "Requests at the service: %s, in batches: %s. Results come within a day; Ctrl-C stops waiting, and the"
                " same command collects them later.",
                f"{len(self.batch.pending()):,}",
                f"{len(parts):,}",
            )
        self.told = True

    async def _collect(self, part: OpenBatch, state: BatchState) -> None:
        """Store the results of an ended batch, and remove its part."""
        keys = set(self.record.keys(part.part))
        if state.status == "failed":
            self._fail(part, state, len(keys))
            return
        answered: set[str] = set()
        changed: set[str] = set()
        for file in state.results:
            async for result in self.service.results(file):
                key = result.get("custom_id")
                if not isinstance(key, str) or key not in keys or key in answered:
                    continue
                outcome = self._take(part, key, result)
                if outcome == "answered":
                    answered.add(key)
                elif outcome == "changed":
                    changed.add(key)
        self.record.end(part.part, keys - answered - changed)

    def _fail(self, part: OpenBatch, state: BatchState, n: int) -> None:
        """Forget a batch that the service rejected as a whole: nothing of it was paid for.

        Args:
            part: the part.
            state: its state.
            n: number of its requests.

        Raises:
            Unreachable: if the rejection has another reason than a full queue, or one request does not fit.
        """
        self.record.end(part.part)
        if state.code != ENQUEUED or (n == 1 and not self._parts()):
            raise Unreachable(
                f"the service rejected batch {part.batch}: {state.reason or state.code or 'no reason given'}",
                where=self.model.service().base_url,
                do="check the model's name, the options and whether the service offers batches for this model",
            )
        self.full, self.size = True, max(1, min(self.size, n) // 2)
        _LOG.warning("The account's queue is full (%s); a smaller batch follows.", state.reason)

    def _take(self, part: OpenBatch, key: str, result: Mapping[str, Any]) -> _RESULT:
        """Store the reply of one result, or decide what becomes of the request."""
        request = self.record.request(part.part, key)
        if request is None:
            # Another program has collected this batch; its replies are in the ledger.
            return "answered"
        response = result.get("response")
        response = response if isinstance(response, Mapping) else {}
        status, body = response.get("status_code"), response.get("body")
        if not isinstance(status, int):
            return "alone"
        if status == 200:
            try:
                reply = read_completion(
                    key,
                    json.dumps(body).encode(),
                    1,
                    messages=request["messages"],
                    max_tokens=request["max_tokens"],
                )
            except Unreadable:
                return "alone"
            if reply.status == "api_error":
                return "alone"
        else:
            verdict = retry.judge_failure(ErrorBody(status, body), request)
            if verdict.action == "adapt" and verdict.parameter not in {*part.changes, *part.changes.values()}:
                self.changes = change_parameter(self.changes, verdict.parameter) or self.changes
                return "changed"
            if verdict.action != "refused":
                return "alone"
            reply = failed_reply(key, verdict.reason, attempts=1, status="refused")
        self._store(replace(redact_reply(reply, self.model.service()), batched=True), request)
        return "answered"

    def _store(self, reply: Reply, request: Mapping[str, Any]) -> None:
        """Store a reply, and settle its conversations if this run has them."""
        self.batch.accepted = True
        self.spent += cost_of(reply, self.model.limits).money or 0.0
        if self.batch.waits_for(reply.key):
            self.batch.take(reply, request)
        else:
            self.batch.ledger.put(reply.key, request, reply.ledger_record())
