"""Python's SDK as it would be published: complete, typed, of the service's version, and without dependencies."""

import email
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

from tests.conftest import ROOT
from tests.test_architecture import imported

VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
PACKAGE = ROOT / "sdks/python/src/svc_affiliate"
HELPERS = {"django", "fastapi", "flask"}


def test_the_python_package_has_the_service_s_version_its_licence_types_and_no_dependencies(built_python: Path):
    with zipfile.ZipFile(next(built_python.glob("*.whl"))) as wheel:
        names = wheel.namelist()
        described = email.message_from_bytes(wheel.read(next(name for name in names if name.endswith("METADATA"))))

    assert (described["Name"], described["Version"]) == ("svc-affiliate", VERSION)
    assert described["License-Expression"] == "Apache-2.0"
    assert described.get_all("Requires-Dist") is None
    assert "track.sale" in str(described.get_payload())
    assert {"svc_affiliate/py.typed", f"svc_affiliate-{VERSION}.dist-info/licenses/LICENSE"} <= set(names)


def test_the_source_distribution_builds_the_same_wheel(built_python: Path, tmp_path: Path):
    with tarfile.open(next(built_python.glob("*.tar.gz"))) as archive:
        archive.extractall(tmp_path, filter="data")
    (source,) = tmp_path.iterdir()

    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=source, check=True, capture_output=True)

    (again,), (first,) = tmp_path.glob("*.whl"), built_python.glob("*.whl")
    assert again.read_bytes() == first.read_bytes()


def test_the_python_sdk_imports_the_standard_library_and_a_helper_its_framework():
    beyond = {
        (path.stem, module.split(".")[0])
        for path in PACKAGE.glob("*.py")
        for module in imported(path)
        if module.split(".")[0] not in {*sys.stdlib_module_names, "svc_affiliate"}
    }

    assert beyond == {(name, name) for name in HELPERS}


def test_the_installed_package_is_imported_without_a_framework(built_python: Path):
    check = (
        "import svc_affiliate, sys; print(svc_affiliate.VERSION, *{'django', 'flask', 'fastapi'} & sys.modules.keys())"
    )
    command = [
        sys.executable,
        "-I",
        "-c",
        f"import sys; sys.path.insert(0, {str(built_python / 'installed')!r}); {check}",
    ]

    done = subprocess.run(command, check=True, capture_output=True, text=True)

    assert done.stdout.split() == [VERSION]
