"""Tests of the rules about fraud."""
