"""The files of deploy/ name metrics, settings and paths that exist."""

import json
import re
from importlib.metadata import distribution

from configuration import Configuration, variable_of
from storage.engine.measures import StorageMeasures, batches
from tests.test_architecture import ROOT
from web.metrics import registry

DEPLOY = ROOT / "deploy"
FILES = sorted(path for path in DEPLOY.iterdir() if path.is_file())
SUFFIXES = ("_total", "_bucket", "_sum", "_count")


def metrics() -> set[str]:
    """Return the names of the service's metrics, as its documentation and its scrape have them."""
    now = StorageMeasures(batches(), 1, 0, 0, {"writing": True}, 1.0)
    return {metric.name for metric in registry(lambda: now).collect()}


def test_every_metric_and_variable_that_is_named_exists():
    known = metrics() | {"svc_click_id"}
    variables = {*map(variable_of, Configuration.model_fields), "SVC_SECRET_KEY_OLD"}
    for path in [*FILES, *(ROOT / name for name in ("Dockerfile", "docs/configuration.md", "docs/operations.md"))]:
        text = path.read_text(encoding="utf-8")
        named = re.findall(r"\bsvc_[a-z_]+(?=[{[( )`\s,*]|$)", text)
        bare = {name.removesuffix(next((each for each in SUFFIXES if name.endswith(each)), "")) for name in named}

        assert bare - known == set(), path
        assert set(re.findall(r"\bSVC_[A-Z_]+\b", text)) <= variables, path


def test_every_alert_says_what_to_do():
    alerts = re.findall(r"alert: (\w+)", (DEPLOY / "alerts.yaml").read_text(encoding="utf-8"))
    advice = re.findall(r"^\| `(\w+)` \|", (ROOT / "docs/operations.md").read_text(encoding="utf-8"), re.MULTILINE)

    assert advice == alerts


def test_the_dashboard_is_one_that_grafana_reads():
    board = json.loads((DEPLOY / "grafana.json").read_text(encoding="utf-8"))

    assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"]) == 12
    assert all(target["expr"] for panel in board["panels"] for target in panel["targets"])


def test_the_image_copies_every_package():
    kept = {line[1:] for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines() if line[0] == "!"}

    packages = {"agent_api", "cli", "mcp_server", "presentation", "storage", "tracking_api", "web"}
    files = {"asgi.py", "background.py", "configuration.py", "pyproject.toml", "requirements.lock"}
    assert kept == packages | files | {"docs/*.md", "LICENSE", "README.md"}
    assert all(list(ROOT.glob(name)) for name in kept)


def test_the_packages_leave_room_for_the_base_image_in_200_mb():
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    packages = re.findall(r"^([\w.-]+)==[^;\n]+ \\$", lock, re.MULTILINE)  # without those of some platforms alone

    sizes = {name: sum(file.size or 0 for file in distribution(name).files or []) for name in packages}

    assert len(sizes) > 50
    largest = sorted(sizes.items(), key=lambda each: -each[1])[:5]
    # 115 MB are 68 in the image: libraries are stripped, locales deleted.
    assert sum(sizes.values()) < 120_000_000, largest
