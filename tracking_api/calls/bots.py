"""Clicks that are stored but not counted: those of known bots and of prefetched pages."""

import re
from functools import lru_cache

from crawleruseragents import CRAWLER_USER_AGENTS_DATA

# A server-side integration that forwards clicks sends the name of its HTTP library, which is not a crawler.
_BOTS = re.compile(
    "|".join(bot["pattern"] for bot in CRAWLER_USER_AGENTS_DATA if "http-library" not in bot.get("tags", ()))
)


def reason_to_filter(user_agent: str | None, *, method: str, purpose: str | None) -> str | None:
    """Return `bot` or `prefetch` for a click that must not be counted, otherwise None.

    `purpose` is the Sec-Purpose, Purpose or X-Moz header.
    """
    if method == "HEAD" or (purpose is not None and "prefetch" in purpose.lower()):
        reason = "prefetch"
    elif user_agent and _is_bot(user_agent):
        reason = "bot"
    else:
        reason = None
    return reason


@lru_cache(maxsize=4096)
def _is_bot(user_agent: str) -> bool:
    return _BOTS.search(user_agent) is not None
