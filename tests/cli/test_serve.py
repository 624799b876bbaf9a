"""`svc serve` and `svc demo` as real processes: what they print, why they do not start, how they stop."""

import json
import re
import signal
import socket
from contextlib import ExitStack

import httpx
import pytest

from cli import serve
from tests.cli.conftest import Svc, execute
from tests.tables import table

UNUSABLE = table("cli/cases.toml")["unusable"]


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_an_empty_server_migrates_and_prints_url_and_code(svc: Svc, request: pytest.FixtureRequest, kind: str) -> None:
    environment, workers, log_format = {}, 1, "console"
    if kind == "postgresql":
        environment, workers, log_format = {"SVC_DATABASE_URL": request.getfixturevalue("postgres_url")}, 2, "json"
    with ExitStack() as stack:
        addresses, codes = [], []
        for _ in range(workers):
            serving = svc.running("serve", "--port", 0, "--workers", workers, SVC_LOG_FORMAT=log_format, **environment)
            server = stack.enter_context(serving)
            assert server.stdout
            lines = [server.stdout.readline() for _ in range(3)]
            served, link, alone = (json.loads(each)["event"] if log_format == "json" else each for each in lines)
            assert served.startswith("Serving on http://127.0.0.1:")
            addresses.append(served.split()[2])
            codes.append(alone.split()[-1])
            assert link.split()[-1] == f"{addresses[-1]}/set-up?code={codes[-1]}"

        for address in addresses:
            ready = httpx.get(f"{address}/readyz", timeout=60)
            assert (ready.json(), "server" in ready.headers) == ({"status": "ok"}, False)
            opened = [httpx.get(f"{address}/set-up?code={code}", timeout=60).status_code for code in (*codes, "set_x")]
            assert opened == [*[200] * len(codes), 404]
    assert len(set(codes)) == 1
    assert svc.database.exists() is (kind == "sqlite")


def test_a_server_with_a_workspace_prints_no_code(svc: Svc) -> None:
    svc.set_up()

    with svc.serving() as (server, _):
        assert server.stdout
        server.terminate()
        assert server.stdout.read() == ""


def test_demo_serves_a_workspace_whose_key_works_and_leaves_nothing_behind(svc: Svc) -> None:
    with svc.running("demo", "--port", 0) as demo:
        assert demo.stdout
        printed = "".join(iter(demo.stdout.readline, "Try\n"))
        address = re.findall(r"http://[\d.:]+", printed)[0]
        key = re.findall(r"aff_\S+", printed)[0]

        health = httpx.get(
            f"{address}/api/v1/cli/status", headers={"Authorization": f"Bearer {key}"}, timeout=60
        ).json()["data"]

    assert health["name"] == "Ledgerly"
    assert health["active_partners"] == 7
    assert all(step["done"] for step in health["checklist"])
    assert list(svc.folder.glob("svc-demo-*")) == []
    assert not svc.database.exists()


def test_serve_stops_at_a_wrong_value_without_a_traceback(svc: Svc):
    wrong = svc("serve", "--port", "0", SVC_CLICK_RATE="often", SVC_BODY_SECONDS="soon")
    workers = svc("serve", "--port", 0, "--workers", 2, SVC_BASE_ULR="https://a.example", SVC_NONSENSE="1")
    with socket.create_server(("127.0.0.1", 0)) as other:
        metrics = svc("serve", "--port", 0, SVC_METRICS_PORT=str(other.getsockname()[1]))

    assert (wrong.code, workers.code, metrics.code) == (1, 1, 1)
    assert metrics.stderr.splitlines()[-1] == "Choose another SVC_METRICS_PORT."
    assert [line.split(":")[0] for line in wrong.stderr.splitlines()] == ["Error", "SVC_BODY_SECONDS"]
    assert "SVC_CLICK_RATE" in wrong.stderr
    _version, misspelt, unknown, *error = workers.stderr.splitlines()
    assert "no setting is called SVC_BASE_ULR; is SVC_BASE_URL meant?" in misspelt
    assert "no setting is called SVC_NONSENSE [" in unknown
    assert error == [f"Error: {serve.ONE_WRITER}", "Use --workers 1, or PostgreSQL."]


def test_serve_says_in_one_line_why_the_database_cannot_be_used(svc: Svc):
    (svc.folder / "garbage.db").write_text("garbage " * 1000)
    (svc.folder / "a-folder").mkdir()
    execute(svc.folder / "9999.db", "CREATE TABLE alembic_version AS SELECT '9999' AS version_num")

    for url, message in UNUSABLE.items():
        stopped = svc("serve", "--port", 0, SVC_DATABASE_URL=url)

        assert stopped.code == 1, url
        error, advice = stopped.stderr.splitlines()[-2:]
        assert error.startswith("Error: " + message.format(folder=svc.folder))
        assert advice, url


def test_a_process_that_drains_says_so_and_serves_on(svc: Svc):
    with svc.serving(SVC_DRAIN_SECONDS="20") as (server, address), httpx.Client(timeout=60) as client:
        server.terminate()
        while (ready := client.get(f"{address}/readyz")).status_code == 200:
            pass
        served = client.get(f"{address}/healthz").status_code
        server.send_signal(signal.SIGINT)
        server.wait(timeout=20)

    assert (ready.status_code, served) == (503, 200)
