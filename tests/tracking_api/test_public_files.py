"""What anybody may read: the tracker, cached by its content, and the guides at /docs, as Markdown and as pages."""

import hashlib
import re
from pathlib import Path
from urllib.parse import urljoin

from presentation import guides
from tests.tracking_api.conftest import Api
from tracking_api import assets

PLAIN = {"Accept-Encoding": "identity"}
HTML = {"Accept": "text/html"}
ELSEWHERE = {"/", "/sign-in", "/openapi.json", "/llms.txt"}  # other tests request them


async def test_the_tracker_is_served_to_any_page_for_five_minutes_and_under_its_version_for_ever(api: Api):
    newest = await api.client.get("/js/svc-tracker.js", headers=PLAIN)
    versioned = await api.client.get(f"/js/{newest.headers['content-location']}")

    assert newest.content == versioned.content == (assets.TRACKER_FOLDER / assets.TRACKER).read_bytes()
    assert hashlib.sha256(versioned.content).hexdigest()[:16] in newest.headers["content-location"]
    assert newest.headers["content-type"] == "text/javascript; charset=utf-8"
    for answer, cached in ((newest, "max-age=300"), (versioned, "max-age=31536000, immutable")):
        assert answer.headers["cache-control"] == f"public, {cached}"
        assert answer.headers["access-control-allow-origin"] == "*"
        assert "access-control-allow-credentials" not in answer.headers


async def test_a_client_with_this_version_gets_304_one_with_another_this_one_and_nothing_else_is_there(api: Api):
    etag = (await api.client.get("/js/svc-tracker.js")).headers["etag"]

    for named in (etag, f'"other", {etag}', etag.removeprefix("W/"), "*"):
        answer = await api.client.get("/js/svc-tracker.js", headers={"If-None-Match": named})
        assert (answer.status_code, answer.content, answer.headers["etag"]) == (304, b"", etag), named
        assert answer.headers["cache-control"] == "public, max-age=300"
        assert answer.headers["access-control-allow-origin"] == "*"
    other = await api.client.get("/js/svc-tracker.js", headers={"If-None-Match": 'W/"0123456789abcdef"'})
    assert other.status_code == 200
    for name in ("svc-tracker.0123456789abcdef.js", "other.js"):
        missing = await api.client.get(f"/js/{name}")
        assert (missing.status_code, missing.json()["error"]["code"]) == (404, "not_found")
        assert missing.headers["access-control-allow-origin"] == "*"


async def test_it_is_compressed_for_clients_that_accept_it(api: Api):
    plain = await api.client.get("/js/svc-tracker.js", headers=PLAIN)
    compressed = await api.client.get("/js/svc-tracker.js", headers={"Accept-Encoding": "br, gzip"})

    assert (plain.headers.get("content-encoding"), compressed.headers["content-encoding"]) == (None, "gzip")
    assert compressed.content == plain.content
    assert int(compressed.headers["content-length"]) < 3 * 1024
    assert plain.headers["vary"] == compressed.headers["vary"] == "Accept-Encoding"


def test_an_earlier_version_is_served_beside_the_newest(tmp_path: Path):
    (tmp_path / "svc-tracker.js").write_text("new")
    (tmp_path / "svc-tracker.2026-10.js").write_text("old")

    served = assets.trackers(tmp_path)

    old = hashlib.sha256(b"old").hexdigest()[:16]
    assert served["svc-tracker.js"].content == b"new"
    assert served[f"svc-tracker.{old}.js"].content == b"old"
    assert len(served) == 3


async def test_every_link_of_every_guide_leads_to_a_page_and_a_section_of_it(api: Api):
    pages = {f"/docs/{name}": await api.client.get(f"/docs/{name}", headers=HTML) for name in guides.titles()}
    pages["/docs"] = await api.client.get("/docs", headers=HTML)
    sections = {path: set(re.findall(r' id="([^"]+)"', page.text)) for path, page in pages.items()}
    links = {(path, link) for path, page in pages.items() for link in re.findall(r' href="([^"]+)"', page.text)}

    broken = []
    for path, link in links:
        target, _, section = urljoin(path, link).partition("#")
        if target in pages:
            is_there = not section or section in sections[target]
        else:
            is_there = target in ELSEWHERE or target.startswith(("https://", "/static/"))
        if not is_there:
            broken.append(f"{path}: {link}")

    assert len(links) > 200
    assert broken == []
    assert all(f'<a href="{path}"' in pages["/docs"].text for path in pages)


async def test_a_guide_names_the_address_of_this_server(api: Api):
    for headers in (HTML, PLAIN):  # a person's browser, and curl
        steps, connecting = [
            (await api.client.get(f"/docs/{name}", headers=headers)).text for name in ("verify", "connecting")
        ]

        assert ("https://svc.example" in steps, "http://127.0.0.1:8000/api/v1/track/sale" in steps) == (False, True)
        assert ("track.example" in connecting, "http://127.0.0.1:8000/mcp" in connecting) == (False, True)
        index, same = [await api.client.get(path, headers=headers) for path in ("/docs", "/docs/")]
        assert (same.status_code, same.headers["content-type"]) == (200, index.headers["content-type"])


async def test_llms_txt_maps_every_guide_and_interface_and_is_only_read(api: Api):
    answer = await api.client.get("/llms.txt")

    links = re.findall(r"\(http://127.0.0.1:8000/docs/([\w-]+)\)", answer.text)
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert sorted(links) == sorted(guides.NAMES)
    assert all(f"http://127.0.0.1:8000{path}" in answer.text for path in ("/openapi.json", "/mcp", "/api/agent/v1"))
    assert (await api.client.post("/llms.txt")).status_code == 405
    assert (await api.client.get("/llms.txt/")).json()["error"]["code"] == "not_found"
