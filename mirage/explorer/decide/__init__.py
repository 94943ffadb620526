"""The page Decide: its data, charts and texts."""
