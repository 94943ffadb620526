"""The explorer as a program for Streamlit: `mirage app` starts it once, `mirage app --workers N` N times.

It is `app.py` behind the guards of `serving.py`, with routes for operators.
"""

from streamlit.starlette import App

from mirage.explorer.serve import serving
from mirage.store.bundled import shipped_folder

app = App(str(shipped_folder() / "app.py"), **serving.parts())
