"""A small store with Django."""
