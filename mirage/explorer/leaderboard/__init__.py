"""The page Leaderboard: its data, charts and texts."""
