"""The page Answers: its data, charts and texts."""
