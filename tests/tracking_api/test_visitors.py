"""What a click says of its visitor: device, browser, operating system, country and region."""

import json
from ipaddress import IPv4Network
from pathlib import Path

from configuration import Configuration
from storage.rules.dimensions import NOWHERE, Agent, Location
from storage.tables import clicks
from tests.tracking_api.conftest import Api
from tracking_api.calls.places import Places
from tracking_api.calls.user_agents import agent_of

IPHONE = (
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) "
    "Version/17.0 Mobile/15E148 Safari/604.1"
)
AGENTS = {
    IPHONE: Agent("mobile", "Safari", "iOS"),
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 "
    "Safari/537.36": Agent("desktop", "Chrome", "Windows"),
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:130.0) Gecko/20100101 Firefox/130.0": Agent(
        "desktop", "Firefox", "macOS"
    ),
    "Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile "
    "Safari/537.36": Agent("mobile", "Chrome", "Android"),
    "Mozilla/5.0 (Linux; Android 14; SM-X710) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 "
    "Safari/537.36": Agent("tablet", "Chrome", "Android"),
    "Mozilla/5.0 (SMART-TV; Linux; Tizen 7.0) AppleWebKit/537.36 (KHTML, like Gecko) Version/7.0 TV Safari/537.36": (
        Agent("tv", "Safari", "Tizen")
    ),
    "nothing known": Agent(),
}


def mmdb(folder: Path, network: str) -> Path:
    """Write a MaxMind DB file in which one IPv4 network is in California; return its path."""
    california = b"\xe2\x47country\xe1\x48iso_code\x42US\x4csubdivisions\x01\x04\xe1\x48iso_code\x42CA"
    parsed = IPv4Network(network)
    nodes, tree = parsed.prefixlen, b""
    for depth in range(nodes):
        following = depth + 1 if depth + 1 < nodes else nodes + 16
        bit = int(parsed.network_address) >> (31 - depth) & 1
        pair = (nodes, following) if bit else (following, nodes)
        tree += b"".join(each.to_bytes(3, "big") for each in pair)
    about = b"\xe9\x4anode_count\xc1" + bytes([nodes]) + b"\x4brecord_size\xa1\x18\x4aip_version\xa1\x04"
    about += b"\x4ddatabase_type\x44Test\x5bbinary_format_major_version\xa1\x02\x5bbinary_format_minor_version\xa0"
    about += b"\x49languages\x00\x04\x4bdescription\xe0\x4bbuild_epoch\x01\x02\x01"
    path = folder / "places.mmdb"
    path.write_bytes(tree + bytes(16) + california + b"\xab\xcd\xefMaxMind.com" + about)
    return path


def test_a_user_agent_says_device_browser_and_system():
    assert {text: agent_of(text) for text in AGENTS} == AGENTS


def test_a_hostile_user_agent_says_little():
    for text in ("A" * 100_000, "Mozilla/5.0 (" * 500, "Chrome/\x00\u202e", ""):
        assert all(value is None or (value.isprintable() and len(value) <= 100) for value in agent_of(text))


async def test_a_click_stores_its_dimensions_and_no_address(api: Api):
    api = Api(api.acme, Configuration(country_header="CF-IPCountry", region_header="CF-Region-Code", rate_limit=False))
    api.come_from("203.0.113.7")
    link = "https://acme.example/pricing?aff=anna&utm_source=letter"
    headers = {"CF-IPCountry": "DE", "CF-Region-Code": "BE"}
    async with api.client:
        await api.click(affiliate_url=link, user_agent=IPHONE, language="de-DE", headers=headers)

    (row,) = await api.rows(clicks)
    assert json.loads(row.dimensions) == {
        "landing_path": "/pricing",
        "utm_source": "letter",
        "device": "mobile",
        "browser": "Safari",
        "os": "iOS",
        "country": "DE",
        "region": "DE-BE",
        "language": "de",
    }
    assert not [value for value in row if "203.0.113" in str(value)]


async def test_a_header_that_no_setting_names_tells_no_country(api: Api):
    await api.click(headers={"CF-IPCountry": "DE"})

    (row,) = await api.rows(clicks)
    assert "country" not in json.loads(row.dimensions)


def test_a_file_tells_the_place_of_an_address_where_no_header_does(tmp_path: Path):
    settings = Configuration(country_header="x-country", geo_database=mmdb(tmp_path, "203.0.113.0/24"))
    places = Places(settings)

    assert places.of({}, "203.0.113.7") == Location("US", "US-CA")
    assert places.of({b"x-country": b"DE"}, "203.0.113.7") == Location("DE")
    assert places.of({b"x-country": b"XX"}, "203.0.113.7") == Location("US", "US-CA")
    assert [places.of({}, each) for each in ("198.51.100.1", "2001:db8::1", "unknown")] == [NOWHERE] * 3
