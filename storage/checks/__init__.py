"""Consistency checks of `svc admin db check`: what is stored, compared with what the events say."""
