"""The guides' proxies: a real nginx and Caddy serve a shop whose tracker and calls come from its own domain."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from playwright.async_api import Page

from presentation import guides
from presentation.guides import Filling
from tests import postgres
from tests.browser.scene import Scene
from tests.examples import relay

NGINX = """daemon off; master_process off; pid nginx.pid; error_log stderr;
events {{}}
http {{
    access_log off;
    client_body_temp_path body; proxy_temp_path proxy;
    fastcgi_temp_path other; uwsgi_temp_path other; scgi_temp_path other;
    server {{
        listen 127.0.0.1:{port};
        root {folder};
        {recipe}
    }}
}}"""
CADDY = """{{
    admin off
    auto_https off
}}
http://:{port} {{
    root * {folder}
    {recipe}
    file_server
}}"""
COMMANDS = {
    "nginx": (NGINX, ["nginx", "-e", "stderr", "-p", ".", "-c", "configuration"]),
    "caddy": (CADDY, ["caddy", "run", "--adapter", "caddyfile", "--config", "configuration"]),
}
PROXIES = [  # the recipe, the tag that it belongs to, and a path that is not the service's
    (("tracker", "nginx_proxied"), ("tracker", "proxied_tag"), "/svc/api/v1/cli/status"),
    (("tracker", "caddy_proxied"), ("tracker", "proxied_tag"), "/svc/api/v1/cli/status"),
    (("tracker", "nginx_renamed"), ("tracker", "renamed_tag"), "/assets/other"),
    (("tracker", "caddy_renamed"), ("tracker", "renamed_tag"), "/assets/other"),
    (("cases", "nginx_proxy"), ("cases", "cases_tracker"), "/assets/other"),
]


@contextmanager
def proxied(server: str, recipe: str, page: str, folder: Path) -> Iterator[str]:
    """Serve a page behind a proxy until the block ends; returns the shop's URL."""
    template, command = COMMANDS[server]
    if shutil.which(server) is None:
        pytest.skip(f"{server} is not installed (Debian: see .ci/run)")
    port = postgres.free_port()
    (folder / "configuration").write_text(template.format(port=port, folder=folder, recipe=recipe))
    (folder / "index.html").write_text(f"<!doctype html><html><head>{page}</head><body>The shop</body></html>")
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            command, cwd=folder, stdout=log, stderr=log, env={"PATH": "/usr/sbin:/usr/bin:/bin", "HOME": str(folder)}
        )
    try:
        transport = httpx.HTTPTransport(retries=8)  # waits ever longer while nothing listens
        with httpx.Client(transport=transport) as client:
            assert client.get(f"http://127.0.0.1:{port}/").status_code == 200, (folder / "log").read_text()
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(timeout=20)


@pytest.mark.parametrize(("recipe", "tag", "elsewhere"), PROXIES, ids=[f"{each[0][1]}" for each in PROXIES])
async def test_a_recipe_forwards_the_tracker_and_its_calls_and_no_cookie(
    recipe: tuple[str, str], tag: tuple[str, str], elsewhere: str, scene: Scene, tmp_path: Path
):
    with relay.before(scene.server.base_url) as between:
        filling = Filling(between.base_url, scene.acme.program_id)
        code, page = (guides.blocks(guide, filling)[name] for guide, name in (recipe, tag))
        with proxied(recipe[1].partition("_")[0], code, page, tmp_path) as url:
            await scene.context.add_cookies([{"name": "session", "value": "of the shop", "url": url}])
            visitor = await scene.tab()

            click_id = await visits(visitor, f"{url}/?aff=anna")
            answer = await visitor.evaluate("svc.signup('user-1', 'jane@example.com')")
            async with httpx.AsyncClient(base_url=url) as client:
                assert (await client.get(elsewhere)).status_code == 404
                assert (await client.post(elsewhere)).status_code in {404, 405}
            seen = list(between.seen)
            between.fault = relay.DOWN
            await (await scene.tab()).goto(f"{url}/?aff=anna")  # no page throws

        assert answer["provisional"] is True
        assert (await scene.cookie())["value"] == click_id
        assert {path for path, _, _ in seen} == {*("/js/svc-tracker.js", "/api/v1/track/click", "/api/v1/track/lead")}
        for _, headers, _ in seen:
            assert headers.keys().isdisjoint({"cookie", "authorization"})
            assert headers["host"] == between.base_url.removeprefix("http://")
        assert {headers["x-forwarded-for"] for path, headers, _ in seen if "track/" in path} == {"127.0.0.1"}


async def visits(page: Page, url: str) -> str:
    """Follow a partner's link, and return the click id that the visitor then carries."""
    async with page.expect_response(lambda response: response.url.endswith("/click")) as caught:
        await page.goto(url)
    click_id = str((await (await caught.value).json())["click_id"])
    await page.wait_for_function("id => document.cookie.includes(id)", arg=click_id)
    return click_id
