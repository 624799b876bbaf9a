"""The pages and actions that search finds by their words."""

from typing import NamedTuple


class Destination(NamedTuple):
    """A page, or an action on one: its title, the words that find it besides the title's, and its path."""

    title: str
    words: str
    path: str


OF_PROGRAM = (
    Destination("Overview", "results revenue clicks chart performance home", ""),
    Destination("Explore", "sources referrers campaigns countries devices landing pages breakdown", "/explore"),
    Destination("Partners", "affiliates results links pause balance owed", "/partners"),
    Destination("Add a partner", "new enrol create affiliate invite code", "/partners"),
    Destination("Customers", "leads people timeline sign-ups", "/customers"),
    Destination("Commissions", "earned payouts pay paid csv export", "/commissions"),
    Destination("Approve commissions", "ready hold pending", "/commissions"),
    Destination("Review signs of fraud", "flags self-referral suspicious", "/review"),
    Destination("Events", "log live clicks leads sales refunds tests", "/events"),
    Destination("Refunds", "returns disputes chargebacks events", "/events?kind=refund"),
    Destination("Rejected calls", "refused errors missing sales failed", "/refused-calls"),
    Destination("Settings", "terms commission rate hold window attribution domain currency pause", "/settings"),
    Destination("Program key", "api token secret generate rotate replace developers", "/settings/api-keys"),
    Destination("Sandbox", "try test mode empty rehearse", "/settings/sandbox"),
    Destination("Integration checklist", "set up install tracker snippet steps", "/settings/checklist"),
    Destination("Payments", "stripe webhook account secret waiting duplicates", "/settings/payments"),
    Destination("Exchange rates", "currency currencies ecb import missing convert", "/settings/rates"),
    Destination("Caps of agents", "agent keys limits freeze two", "/settings/agent-caps"),
    Destination("Workspace", "name logo time zone company", "/settings/workspace"),
    Destination("Members", "team invite people roles owner suspend transfer", "/settings/members"),
    Destination("Audit log", "history changes who", "/settings/audit-log"),
)
OF_ACCOUNT = (
    Destination("Programs", "all list home", "/programs"),
    Destination("New program", "create add", "/programs/new"),
    Destination(
        "Your account", "password sessions second factor totp security profile name theme dark time format", "/account"
    ),
    Destination("Assistants", "claude chatgpt cursor mcp connect disconnect ai", "/assistants"),
    Destination("Connect a device", "svc login code terminal", "/device"),
    Destination("Guides", "docs documentation help integration api errors", "/docs"),
)


def matching(destinations: tuple[Destination, ...], typed: str) -> list[Destination]:
    """Return the destinations of which every typed word starts a word; a title's own words first."""
    wanted = typed.casefold().split()

    def starts(text: str) -> bool:
        words = text.casefold().split()
        return all(any(word.startswith(part) for word in words) for part in wanted)

    found = [each for each in destinations if wanted and starts(f"{each.title} {each.words}")]
    return sorted(found, key=lambda each: not starts(each.title))
