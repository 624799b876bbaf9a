"""Lists: each is declared once, in a file of its own, and every surface reads it by `find`."""
