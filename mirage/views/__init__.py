"""Views: what every page, command, report and the API say about one question.

A view is a pure function from an arena and choices to a frozen record: tables, facts, remarks and a conclusion. Who
shows it computes nothing. `rates.py`, `causes.py` and `printed.py` are those of the Hallucination page.
"""
