"""Server time of a page's warm rerun on the bundled arena, and the time to import the package."""

from __future__ import annotations

import statistics
import time
from pathlib import Path

from streamlit.testing.v1 import AppTest

from benchmarks.harness import Row, in_fresh_process

ROOT = Path(__file__).resolve().parents[1]
RERUNS = 15


def run() -> list[Row]:
    """Rerun every page as a browser's click would, without the browser."""
    rows = []
    for page in sorted((ROOT / "pages").glob("*.py")):
        app = AppTest.from_file(str(page), default_timeout=60)
        start = time.perf_counter()
        app.run()
        cold = time.perf_counter() - start
        if app.exception:
            raise RuntimeError(f"{page.name}: {app.exception[0].value}")
        app.run()
        taken = []
        for _ in range(RERUNS):
            start = time.perf_counter()
            app.run()
            taken.append(1000 * (time.perf_counter() - start))
        rows.append(
            Row(
                f"warm rerun of the {page.stem} page",
                f"{statistics.median(taken):.0f} ms median, {max(taken):.0f} ms worst of {RERUNS}",
                f"its first run: {1000 * cold:.0f} ms",
                f"{1000 * cold / statistics.median(taken):.0f} times faster than the first",
                "median under 50 ms",
            )
        )
    code = (
        "import time; s = time.perf_counter(); import mirage, mirage.schema; print('s=' + str(time.perf_counter() - s))"
    )
    values, _ = in_fresh_process(code)
    rows.append(Row("import mirage", f"{1000 * values['s']:.0f} ms", "", "", "under 500 ms"))
    return rows
