"""Processes of this machine end with the one that started them, however that one ends."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest
import waiting
from conftest import PATIENCE, ROOT

WORK = f"""
import os, time
from pathlib import Path

def work(folder):
    (Path(folder) / str(os.getpid())).touch()
    time.sleep({PATIENCE})

def double(number):
    return 2 * number
"""
PROGRAM = """
import sys
from mirage.store.cores import on_cores
from workload import work

if __name__ == "__main__":
    with on_cores(2) as batches:
        list(batches(work, [sys.argv[1]] * 2))
"""


def running(pid: str) -> bool:
    """Whether a process runs, and is not just waiting to be noticed."""
    try:
        return Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc to see processes")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_pool_does_not_outlive_the_process_that_started_it(tmp_path: Path, number: signal.Signals) -> None:
    script, pids = tmp_path / "program.py", tmp_path / "pids"
    script.write_text(PROGRAM, "utf-8")
    (tmp_path / "workload.py").write_text(WORK, "utf-8")
    pids.mkdir()
    process = subprocess.Popen([sys.executable, str(script), str(pids)], cwd=ROOT, stderr=subprocess.DEVNULL)
    waiting.until(lambda: len(list(pids.iterdir())) == 2, "both work", process=process)
    process.send_signal(number)
    process.wait(PATIENCE)
    for pid in pids.iterdir():
        waiting.until(lambda pid=pid: not running(pid.name), "it has ended")  # type: ignore[misc]


def test_a_guarded_program_is_run_once_and_gets_its_results(tmp_path: Path) -> None:
    (tmp_path / "workload.py").write_text(WORK, "utf-8")
    script = tmp_path / "program.py"
    script.write_text(
        "from mirage.store.cores import on_cores\nfrom workload import double\n"
        "if __name__ == '__main__':\n    print('begin')\n"
        "    with on_cores(2) as batches:\n        print(list(batches(double, range(3))))\n",
        "utf-8",
    )
    result = subprocess.run([sys.executable, str(script)], cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.stdout.splitlines() == ["begin", "[0, 2, 4]"], result.stderr
