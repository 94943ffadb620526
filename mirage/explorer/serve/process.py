"""The explorer's server as one process: `python -m mirage.explorer.serve.process [OPTIONS OF STREAMLIT]`.

On a termination signal it shuts down cleanly with exit code 0.
"""

from __future__ import annotations

import runpy
import signal
import sys
from pathlib import Path

SCRIPT = Path(__file__).with_name("serve.py")
"""Script that Streamlit runs."""


def main(options: list[str]) -> None:
    """Run the server until a termination signal.

    Args:
        options: options of `streamlit run`.
    """

    def leave(*_: object) -> None:
        sys.exit(0)

    def ask(*_: object) -> None:
        signal.raise_signal(signal.SIGTERM)

    # The server handles these signals, shuts down, and re-raises the signal for the previous handler.
    for name in ("SIGTERM", "SIGINT"):
        signal.signal(getattr(signal, name), leave)
    if hasattr(signal, "SIGQUIT"):
        signal.signal(signal.SIGQUIT, ask)
    sys.argv = ["streamlit", "run", str(SCRIPT), *options]
    runpy.run_module("streamlit", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main(sys.argv[1:])
