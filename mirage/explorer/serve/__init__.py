"""A deployment: several explorers behind nginx, supervised and checked.

`nginx.py` writes the configuration, `replicas.py` supervises the processes, `checks.py` checks the settings.
"""
