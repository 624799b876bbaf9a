"""Every package that the code imports is declared, and the locks pin each one by version and hash."""

import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

from tests.needs import NEEDS
from tests.test_architecture import OURS, ROOT, imported, relative, sources

PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
NEEDED: list[str] = PROJECT["project"]["dependencies"]
EXTRAS: list[str] = [each for extra in PROJECT["project"]["optional-dependencies"].values() for each in extra]
DEVELOPMENT: list[str] = [each for each in PROJECT["dependency-groups"]["dev"] if isinstance(each, str)]
PROVIDERS = packages_distributions()  # import name: the packages that provide it
PINNED = re.compile(r"[\w.-]+==\S+.*( \\\n    --hash=sha256:[0-9a-f]{64})+$")


def names(requirements: list[str]) -> set[str]:
    """Return the normalized names of packages."""
    found = (re.match(r"[\w.-]+", requirement) for requirement in requirements)
    return {normalized(name[0]) for name in found if name}


def normalized(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def undeclared(path: Path, declared: set[str]) -> list[str]:
    """Return the packages of others that a file imports and nobody declared."""
    packages = {module.split(".")[0] for module in imported(path)} - OURS - sys.stdlib_module_names
    providers = {package: set(map(normalized, PROVIDERS.get(package, [package]))) for package in packages}
    return [f"{relative(path)} imports {package}" for package, by in providers.items() if not by & declared]


def test_the_service_declares_what_it_imports_and_so_do_its_tests():
    files = {path: path.relative_to(ROOT).parts[0] for path in sources()}
    service = [path for path, folder in files.items() if folder not in {"tests", "benchmarks", "sdks"}]
    development = [path for path, folder in files.items() if folder in {"tests", "benchmarks"}]

    assert [found for path in service for found in undeclared(path, names(NEEDED + EXTRAS))] == []
    assert [found for path in development for found in undeclared(path, names(NEEDED + DEVELOPMENT))] == []


def test_a_lock_pins_every_package_by_version_and_hash():
    for lock in ("requirements.lock", "requirements-dev.lock"):
        content = (ROOT / lock).read_text(encoding="utf-8")
        pinned = re.split(r"\n(?=[a-z])", re.sub(r"^#.*\n", "", content, flags=re.MULTILINE).strip())

        assert [entry for entry in pinned if not PINNED.match(entry)] == [], lock
        assert names(NEEDED) <= names(pinned), lock
        assert "://" not in content, lock
        assert "index-url" not in content, lock


def test_no_lock_of_npm_names_a_registry():
    tests = [ROOT / need.name / "package-lock.json" for need in NEEDS if need.kind == "npm"]
    locks = {relative(path): path.read_text(encoding="utf-8") for path in [*ROOT.glob("*/*/package-lock.json"), *tests]}

    assert len(locks) >= 9
    assert [path for path, lock in locks.items() if '"resolved"' in lock or re.search("registry[./]", lock)] == []
