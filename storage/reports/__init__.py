"""What a program did: the figures of a period, by day, by dimension and by partner."""
