"""A deployment: several explorers behind nginx, kept running, and what can be checked of it.

`nginx.py` writes the configuration, `replicas.py` keeps the processes, `checks.py` says what is wrong with settings.
"""
