"""What the service costs, as ratios to a ceiling measured in the same run: `python -m benchmarks`, or `make bench`."""
