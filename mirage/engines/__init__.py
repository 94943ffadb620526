"""Where work is done: on this machine, in several processes of it, or on a cluster of machines.

`tasks.py` says what a piece of work is, and does it here; `processes.py` and `cluster.py` do the same elsewhere. They
know nothing of stages. `calls.py` spreads the calls to a chat model over workers, `desk.py` is what those workers
share, `shards.py` cuts queries among machines that know nothing of each other.
"""
