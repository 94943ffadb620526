"""The only layer that reads and writes files: arenas (Parquet with a manifest), and text files.

`arena.py` reads typed tables, `writing.py` replaces them, `upsert.py` merges rows into them in one transaction;
`files.py` reads lines with their numbers and writes files atomically; `copies.py` copies arenas, also to and from
object storage; `ledger.py` caches the replies of paid services; `runs.py` records the
inputs of pipeline steps.
"""
