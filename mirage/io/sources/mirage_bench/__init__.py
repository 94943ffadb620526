"""MIRAGE-Bench (Thakur et al., NAACL 2025, arXiv 2410.13716): its three public data sets, from files or from the hub.

`hub.py` downloads them, `read.py` reads both generations of their column names, `prompt.py` extracts
query and passages from the prompt used for the answers.
"""
