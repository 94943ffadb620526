"""Queries shaped for a page, one file a page. No streamlit, no plotting."""
