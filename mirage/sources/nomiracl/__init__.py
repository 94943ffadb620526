"""NoMIRACL (Thakur et al., EMNLP 2024 Findings, arXiv 2312.11361): its published outputs, its questions, and both
fetched from where they are public.

`outputs.py` reads the replies of the 11 published systems, `prompt.py` recovers question and passages from the prompt
those replies were given to, `questions.py` reads the labelled questions themselves, `download.py` brings the files.
"""

from mirage.sources.download import DownloadResult
from mirage.sources.nomiracl.download import pull_nomiracl
from mirage.sources.nomiracl.origin import ORIGIN, SUBSETS, FileOrigin
from mirage.sources.nomiracl.outputs import ReadCount, ReadSummary, output_files, read_outputs, summarise
from mirage.sources.nomiracl.prompt import split_prompt
from mirage.sources.nomiracl.questions import read_questions

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
    "read_questions",
    "split_prompt",
    "summarise",
]
