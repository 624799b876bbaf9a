"""The public, key-authenticated and session-authenticated surface."""
