"""Views: the answer to one question, which every page, command, report and the API render.

A view is a pure function from an arena and choices to a frozen record: tables, facts, remarks and a conclusion. Callers
compute nothing. The Hallucination page shows `rates.py`, `causes.py` and `printed.py`.
"""
