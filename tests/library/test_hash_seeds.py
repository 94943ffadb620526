"""Nothing depends on the order of a set: two programs under two hash seeds come to the same.

CI compares the golden record, with its ratings, tests and predictions, under two hash seeds too.
"""

import json
import os
import subprocess
import sys

import pytest
from conftest import ROOT

COMPUTATIONS = {
    "pitfall 8: which battles a judge sees": """
from judge_cases import answers
from mirage.stages.judge.pairs import choose_pairs
result = [choose_pairs(answers(), **sample) for sample in ({}, {"queries": 2}, {"pairs": 5, "seed": 3})]
""",
    "pitfall 8: the order of passages in a prompt": """
from test_generate import Model, run, tables
model = Model()
run(model, *tables())
result = model.requests
""",
    "pitfall 15: the order of mention": """
from mirage.stages.features.citation import average_precision
from mirage.text.answers import citations, cited_ids
mentioned = cited_ids(citations("[b] [d, a] [c]", ["a", "b", "c", "d"], numbered=False))
assert mentioned == ("b", "d", "a", "c"), mentioned
result = average_precision(mentioned, {"a", "b"}, 10)
""",
    "who votes on what": """
from mirage.people.votes.queue import next_items
from test_votes_queue import pool
result = next_items(pool(judgments=None), voter="amina", n=50)
""",
    "the files of an arena": """
from pathlib import Path
from tempfile import TemporaryDirectory
from test_store import make, snapshot
with TemporaryDirectory() as folder:
    result = snapshot(make(Path(folder, "arena"), title="Same").path)
""",
}
"""By what is computed: a program that leaves it as `result`."""
ALL = """
import hashlib, json, sys
digests = {}
for name, program in json.loads(sys.argv[1]).items():
    names = {}
    exec(program, names)
    digests[name] = hashlib.sha256(repr(names["result"]).encode()).hexdigest()
print(json.dumps([hash("x"), digests]))
"""


def computed(seed: str) -> tuple[int, dict[str, str]]:
    """The hash of a text under a seed, and a digest of everything computed under it."""
    tests = [str(ROOT / "tests" / folder) for folder in ("", "fixtures", "library")]
    done = subprocess.run(
        [sys.executable, "-c", ALL, json.dumps(COMPUTATIONS)],
        cwd=ROOT,
        env=os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join([str(ROOT), *tests])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    hashed, digests = json.loads(done.stdout)
    return hashed, digests


@pytest.fixture(scope="module")
def both() -> list[dict[str, str]]:
    (first_hash, first), (second_hash, second) = (computed(seed) for seed in ("1", "2"))
    assert first_hash != second_hash
    return [first, second]


@pytest.mark.parametrize("name", COMPUTATIONS)
def test_a_result_does_not_depend_on_the_hash_seed(both: list[dict[str, str]], name: str) -> None:
    first, second = both
    assert first[name] == second[name]
