"""The integrator's `svc` as a package of its own declares what it imports, and imports nothing of the server's."""

import tomllib

from tests.conftest import ROOT
from tests.test_architecture import OURS, imported
from tests.test_deploy import NEEDED, PROVIDERS, names, normalized

PACKAGE = tomllib.loads((ROOT / "sdks/cli/pyproject.toml").read_text(encoding="utf-8"))
SOURCES = [ROOT / "cli/main.py", *(ROOT / "cli/integrator").rglob("*.py")]


def test_it_declares_what_it_imports_as_the_server_does():
    packages = {module.split(".")[0] for path in SOURCES for module in imported(path)} - OURS
    providers = {normalized(each) for package in packages for each in PROVIDERS.get(package, ())}
    needed = PACKAGE["project"]["dependencies"]

    assert names(needed) == providers
    assert set(needed) <= set(NEEDED)


def test_commands_for_integrators_import_no_other_half_of_the_command():
    others = {
        f"{path.name} imports {module}"
        for path in SOURCES
        for module in imported(path)
        if module.startswith("cli.") and not module.startswith("cli.integrator")
    }

    assert others == set()
