"""Mutants: faults put into a copy of the code, one at a time, to see which tests notice."""
