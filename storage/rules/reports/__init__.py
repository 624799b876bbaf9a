"""What reports compute: ratios, trends and breakdowns."""
