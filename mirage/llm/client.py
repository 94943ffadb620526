"""Concurrent chat completions: workers, rate limits, bounded retries, a ledger, a budget."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mirage.errors import Unreachable
from mirage.llm import retry
from mirage.llm.batch import Batch
from mirage.llm.calls import ChatModel, Limits
from mirage.llm.completion import Messages, Reply, failed_reply, prompt_tokens
from mirage.llm.faults import LIMITS
from mirage.llm.guard import ACCEPT, guard
from mirage.llm.presets import Endpoint
from mirage.store.extras import extra

if TYPE_CHECKING:
    from openai import AsyncOpenAI

_LOG = logging.getLogger(__name__)
_UNFIT = 2
"""Number of invalid-request errors, before any success, that ends the run."""
_HOPELESS = 10
"""Number of consecutive failed calls after which no more are made."""


@dataclass
class Pace:
    """Spaces out requests so that a rate is never exceeded, not even in the first minute.

    A token bucket that starts full would allow twice the rate in its first minute, and could not pass a call larger
    than the bucket.
    """

    per_minute: float | None
    """The rate, in requests or tokens; None for no limit."""
    free: float = 0.0
    """Start of the next free slot, in seconds of the caller's clock."""

    def book(self, amount: float, now: float) -> float:
        """Book the next slot for a request of this size; return its start."""
        if self.per_minute is None:
            return now
        begins = max(now, self.free)
        self.free = begins + 60 * amount / self.per_minute
        return begins


class Gate:
    """Rates and budget of one run of calls.

    Args:
        limits: the rates and the budget.
        paces: paces of requests and of tokens that outlast the run; None for new ones.
    """

    def __init__(self, limits: Limits, paces: tuple[Pace, Pace] | None = None) -> None:
        self._budget = limits.budget
        self._requests, self._tokens = paces or (Pace(limits.requests_per_minute), Pace(limits.tokens_per_minute))
        self._spent = self._reserved = 0.0
        self._open = 0
        self._freed = asyncio.Event()

    def book(self, tokens: int) -> float:
        """Book the next slot for a request with this many tokens; return its start, by the running loop's clock."""
        now = asyncio.get_running_loop().time()
        return max(self._requests.book(1, now), self._tokens.book(tokens, now))

    async def reserve(self, most: float) -> bool:
        """Reserve budget for a call's maximum cost, waiting while others may release enough.

        Returns:
            Whether the call may be made.
        """
        while self._budget is not None and self._spent + self._reserved + most > self._budget:
            if not self._open:
                return False
            self._freed.clear()
            await self._freed.wait()
        self._reserved += most
        self._open += 1
        return True

    def settle(self, most: float, price: float) -> None:
        """Release a reservation and book the price."""
        self._open -= 1
        self._reserved -= most
        self._spent += price
        self._freed.set()


def complete(batch: Batch, model: ChatModel, *, gate: Gate | None = None) -> None:
    """Send the open conversations of a batch to a service.

    A call that fails permanently is a reply with status `api_error` and a reason. After ten consecutive failures the
    remaining calls are skipped and marked as such. Conversations not sent because the budget was reached stay pending.

    Args:
        batch: the conversations, with their ledger.
        model: the model, with its service.
        gate: rates and budget; None for those of the model's limits.

    Raises:
        Unreachable: if the service rejects every call (HTTP 401, 403, 404; 400 before any success), or asks for a
            longer pause than the limit, with advice. Replies received are in the ledger.
        ArenaError: if the ledger cannot be written.
    """
    limits = model.limits
    counted = limits.tokens_per_minute is not None or limits.cost(0, 0) is not None
    jobs = [
        _Job(key, number, prompt_tokens(batch.conversations[number]) if counted else 0)
        for key, number in batch.pending().items()
    ]
    if jobs:
        crew = _Crew(batch, model.service(), limits, jobs[::-1], gate or Gate(limits))
        if reason := asyncio.run(crew.run()):
            batch.settle_rest(f"not asked: {reason}")


@dataclass(frozen=True, slots=True)
class _Job:
    """One conversation to send."""

    key: str
    number: int
    """Number of the conversation."""
    tokens: int
    """Estimated prompt tokens; 0 if neither a rate nor a price needs them."""


