"""NoMIRACL (Thakur et al., EMNLP 2024 Findings, arXiv 2312.11361): download and read its published outputs and queries.

`outputs.py` reads the answers of the 11 published systems, `prompt.py` extracts query and passages from the prompt
used for them, `queries.py` reads the labelled queries, `download.py` downloads the files.
"""

from mirage.io.sources.download import DownloadResult
from mirage.io.sources.nomiracl.download import pull_nomiracl
from mirage.io.sources.nomiracl.origin import ORIGIN, SUBSETS, FileOrigin
from mirage.io.sources.nomiracl.outputs import ReadCount, ReadSummary, output_files, read_outputs, summarise
from mirage.io.sources.nomiracl.prompt import split_prompt
from mirage.io.sources.nomiracl.queries import read_queries

__all__ = [
    "ORIGIN",
    "SUBSETS",
    "DownloadResult",
    "FileOrigin",
    "ReadCount",
    "ReadSummary",
    "output_files",
    "pull_nomiracl",
    "read_outputs",
    "read_queries",
    "split_prompt",
    "summarise",
]
