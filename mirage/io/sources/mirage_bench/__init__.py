"""MIRAGE-Bench (Thakur et al., NAACL 2025, arXiv 2410.13716): its three public data sets, from files or from the hub.

`hub.py` downloads them, `read.py` reads both generations of their column names, `prompt.py` extracts
query and passages from the prompt used for the answers.
"""

from mirage.io.sources.mirage_bench.hub import LICENCE, NAME, SETS, URL, What, pull_bench
from mirage.io.sources.mirage_bench.prompt import split_bench_prompt
from mirage.io.sources.mirage_bench.read import FEATURES, bench_files, read_bench

__all__ = [
    "FEATURES",
    "LICENCE",
    "NAME",
    "SETS",
    "URL",
    "What",
    "bench_files",
    "pull_bench",
    "read_bench",
    "split_bench_prompt",
]
