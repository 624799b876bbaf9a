"""The official conformance suite's scenarios for an authorization server, against the real one, with a real consent."""

import asyncio
import re
from pathlib import Path

import httpx

from tests import postgres
from tests.mcp_server.test_clients import MODULES, node
from tests.tracking_api.authorization.consenting import consent
from tests.tracking_api.dashboard.pages.conftest import Site

__all__ = ["node"]  # the fixture


async def test_the_conformance_suite_completes_a_grant_and_finds_the_metadata_sound(
    node: Path, site: Site, tmp_path: Path
) -> None:
    base_url, port = site.server.base_url, postgres.free_port()
    async with httpx.AsyncClient(base_url=base_url) as client:
        metadata = {"redirect_uris": [f"http://127.0.0.1:{port}/callback"], "client_name": "Suite"}
        client_id = (await client.post("/register", json=metadata)).json()["client_id"]
    suite = MODULES / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
    about = ["--url", base_url, "--client-id", client_id, "--resource", f"{base_url}/mcp", "--port", str(port)]
    page, said = await site.visit(), ""

    process = await asyncio.create_subprocess_exec(
        node, suite, "authorization", *about, cwd=tmp_path, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    async with asyncio.timeout(60):
        async for line in process.stdout:
            said += line.decode()
            if line.startswith(f"{base_url}/authorize?".encode()):
                await consent(page, line.decode().strip())
        ended = await process.wait()
    await page.close()
    site.said.clear()  # what the suite's own page lacks, an icon for one, is not ours

    passed = set(re.findall(r"^✓ ([\w-]+):", re.sub(r"\x1b\[[0-9;]*m", "", said), re.MULTILINE))
    assert ended == 0, said
    assert passed == {"authorization-server-metadata-endpoint", "authorization-code-grant"}, said
