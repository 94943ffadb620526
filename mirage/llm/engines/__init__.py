"""Engines beyond this process.

`processes.py` runs CPU-bound work in several processes, independent of stages. `cluster.py` distributes calls to a chat
model over a Ray cluster, `shards.py` splits queries among machines that do not communicate.
"""
