"""What is timed, against what. `make bench` runs all of it and prints ratios measured side by side in one run."""
