"""Python's packages as they would be published: the SDK needs nothing, the integrator's `svc` no server."""

import email
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

from tests.conftest import ROOT
from tests.test_architecture import OURS, imported
from tests.test_deploy import NEEDED, PROVIDERS, names, normalized

VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
COMMAND = tomllib.loads((ROOT / "sdks/cli/pyproject.toml").read_text(encoding="utf-8"))
SOURCES = [ROOT / "cli/main.py", *(ROOT / "cli/integrator").rglob("*.py")]


def test_the_python_package_has_the_service_s_version_its_licence_types_and_no_dependencies(built_python: Path):
    with zipfile.ZipFile(next(built_python.glob("*.whl"))) as wheel:
        names = wheel.namelist()
        described = email.message_from_bytes(wheel.read(next(name for name in names if name.endswith("METADATA"))))

    assert (described["Name"], described["Version"]) == ("svc-affiliate", VERSION)
    assert described["License-Expression"] == "Apache-2.0"
    assert described.get_all("Requires-Dist") is None
    assert "track.sale" in str(described.get_payload())
    assert {"svc_affiliate/py.typed", f"svc_affiliate-{VERSION}.dist-info/licenses/LICENSE"} <= set(names)


def test_the_installed_package_is_imported_without_anything_else(built_python: Path):
    check = f"import sys; sys.path.insert(0, {str(built_python / 'installed')!r}); import svc_affiliate as sdk"
    command = [sys.executable, "-I", "-S", "-c", f"{check}; print(sdk.VERSION)"]  # without site-packages

    done = subprocess.run(command, check=True, capture_output=True, text=True)

    assert done.stdout.split() == [VERSION]


def test_the_command_declares_what_it_imports_as_the_server_does():
    packages = {module.split(".")[0] for path in SOURCES for module in imported(path)} - OURS
    providers = {normalized(each) for package in packages for each in PROVIDERS.get(package, ())}
    needed = COMMAND["project"]["dependencies"]

    assert names(needed) == providers
    assert set(needed) <= set(NEEDED)
