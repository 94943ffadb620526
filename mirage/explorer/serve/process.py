"""The explorer's server as one process: `python -m mirage.explorer.serve.process [OPTIONS OF STREAMLIT]`.

A signal that asks it to end lets it end itself, which is no failure: the exit code is 0.
"""

from __future__ import annotations

import runpy
import signal
import sys
from pathlib import Path

SCRIPT = Path(__file__).with_name("serve.py")
"""The program that Streamlit runs."""


def main(options: list[str]) -> None:
    """Run the server until it is asked to end.

    Args:
        options: those of `streamlit run`.
    """

    def leave(*_: object) -> None:
        sys.exit(0)

    def ask(*_: object) -> None:
        signal.raise_signal(signal.SIGTERM)

    # The server takes these signals while it runs, ends, and then raises the signal again for whoever had it before.
    for name in ("SIGTERM", "SIGINT"):
        signal.signal(getattr(signal, name), leave)
    if hasattr(signal, "SIGQUIT"):
        signal.signal(signal.SIGQUIT, ask)
    sys.argv = ["streamlit", "run", str(SCRIPT), *options]
    runpy.run_module("streamlit", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main(sys.argv[1:])
