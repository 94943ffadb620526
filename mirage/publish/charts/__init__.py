"""Tables to Plotly figures, as plain dicts. No query, no streamlit.

`palette.py` holds the look that all of them share and `primitives.py` their marks; one file a page beside them.
"""
