"""What is committed is what the source builds, small enough for every page, and part of the Python package."""

import gzip
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tracking_api import assets

ROOT = Path(__file__).parent.parent.parent
SOURCE = ROOT / "browser/tracker"
SCRIPT = assets.TRACKER_FOLDER / assets.TRACKER
NO_ESBUILD = "esbuild is not installed (npm ci --prefix browser/tracker)"
LOCKS = sorted(path for path in ROOT.glob("*/*/package-lock.json"))


def test_the_tracker_is_what_its_source_builds(tmp_path: Path):
    if not (SOURCE / "node_modules/esbuild").is_dir():
        pytest.skip(NO_ESBUILD)

    subprocess.run(["node", "build.mjs", tmp_path / "built.js"], cwd=SOURCE, check=True)

    assert (tmp_path / "built.js").read_bytes() == SCRIPT.read_bytes(), "npm run build --prefix browser/tracker"


def test_the_tracker_is_under_3_kb_compressed():
    assert len(gzip.compress(SCRIPT.read_bytes())) < 3 * 1024


def test_a_python_install_carries_the_tracker(tmp_path: Path):
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)

    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as wheel:
        assert wheel.read("tracking_api/static/svc-tracker.js") == SCRIPT.read_bytes()


@pytest.mark.parametrize("lock", LOCKS, ids=lambda path: path.parent.name)
def test_no_lock_says_where_packages_were_downloaded_from(lock: Path):
    content = lock.read_text(encoding="utf-8")

    assert "registry" not in content
    assert '"resolved"' not in content
