"""Two processes behind the proxy files of deploy/, restarted one after the other while clicks arrive: none fails."""

import asyncio
import re
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

import storage
from tests import postgres, world
from tests.conftest import ROOT, LiveServer
from tests.snippets.test_proxies import running
from tests.world import LANDING_PAGE

DEPLOY = ROOT / "deploy"
TEMPORARY = "".join(f"{kind}_temp_path {kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))


@pytest.mark.parametrize("server", ["nginx", "caddy"])
async def test_two_processes_are_restarted_one_after_the_other_without_a_failed_call(
    server: str, postgres_url: str, live_server: Callable[..., LiveServer], tmp_path: Path
):
    async with storage.opened(postgres_url) as store:
        program_id = (await world.acme(store)).program_id
    servers = [live_server(postgres_url) for _ in range(2)]
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
            if server == "caddy":
                await asyncio.to_thread(reload, tmp_path, *(each for each in ports if each != port))
            process.process.terminate()
            await asyncio.to_thread(process.process.wait)
            await asyncio.to_thread(live_server, postgres_url, port=port)
            if server == "caddy":
                await asyncio.to_thread(reload, tmp_path, *ports)
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
        site = re.sub(r"listen 443.*|ssl_certificate.*", "", site).replace(
            "server {", f"server {{ listen 127.0.0.1:{port};"
        )
        site = site.replace("/var/log/nginx", str(folder))
        site = f"daemon off; pid nginx.pid; error_log stderr; events {{}} http {{ {TEMPORARY} {site} }}"
    else:
        admin = f"admin unix/{folder}/admin"
        site = f"{{\n{admin}\nauto_https off\n}}\n" + site.replace("track.example {", f"http://127.0.0.1:{port} {{")
    with running(server, port, site, folder, "/readyz") as url:
        assert httpx.get(f"{url}/metrics").status_code == 404
        yield url


def reload(folder: Path, *ports: int) -> None:
    """Let Caddy send calls to these processes alone."""
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(folder)}
    environment["UPSTREAMS"] = " ".join(f"127.0.0.1:{port}" for port in ports)
    command = ["caddy", "reload", "--adapter", "caddyfile", "--config", "configuration.mjs"]
    subprocess.run(
        [*command, "--address", f"unix/{folder}/admin"], cwd=folder, env=environment, check=True, capture_output=True
    )
