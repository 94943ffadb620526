"""People's verdicts: votes and the examination of judges against them."""
