"""NoMIRACL (Thakur et al., EMNLP 2024 Findings, arXiv 2312.11361): download and read its published outputs and queries.

`outputs.py` reads the answers of the 11 published systems, `prompt.py` extracts query and passages from the prompt
used for them, `queries.py` reads the labelled queries, `download.py` downloads the files.
"""
