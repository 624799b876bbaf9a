"""The dimensions of reports as people read them: their titles, the cards that they share, and their values."""

from collections.abc import Mapping
from functools import cache

from storage.rules.reports.breakdown import Dimension, Operator
from storage.rules.reports.breakdown_query import NONE
from tracking_api.dashboard.pages import text

OPERATORS = {Operator.IS: "is", Operator.IS_NOT: "is not", Operator.CONTAINS: "contains"}
CARDS = {
    "Sources": (Dimension.REFERRER, Dimension.UTM_CAMPAIGN, Dimension.UTM_SOURCE, Dimension.UTM_MEDIUM),
    "Pages": (Dimension.LANDING_PATH, Dimension.PRODUCT),
    "Places": (Dimension.COUNTRY, Dimension.REGION, Dimension.LANGUAGE),
    "Partners": (Dimension.PARTNER, Dimension.CAMPAIGN),
    "Devices": (Dimension.DEVICE, Dimension.BROWSER, Dimension.OS),
    "Buyers": (Dimension.BUYER, Dimension.COHORT, Dimension.WEEKDAY),
}
_TITLES = {
    Dimension.UTM_CAMPAIGN: "Campaign",
    Dimension.UTM_SOURCE: "Source",
    Dimension.UTM_MEDIUM: "Medium",
    Dimension.LANDING_PATH: "Landing page",
    Dimension.CAMPAIGN: "Link tag",
    Dimension.OS: "System",
    Dimension.BUYER: "New or returning",
    Dimension.COHORT: "Signed up in",
}


def title_of(dimension: Dimension) -> str:
    """Return what people call a dimension."""
    return _TITLES.get(dimension) or text.words(dimension)


def name_of(dimension: Dimension, value: str | None, names: Mapping[str, str]) -> str:
    """Return what people call a value; `names` are those of partners, by their codes."""
    if value in {None, NONE}:
        is_of_buyers = dimension in {Dimension.BUYER, Dimension.COHORT}
        return "No purchase" if is_of_buyers else f"No {title_of(dimension).lower()}"
    if dimension in {Dimension.DEVICE, Dimension.BUYER}:
        return text.words(str(value))
    if dimension == Dimension.PARTNER:
        return text.plain(names.get(str(value), value))
    return text.country(str(value)) if dimension == Dimension.COUNTRY else text.plain(value)


def typed(dimension: Dimension, value: str) -> str:
    """Return a value as it is stored: the code of a country that was named, a device in small letters."""
    if dimension == Dimension.COUNTRY:
        return _countries().get(value.lower(), value)
    return value.lower() if dimension in {Dimension.DEVICE, Dimension.LANGUAGE, Dimension.BUYER} else value


@cache
def _countries() -> dict[str, str]:
    codes = {code: str(name) for code, name in text.DEFAULT.territories.items() if code.isalpha()}
    return {written.lower(): code for code, name in codes.items() for written in (code, name)}
