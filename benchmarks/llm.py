"""Calls to a chat service with 200 ms latency, 64 at once: share of the ideal throughput."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.harness import Row
from mirage.llm import asking, presets
from mirage.llm.calls import ChatModel, Limits, Settings
from mirage.store.ledger import NAME, Ledger

LATENCY, CONCURRENCY, CALLS = 0.2, 64, 3_200
_REPLY = "##Reason: the first passage says so [1#0]. ##Answer: Yes. " * 12
_PASSAGES = "\n\n".join(f"[{i}#0] " + "A passage of the length that an encyclopedia has. " * 12 for i in range(8))


class _Chat(asyncio.Protocol):
    """As little of HTTP and of the protocol as a client needs: the same answer to every request, late."""

    answer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin a connection."""
        self.transport, self.came, self.need = transport, b"", 0

    def data_received(self, data: bytes) -> None:
        """Read until the request is whole, then answer when the time has passed."""
        self.came += data
        if not self.need:
            head, end, _ = self.came.partition(b"\r\n\r\n")
            if not end:
                return
            length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
            self.need = len(head) + 4 + int(length.partition(b":")[2])
        if len(self.came) >= self.need:
            self.came, self.need = self.came[self.need :], 0
            asyncio.get_running_loop().call_later(LATENCY, self.transport.write, self.answer)  # type: ignore[attr-defined]


def serve() -> None:
    """Serve on a free port of this machine, and print it."""
    body = json.dumps(
        {
            "object": "chat.completion",
            "model": "bench",
            "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": _REPLY}}],
            "usage": {"prompt_tokens": 1500, "completion_tokens": 200, "total_tokens": 1700},
        }
    ).encode()
    _Chat.answer = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(body) + body

    async def forever() -> None:
        server = await asyncio.get_running_loop().create_server(_Chat, "127.0.0.1", 0, backlog=512)
        print(server.sockets[0].getsockname()[1], flush=True)
        await server.serve_forever()

    asyncio.run(forever())


def run() -> list[Row]:
    """Time calls against one server in a process of its own."""
    command = [sys.executable, "-c", "from benchmarks.llm import serve; serve()"]
    with (
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server,
        tempfile.TemporaryDirectory() as folder,
        Ledger(Path(folder) / NAME) as ledger,
    ):
        try:
            assert server.stdout is not None
            endpoint = presets.resolve(base_url=f"http://127.0.0.1:{int(server.stdout.readline())}/v1")

            def seconds(calls: int, name: str) -> float:
                start, used = time.perf_counter(), time.process_time()
                cost = asking.ask(
                    [[{"role": "user", "content": f"{name} {i}\n\n{_PASSAGES}"}] for i in range(calls)],
                    ChatModel(Settings("bench"), Limits(concurrency=CONCURRENCY), endpoint),
                    ledger,
                ).cost
                taken = time.perf_counter() - start
                cpu.append((time.process_time() - used) / calls)
                if cost.calls != calls or cost.failed:
                    raise RuntimeError("not every call was answered")
                return taken

            cpu: list[float] = []
            seconds(CONCURRENCY, "warm-up")
            together = CALLS / seconds(CALLS, "together")
        finally:
            server.terminate()
    ideal = CONCURRENCY / LATENCY
    what = f"{CALLS:,} chat calls, {CONCURRENCY} at once, to a server with {1000 * LATENCY:.0f} ms latency"
    value = f"{together:.0f} calls/s, {1000 * cpu[-1]:.1f} ms of CPU a call"
    return [
        Row(what, value, f"ideal: {ideal:.0f} calls/s", f"{together / ideal:.2f} of it", "at least 0.9"),
    ]
