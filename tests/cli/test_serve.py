"""`svc serve` and `svc demo` as real processes."""

import re

import httpx

from tests.cli.conftest import Svc


def test_serve_migrates_says_where_it_is_and_answers(svc: Svc) -> None:
    with svc.running("serve", "--port", 0) as server:
        assert server.stdout
        line = server.stdout.readline()
        address = line.split()[2]

        ready = httpx.get(f"{address}/readyz")

    assert line.startswith("Serving on http://127.0.0.1:")
    assert ready.json() == {"status": "ok"}
    assert "server" not in ready.headers
    assert svc.database.exists()


def test_demo_serves_a_workspace_whose_key_works_and_leaves_nothing_behind(svc: Svc) -> None:
    with svc.running("demo", "--port", 0) as demo:
        assert demo.stdout
        told = "".join(iter(demo.stdout.readline, "Try\n"))
        address = re.findall(r"http://[\d.:]+", told)[0]
        key = re.findall(r"aff_\S+", told)[0]

        health = httpx.get(f"{address}/api/v1/cli/status", headers={"Authorization": f"Bearer {key}"}).json()["data"]

    assert health["name"] == "Ledgerly"
    assert health["active_partners"] == 7
    assert all(step["done"] for step in health["checklist"])
    assert list(svc.folder.glob("svc-demo-*")) == []
    assert not svc.database.exists()


def test_serve_stops_at_a_wrong_value_without_a_traceback(svc: Svc):
    stopped = svc("serve", "--port", "0", SVC_CLICK_RATE="often", SVC_BODY_SECONDS="soon")

    assert stopped.code == 1
    assert [line.split(":")[0] for line in stopped.stderr.splitlines()] == ["Error", "SVC_BODY_SECONDS"]
    assert "SVC_CLICK_RATE" in stopped.stderr
