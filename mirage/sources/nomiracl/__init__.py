"""NoMIRACL (Thakur et al., EMNLP 2024 Findings, arXiv 2312.11361): its published outputs, its queries, and both
fetched from where they are public.

`outputs.py` reads the answers of the 11 published systems, `prompt.py` recovers query and passages from the prompt
those answers were given to, `queries.py` reads the labelled queries themselves, `download.py` brings the files.
"""

from mirage.sources.download import DownloadResult
from mirage.sources.nomiracl.download import pull_nomiracl
from mirage.sources.nomiracl.origin import ORIGIN, SUBSETS, FileOrigin
from mirage.sources.nomiracl.outputs import ReadCount, ReadSummary, output_files, read_outputs, summarise
from mirage.sources.nomiracl.prompt import split_prompt
from mirage.sources.nomiracl.queries import read_queries

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
