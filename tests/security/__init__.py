"""Attacks on the service over HTTP; each test is one attack that must fail."""
