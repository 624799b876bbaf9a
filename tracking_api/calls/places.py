"""Where a visitor is: by headers of a trusted proxy, or by a MaxMind DB file; no IP address is stored."""

from collections.abc import Mapping
from typing import Any

import maxminddb

from configuration import Configuration
from storage.rules.reports.dimensions import NOWHERE, Location, place_of


class Places:
    """The places of clients, as the settings say. The headers count before the file."""

    def __init__(self, settings: Configuration) -> None:
        self._country = (settings.country_header or "").lower().encode()
        self._region = (settings.region_header or "").lower().encode()
        self._file = maxminddb.open_database(settings.geo_database) if settings.geo_database else None

    def of(self, headers: Mapping[bytes, bytes], address: str) -> Location:
        """Return the place of a client."""
        place = NOWHERE
        if self._country in headers:
            place = place_of(headers[self._country].decode("latin-1"), headers.get(self._region, b"").decode("latin-1"))
        if place == NOWHERE and self._file is not None:
            place = self._look_up(address)
        return place

    def _look_up(self, address: str) -> Location:
        assert self._file is not None  # noqa: S101 - only asked where there is a file
        try:
            record: Any = self._file.get(address)
        except ValueError:  # not an address, or an IPv6 address in a file of IPv4 networks
            return NOWHERE
        if not isinstance(record, dict):
            return NOWHERE
        regions = record.get("subdivisions") or [{}]
        return place_of((record.get("country") or {}).get("iso_code"), regions[0].get("iso_code"))
