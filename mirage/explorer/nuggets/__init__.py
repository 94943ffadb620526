"""The page Nuggets: its data, charts and texts."""
