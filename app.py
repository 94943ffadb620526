"""The explorer: `streamlit run app.py`. It only chooses the page; nothing a page relies on is here."""

from mirage.explorer import kit as ui

ui.run()
