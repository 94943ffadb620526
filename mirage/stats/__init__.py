"""Mathematics shared by all stages: intervals, Newton's method, sampling and encoding."""
