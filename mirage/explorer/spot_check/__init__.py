"""The page Spot check: items to vote on, and results."""
