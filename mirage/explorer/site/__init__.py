"""The static site of a published board: plain HTML with its tables, sources and chain, without Streamlit.

`tables.py` computes the published tables from the sources with the data modules of the pages, `pages.py` writes them as
HTML, `answer_pages.py` the texts, `build.py` all files of a site; `publishing.py` publishes and `verifying.py` checks.
"""
