"""Recipes of the guides for proxies, commands of the guides while the service fails, and the files of deploy/."""

import asyncio
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import trustme
from playwright.async_api import Page

from presentation import guides
from presentation.guides import Filling
from tests import failing, postgres, world
from tests.browser.conftest import scene, service  # noqa: F401 - fixtures
from tests.browser.scene import Scene
from tests.conftest import ROOT, LiveServer
from tests.failing import CUTS, ERRORS
from tests.serving import Serve
from tests.tables import table
from tests.test_journeys import stored
from tests.world import LANDING_PAGE

DEPLOY = ROOT / "deploy"
NODE = Path(__file__).parent / "node/node_modules"
TEMPORARY = "".join(f"{kind}_temp_path {kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
TEMPLATES = Path(__file__).parent / "proxies"
WRITTEN: dict[str, Any] = table("snippets/proxies/recipes.toml")


@contextmanager
def running(server: str, port: int, configuration: str, folder: Path, ready: str = "/") -> Iterator[str]:
    """Run a server with a configuration until the block ends; give its URL, at which a page is ready."""
    (folder / "configuration.mjs").write_text(configuration)
    environment = {"PATH": "/usr/sbin:/usr/bin:/bin", "HOME": str(folder)}
    with (folder / "log").open("wb") as log:
        command = [sys.executable if part == "python" else part for part in WRITTEN["servers"][server]]
        process = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log, env=environment)
    try:
        with httpx.Client(transport=httpx.HTTPTransport(retries=8)) as client:  # waits while nothing listens
            assert client.get(f"http://127.0.0.1:{port}{ready}").status_code == 200, (folder / "log").read_text()
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait()


@contextmanager
def proxied(server: str, recipe: str, page: str, folder: Path, helper: str) -> Iterator[str]:
    """Serve a page behind a proxy until the block ends; returns the shop's URL."""
    template, port = (TEMPLATES / f"{server}.txt").read_text(encoding="utf-8"), postgres.free_port()
    (folder / "node_modules").symlink_to(NODE)
    (folder / "index.html").write_text(f"<!doctype html><html><head>{page}</head><body>The shop</body></html>")
    with running(server, port, template.format(port=port, folder=folder, recipe=recipe, helper=helper), folder) as url:
        yield url


@pytest.mark.parametrize("name", WRITTEN["recipes"])
async def test_a_recipe_forwards_the_tracker_and_its_calls_and_no_cookie(scene: Scene, name: str, tmp_path: Path):  # noqa: F811 - the fixture
    recipe, tag, elsewhere = WRITTEN["recipes"][name].values()
    asked: list[str] = []
    with failing.running(scene.server.base_url) as between:
        filling = Filling(between.base_url, scene.acme.program_id)
        code, page = (guides.blocks(guide, filling)[name] for guide, name in (recipe, tag))
        helper = guides.blocks("snippets", filling)["python_proxy"]
        with proxied(recipe[1].partition("_")[0], code, page, tmp_path, helper) as url:
            await scene.context.add_cookies([{"name": "session", "value": "of the shop", "url": url}])
            visitor = await scene.tab()
            visitor.on("request", lambda request: asked.append(request.url))

            click_id = await visits(visitor, f"{url}/?aff=anna")
            answer = await visitor.evaluate("svc.signup('user-1', 'jane@example.com')")
            async with httpx.AsyncClient(base_url=url) as client:
                assert (await client.get(elsewhere)).status_code == 404
                assert (await client.post(elsewhere)).status_code in {404, 405}
            seen = list(between.received)
            between.answers = [CUTS]
            await (await scene.tab()).goto(f"{url}/?aff=anna")  # no page throws

        assert answer["provisional"] is True
        assert [each for each in asked if not each.startswith(url)] == []
        assert "proxied" in recipe[1] or [each for each in asked if "track" in each or "svc" in each] == []
        assert (await scene.cookie())["value"] == click_id
        assert {call.path for call in seen} == {*("/js/svc-tracker.js", "/api/v1/track/click", "/api/v1/track/lead")}
        for call in seen:
            assert call.headers.keys().isdisjoint({"cookie", "authorization"})
            assert call.headers["host"] == between.base_url.removeprefix("http://")
        assert {call.headers["x-forwarded-for"] for call in seen if "track/" in call.path} == {"127.0.0.1"}


async def visits(page: Page, url: str) -> str:
    """Follow a partner's link, and return the click id that the visitor then carries."""
    async with page.expect_response(lambda response: response.url.endswith("/click")) as caught:
        await page.goto(url)
    click_id = str((await (await caught.value).json())["click_id"])
    await page.wait_for_function("id => document.cookie.includes(id)", arg=click_id)
    return click_id


