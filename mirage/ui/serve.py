"""The explorer of a deployment, as a program for Streamlit: `mirage app --workers N` starts it N times.

It is `app.py` with routes for those who keep it running.
"""

from streamlit.starlette import App

from mirage.shipped import shipped
from mirage.ui import serving

app = App(str(shipped() / "app.py"), **serving.parts())
