"""The explorer: one folder a page, `kit/` for what pages share and `serve/` for the server. The only part that imports
Streamlit.
"""
