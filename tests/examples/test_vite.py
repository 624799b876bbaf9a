"""What Node.js builds for browsers: the tracker, and a shop made with Vite and React, under a strict policy."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.browser.conftest import scene, service  # noqa: F401 - fixtures
from tests.browser.scene import Scene
from tests.conftest import ROOT
from tracking_api import assets

EXAMPLE = ROOT / "examples/vite-react"
TRACKER = ROOT / "browser/tracker"


@pytest.fixture
def example(scene: Scene, tmp_path: Path) -> Scene:  # noqa: F811 - the fixture
    """Let the shop be the example, built for this program and service."""
    where = {"VITE_SVC_BASE_URL": scene.server.base_url, "VITE_SVC_PROGRAM_ID": str(scene.acme.program_id)}
    command = ["node", "node_modules/vite/bin/vite.js", "build", "--outDir", str(tmp_path / "built")]
    subprocess.run(command, cwd=EXAMPLE, env=os.environ | where, check=True, capture_output=True)
    scene.shop.page = (tmp_path / "built/index.html").read_text(encoding="utf-8")
    scripts = (tmp_path / "built/assets").glob("*.js")
    scene.shop.files = {f"/assets/{path.name}": path.read_text(encoding="utf-8") for path in scripts}
    base = scene.server.base_url
    scene.shop.headers = {"Content-Security-Policy": f"script-src 'self' {base}; connect-src {base}"}
    return scene


async def test_the_example_signs_a_visitor_up_with_and_without_an_ad_blocker(example: Scene):
    await example.context.route("**/js/svc-tracker.js", lambda route: route.abort())
    blocked = await example.visit("/?aff=anna")
    await blocked.fill("input[name=email]", "jane@example.com")
    await blocked.click("button")
    await blocked.wait_for_selector("text=Welcome. (The tracker could not be loaded.)")
    assert example.calls == []
    await example.context.unroute("**/js/svc-tracker.js")

    page, click_id = await example.arrive("anna")
    await page.fill("input[name=email]", "jane@example.com")
    await page.click("button")
    await page.wait_for_selector("text=Welcome. Lead recorded; your server must confirm it.")

    named = {"click_id": click_id, "customer_key": "user-of-jane@example.com", "email": "jane@example.com"}
    assert example.sent("lead") == [named | {"additional_data": {"program_id": example.acme.program_id}}]
    assert len(example.sent("click")) == 1
    assert await page.locator("script[data-svc-program-id]").count() == 1


def test_the_tracker_is_what_its_source_builds(tmp_path: Path):
    subprocess.run(["node", "build.mjs", tmp_path / "built.js"], cwd=TRACKER, check=True)

    committed = assets.TRACKER_FOLDER / assets.TRACKER
    assert (tmp_path / "built.js").read_bytes() == committed.read_bytes(), "npm run build --prefix browser/tracker"
