"""The explorer: one folder per page, `kit/` for parts shared by pages, `serve/` for the server. The only part that
imports Streamlit.
"""