def test_nginx_accepts_the_example(tmp_path: Path):
    authority = trustme.CA()
    certificate = authority.issue_cert("track.example")
    certificate.private_key_and_cert_chain_pem.write_to_path(tmp_path / "track.pem")
    site = (DEPLOY / "nginx.conf").read_text(encoding="utf-8").replace("/var/log/nginx", str(tmp_path))
    site = re.sub(r"/etc/letsencrypt/\S+\.pem", str(tmp_path / "track.pem"), site)
    (tmp_path / "nginx.conf").write_text(f"pid {tmp_path}/pid; events {{}} http {{ {site} }}", encoding="utf-8")

    command = ["nginx", "-t", "-p", str(tmp_path), "-c", str(tmp_path / "nginx.conf"), "-e", str(tmp_path / "log")]
    tested = subprocess.run(command, capture_output=True, text=True, check=False)

    assert tested.returncode == 0, tested.stderr


def commands(base_url: str) -> dict[str, str]:
    """Return the steps of the checklist that are commands."""
    return {name: code for name, code in guides.blocks("verify", Filling(base_url, 1)).items() if "curl" in code}


def run(command: str) -> subprocess.CompletedProcess[str]:
    """Run a command in the shell of an integrator, who has the key in the environment."""
    bash = ["bash", "-o", "pipefail", "-c", command]
    environment = {"PATH": "/usr/bin:/bin", "SERVICE_API_KEY": "aff_1_x"}
    return subprocess.run(bash, env=environment, capture_output=True, text=True, check=False)


def test_every_command_shows_an_error():
    with failing.running() as failed:
        steps = commands(failed.base_url)
        for code in ERRORS:
            failed.answers = [code]
            done = run("\n".join(f"{step}\necho" for step in steps.values()) + '\necho "click: $CLICK_ID"')
            assert (code, done.returncode) == (code, 0)
            assert re.findall(r'"code": "(\w+)"', done.stdout + done.stderr) == [code] * len(steps)
            assert done.stdout.endswith("click: \n")


async def test_the_tracker_guide_s_command_names_the_pinned_copy(serve: Serve, sqlite_url: str):
    code = guides.blocks("tracker", Filling(serve(sqlite_url).base_url, 1))["tracker_pinned"]

    done = await asyncio.to_thread(run, code)

    assert done.stdout.lower().startswith("content-location: svc-tracker.")


@pytest.mark.parametrize("server", ["nginx", "caddy"])
async def test_two_processes_are_restarted_one_after_the_other_without_a_failed_call(
    server: str, postgres_url: str, live_server: Callable[..., LiveServer], tmp_path: Path
):
    program_id = (await stored(postgres_url, world.acme)).program_id
    drains = {"SVC_DRAIN_SECONDS": "3"} if server == "caddy" else {}
    servers = [live_server(postgres_url, **drains) for _ in range(2)]
    ports = [int(each.base_url.rpartition(":")[2]) for each in servers]
    click = {"program_id": program_id, "affiliate_url": LANDING_PAGE}
    statuses, stop = Counter[int](), asyncio.Event()
    with proxy_of(server, ports, tmp_path) as url:

        async def send() -> None:
            visitor = {"Connection": "close"}  # each click is another visitor's
            async with httpx.AsyncClient(base_url=url, headers=visitor, timeout=60) as client:
                while not stop.is_set():
                    statuses[(await client.post("/api/v1/track/click", json=click)).status_code] += 1

        sending = [asyncio.create_task(send()) for _ in range(4)]
        for process, port in zip(servers, ports, strict=True):
            process.process.terminate()
            await asyncio.to_thread(process.process.wait)
            await asyncio.to_thread(live_server, postgres_url, port=port, **drains)
        stop.set()
        await asyncio.gather(*sending)

    assert statuses.keys() == {200}, statuses
    assert statuses[200] > 100


@contextmanager
def proxy_of(server: str, ports: list[int], folder: Path) -> Iterator[str]:
    """Run a proxy by its file in deploy/, without TLS, before two processes; give its URL."""
    port = postgres.free_port()
    site = (DEPLOY / {"nginx": "nginx.conf", "caddy": "Caddyfile"}[server]).read_text(encoding="utf-8")
    for example, real in zip(("127.0.0.1:8000", "127.0.0.1:8001"), ports, strict=True):
        site = site.replace(example, f"127.0.0.1:{real}")
    if server == "nginx":
        site = re.sub(r"listen 443.*|ssl_certificate.*", "", site).replace("/var/log/nginx", str(folder))
        site = site.replace("server {", f"server {{ listen 127.0.0.1:{port};")
        site = f"daemon off; pid nginx.pid; error_log stderr; events {{}} http {{ {TEMPORARY} {site} }}"
    else:
        site = "{\nadmin off\nauto_https off\n}\n" + site.replace("track.example {", f"http://127.0.0.1:{port} {{")
    with running(server, port, site, folder, "/readyz") as url:
        assert httpx.get(f"{url}/metrics").status_code == 404
        yield url
