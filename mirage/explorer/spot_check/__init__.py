"""The page Spot check: its data, charts and texts."""
