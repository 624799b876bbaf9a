"""Periods: the days that a report or a page covers."""