@dataclass
class _Crew:
    """Shared state and workers of one `complete`."""

    batch: Batch
    endpoint: Endpoint
    limits: Limits
    jobs: list[_Job]
    """Pending jobs, the next one last."""
    gate: Gate
    """Rates and budget."""
    halt: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when everything stops."""
    end: Unreachable | str | None = None
    """The error that stops everything, or why no more calls are made after too many failures."""
    under_way: int = 0
    """Number of pending calls."""
    resume: float = -math.inf
    """Earliest time of the next call, by the loop's clock."""
    changes: Mapping[str, str | None] = field(default_factory=dict)
    """New names of unsupported parameters; None for omitted parameters."""
    longest: int = 0
    """Tokens of the longest reply so far."""
    unfit: int = 0
    reached: bool = False
    """Whether the service has been reached."""
    in_a_row: int = 0
    """Consecutive failed calls."""
    rng: np.random.Generator = field(default_factory=np.random.default_rng)
    """Source of jitter."""

    async def run(self) -> str | None:
        """Make all calls; return why no more were made, if too many failed."""
        async with connect(self.endpoint, self.limits) as self.client:
            await self._run()
        return self.end if isinstance(self.end, str) else None

    async def _run(self) -> None:
        workers = [asyncio.create_task(self._work()) for _ in range(min(self.limits.concurrency, len(self.jobs)))]
        all_work: asyncio.Future[Any] = asyncio.gather(*workers)
        halted: asyncio.Future[Any] = asyncio.create_task(self.halt.wait())
        interrupted: asyncio.CancelledError | None = None
        try:
            try:
                await asyncio.wait([all_work, halted], return_when=asyncio.FIRST_COMPLETED)
            except asyncio.CancelledError as error:
                # The first Ctrl-C (`asyncio.Runner`); a second one ends everything at once.
                interrupted = error
                self.halt.set()
                if self.under_way and self.limits.grace:
                    _LOG.warning(
                        "Stopping: %s pending calls get up to %g seconds to finish, since they are paid for. "
                        "Press Ctrl-C again to stop at once.",
                        f"{self.under_way:,}",
                        self.limits.grace,
                    )
            await asyncio.wait([all_work], timeout=self.limits.grace)
        finally:
            for task in (halted, *workers):
                task.cancel()
            ended = await asyncio.gather(all_work, *workers, return_exceptions=True)
        failed = [end for end in ended if isinstance(end, Exception)]
        if interrupted:
            raise interrupted
        if failed:
            raise failed[0]
        if isinstance(self.end, Unreachable):
            raise self.end

    async def _work(self) -> None:
        while begun := await self._next():
            job, reserved = begun
            messages = self.batch.conversations[job.number]
            request = self.batch.settings.request(messages, self.batch.again)
            reply = None
            try:
                reply = await self._call(job, messages, request)
            finally:
                self.under_way -= 1
                self.gate.settle(reserved, self._price(job, reply))
            if reply is not None:
                self.longest = max(self.longest, reply.tokens_out or 0)
                if reply.status != "api_error":
                    self.in_a_row = 0
                self.batch.take(reply, request)

    async def _next(self) -> tuple[_Job, float] | None:
        """Return the next job and its reserved money, once the budget allows it; None if nothing is left.

        A reply may be as long as its limit, or as the longest so far: some services do not count reasoning towards it.
        """
        if not self.jobs or self.halt.is_set():
            return None
        job = self.jobs.pop()
        self.under_way += 1
        longest = max(self.batch.settings.max_tokens, self.longest)
        most = self.limits.cost(job.tokens, longest) or 0.0
        if await self.gate.reserve(most):
            return job, most
        self.under_way -= 1
        self.jobs.append(job)
        self.halt.set()
        return None

    async def _call(self, job: _Job, messages: Messages, request: Mapping[str, Any]) -> Reply | None:
        """Send a request, with retries; return None if everything stops."""
        attempts = self.limits.retries + 1
        attempt = requests = 0
        while attempt < attempts:
            attempt, requests = attempt + 1, requests + 1
            await self._turn(job)
            if self.halt.is_set():
                return None
            changes = self.changes
            body = rename_parameters(self.batch.settings.body(request, self.endpoint.limit), changes)
            try:
                content, seconds = await self._post(body)
                reply = self.batch.settings.read(job.key, content, requests, messages)
                reply = replace(redact_reply(reply, self.endpoint), seconds=seconds)
                self.reached = True
                if reply.status == "api_error":
                    self._count_failure(reply.reason)
                return reply
            except Exception as error:  # `judge_failure` raises other errors again
                verdict = retry.judge_failure(error, body)
            reason = self.endpoint.redact(verdict.reason)
            self.reached |= not verdict.unreached
            if not self.reached and attempt >= min(retry.KNOCKS, attempts):
                self._stop(reason, verdict.do)
                return None
            if verdict.action == "adapt" and (self.changes is not changes or self._adapt(verdict.parameter)):
                attempt -= 1
                continue
            if verdict.action != "again":
                return self._end(job, verdict, reason, requests)
            if verdict.wait is not None:
                if verdict.wait > self.limits.longest_pause:
                    waits = f"{reason}; it asks to wait {verdict.wait:,.0f} seconds"
                    self._stop(waits, "rerun the command then; replies received are cached")
                    return None
                # All workers wait, since other requests would be rejected too.
                self.resume = max(self.resume, self._now() + verdict.wait)
            if attempt < attempts:
                base, longest = self.limits.backoff, self.limits.longest_pause
                await self._sleep(retry.pause(attempt, self.rng, base=base, longest=longest))
        reason += f" ({attempts} attempts)" if attempts > 1 else ""
        self._count_failure(reason)
        return failed_reply(job.key, reason, attempts=requests)

    def _end(self, job: _Job, verdict: retry.RetryDecision, reason: str, requests: int) -> Reply | None:
        """Return the reply of a call that is not retried; None if everything stops."""
        if verdict.action == "refused":
            return failed_reply(job.key, reason, attempts=requests, status="refused")
        self.unfit += verdict.action == "unfit"
        others = self.batch.accepted or (self.unfit < _UNFIT and (self.jobs or self.under_way > 1))
        if verdict.action == "row" or (verdict.action == "unfit" and others):
            return failed_reply(job.key, reason, attempts=requests)
        self._stop(reason, verdict.do)
        return None

    def _adapt(self, parameter: str) -> bool:
        """Omit or rename a parameter in all further requests.

        Returns:
            Whether that has not been tried yet.
        """
        changes = change_parameter(self.changes, parameter)
        if changes is None:
            return False
        self.changes = changes
        return True

    async def _turn(self, job: _Job) -> None:
        """Wait until the rates and the service allow a request."""
        # Jitter, so that waiting workers do not all resume at the same instant.
        jitter = float(self.rng.uniform(0, self.limits.backoff))
        begins = self.gate.book(job.tokens + self.batch.settings.max_tokens)
        while not self.halt.is_set() and (wait := max(begins, self.resume + jitter) - self._now()) > 0:
            await self._sleep(wait)

    async def _post(self, body: Mapping[str, Any]) -> tuple[bytes, float]:
        """Send one request; return the body of its response, and the seconds that it took."""
        import httpx

        began = self._now()
        async with asyncio.timeout(self.limits.timeout):
            # Raw response: the client's own models are slow and accept incomplete responses.
            answer = await self.client.post(self.batch.settings.path, cast_to=httpx.Response, body=body)
        return answer.content, round(self._now() - began, 3)

    def _count_failure(self, reason: str | None) -> None:
        """Count a failed call; too many in a row end the run."""
        self.in_a_row += 1
        if self.in_a_row >= _HOPELESS:
            self.end = self.end or f"{_HOPELESS} calls in a row failed, the last: {reason}"
            self.halt.set()

    def _stop(self, reason: str, do: str) -> None:
        if not isinstance(self.end, Unreachable):
            self.end = Unreachable(reason, where=self.endpoint.base_url, do=do)
        self.halt.set()

    def _price(self, job: _Job, reply: Reply | None) -> float:
        """Return the cost of a call; for a declined one, that of its prompt."""
        if reply is None or (reply.status == "api_error" and reply.tokens_in is None):
            return 0.0
        tokens_in = job.tokens if reply.tokens_in is None else reply.tokens_in
        return self.limits.cost(tokens_in, reply.tokens_out or 0) or 0.0

    async def _sleep(self, seconds: float) -> None:
        """Sleep until everything stops."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self.halt.wait(), seconds)

    def _now(self) -> float:
        return asyncio.get_running_loop().time()


def redact_reply(reply: Reply, endpoint: Endpoint) -> Reply:
    """Return a reply without the key in any field, in case the service repeats it."""
    return Reply(**endpoint.redact(asdict(reply)))


def change_parameter(changes: Mapping[str, str | None], parameter: str) -> dict[str, str | None] | None:
    """Return the changes with an unsupported parameter renamed or omitted; None if that has been tried."""
    if parameter in changes or parameter in changes.values():
        return None
    other = dict(zip(LIMITS, LIMITS[::-1], strict=True)).get(parameter)
    if other:
        _LOG.warning("The service does not support %s; requests use %s instead.", parameter, other)
    else:
        _LOG.warning("The service does not support %s; requests omit it, and the service's default applies.", parameter)
    return {**changes, parameter: other}


def rename_parameters(body: Mapping[str, Any], changes: Mapping[str, str | None]) -> dict[str, Any]:
    """Return a request body with its parameters renamed or omitted."""
    names = {name: changes.get(name, name) for name in body}
    return {new: body[name] for name, new in names.items() if new is not None}


def connect(endpoint: Endpoint, limits: Limits) -> AsyncOpenAI:
    """Return a client of a service, to be used as a context manager; nothing is sent.

    Args:
        endpoint: service and key.
        limits: timeout, and maximum size of a response.
    """
    with extra("models", "calling a model"):
        import openai

    for name in ("openai", "httpcore", "httpcore2"):
        # Their debug logs contain response headers, in which a service may repeat the key.
        logging.getLogger(name).setLevel(logging.INFO)
    timeout = limits.timeout
    return openai.AsyncOpenAI(
        base_url=endpoint.base_url,
        api_key=endpoint.secret or "none",
        max_retries=0,
        timeout=openai.Timeout(timeout, connect=min(10.0, timeout)),
        # Do not use a proxy for a service on this machine.
        http_client=openai.DefaultAsyncHttpxClient(
            trust_env=not endpoint.local,
            headers={"accept-encoding": ACCEPT},
            event_hooks={"response": [guard(limits.max_body, endpoint)]},
        ),
    )
