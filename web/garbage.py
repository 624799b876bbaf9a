"""How often the collector looks for garbage: a request frees what it made without it, and what is imported stays."""

import gc


def collect_seldom() -> None:
    """Let the collector run after 50,000 new objects; Python's default is 700."""
    gc.set_threshold(50_000, 20, 100)


def settle() -> None:
    """Exclude the objects of start-up from collection, for fewer and shorter pauses."""
    gc.collect()
    gc.freeze()
    collect_seldom()
