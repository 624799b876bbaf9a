"""What a connected payment account reports: its events, what they mean, and how they compare with recorded sales."""
