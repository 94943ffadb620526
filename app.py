"""The explorer: `streamlit run app.py`. This script only selects the page."""

from mirage.explorer.kit.frame import run

run()
