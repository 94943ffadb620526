"""The explorer: `streamlit run app.py`. It only chooses the page; nothing a page relies on is here."""

from mirage.explorer.kit.frame import run

run()
