"""The page Judges: its charts."""
