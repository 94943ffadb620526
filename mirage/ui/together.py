"""What a page draws goes to the browser in few pieces: a browser draws its whole page again for each that comes."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final, NoReturn

from streamlit.runtime.scriptrunner import StopException, get_script_run_ctx

LONGEST: Final = 0.1
"""Seconds after which what is there is sent: until then nobody sees that a page waits."""


@contextmanager
def together() -> Iterator[None]:
    """Send what is drawn inside when it is done, or, where it takes long, as it comes.

    It is Streamlit's own way to send that is put off, which has no public name: where it has another, all is sent as it
    comes.
    """
    context: Any = get_script_run_ctx(suppress_warning=True)
    send = getattr(context, "_enqueue", None)
    if send is None or getattr(send, "holds", False):
        yield
        return
    lock, waiting = threading.Lock(), deque[Any]()

    def hold(message: Any) -> None:
        context.yield_check()  # a reader who has clicked on ends the run here
        with lock:
            if context._enqueue is hold:
                waiting.append(message)
                return
        send(message)

    def release() -> None:
        with lock:
            try:
                while waiting:
                    send(waiting.popleft())
            finally:
                # Not before: what is drawn meanwhile must not overtake what waits.
                context._enqueue = send

    hold.holds = True  # type: ignore[attr-defined]  # what is inside sees that it is held already
    timer = threading.Timer(LONGEST, release)
    timer.daemon = True
    context._enqueue = hold
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        release()


def stop() -> NoReturn:
    """End the page here; what was drawn stays. (`st.stop` ends it at the next message that is sent, which may wait.)"""
    raise StopException
