"""The tracker as it is served: cached with an ETag, and under a name that never changes its content."""

import hashlib
from pathlib import Path

from tests.tracking_api.conftest import Api
from tracking_api import assets

PLAIN = {"Accept-Encoding": "identity"}


async def test_the_tracker_is_served_to_any_page_for_five_minutes(api: Api):
    answer = await api.client.get("/js/svc-tracker.js", headers=PLAIN)

    assert (answer.status_code, answer.content) == (200, (assets.TRACKER_FOLDER / assets.TRACKER).read_bytes())
    assert answer.headers["content-type"] == "text/javascript; charset=utf-8"
    assert answer.headers["cache-control"] == "public, max-age=300"
    assert answer.headers["access-control-allow-origin"] == "*"
    assert "access-control-allow-credentials" not in answer.headers


async def test_the_versioned_file_holds_the_same_bytes_and_never_expires(api: Api):
    newest = await api.client.get("/js/svc-tracker.js")

    versioned = await api.client.get(f"/js/{newest.headers['content-location']}")

    assert versioned.content == newest.content
    assert hashlib.sha256(versioned.content).hexdigest()[:16] in newest.headers["content-location"]
    assert versioned.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert versioned.headers["access-control-allow-origin"] == "*"


async def test_a_client_with_this_version_gets_304_and_one_with_another_gets_this_one(api: Api):
    etag = (await api.client.get("/js/svc-tracker.js")).headers["etag"]

    for named in (etag, f'"other", {etag}', etag.removeprefix("W/"), "*"):
        answer = await api.client.get("/js/svc-tracker.js", headers={"If-None-Match": named})
        assert (answer.status_code, answer.content, answer.headers["etag"]) == (304, b"", etag), named
        assert answer.headers["cache-control"] == "public, max-age=300"
        assert answer.headers["access-control-allow-origin"] == "*"
    other = await api.client.get("/js/svc-tracker.js", headers={"If-None-Match": 'W/"0123456789abcdef"'})
    assert other.status_code == 200


async def test_it_is_compressed_for_clients_that_accept_it(api: Api):
    plain = await api.client.get("/js/svc-tracker.js", headers=PLAIN)
    compressed = await api.client.get("/js/svc-tracker.js", headers={"Accept-Encoding": "br, gzip"})

    assert "content-encoding" not in plain.headers
    assert compressed.headers["content-encoding"] == "gzip"
    assert compressed.content == plain.content
    assert int(compressed.headers["content-length"]) < 3 * 1024
    assert plain.headers["vary"] == compressed.headers["vary"] == "Accept-Encoding"


async def test_nothing_else_is_served_there(api: Api):
    for name in ("svc-tracker.0123456789abcdef.js", "other.js"):
        answer = await api.client.get(f"/js/{name}")

        assert (answer.status_code, answer.json()["error"]["code"]) == (404, "not_found")
        assert answer.headers["access-control-allow-origin"] == "*"


def test_an_earlier_version_is_served_beside_the_newest(tmp_path: Path):
    (tmp_path / "svc-tracker.js").write_text("new")
    (tmp_path / "svc-tracker.2026-10.js").write_text("old")

    served = assets.trackers(tmp_path)

    old = hashlib.sha256(b"old").hexdigest()[:16]
    assert served["svc-tracker.js"].content == b"new"
    assert served[f"svc-tracker.{old}.js"].content == b"old"
    assert len(served) == 3
