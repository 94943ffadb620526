"""Executors: this process, several processes, or a cluster of machines.

`tasks.py` defines units of work, and runs them here; `processes.py` and `cluster.py` run them elsewhere. They are
independent of stages. `calls.py` distributes calls to a chat model over workers, `shards.py` splits queries among
machines that do not communicate.
"""
