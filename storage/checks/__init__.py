"""Consistency checks of `svc admin db check`, one file for each kind of fact that is stored twice."""
