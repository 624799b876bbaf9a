"""The house rules, enforced: who may import whom, how long a file may be, what opens it, where a dialect may stand."""

import ast
import re
from functools import cache
from pathlib import Path

from storage import tables
from storage.rules import errors

ROOT = Path(__file__).parent.parent
FOLDERS = (
    *("agent_api", "benchmarks", "cli", "mcp_server", "presentation"),
    *("sdks", "storage", "tests", "tracking_api", "web"),
)
ROOT_FILES = ("asgi.py", "background.py", "configuration.py")
OURS = {*FOLDERS, "asgi", "background", "configuration", "svc_affiliate"}
HTTP = {"starlette", "mcp", "pydantic", "pydantic_core", "uvicorn", "httpx"}
FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)
LONGEST_FILE = 250
LONGEST_FUNCTION = 40

# Folder (or file): the modules that nothing in it may import. The first row that fits a file counts.
FORBIDDEN: dict[str, set[str]] = {
    "storage/migrations/versions": OURS,
    "storage/rules": HTTP | {"sqlalchemy"} | (OURS - {"storage"}),
    "storage/tables": HTTP | (OURS - {"storage"}),
    "storage": HTTP | (OURS - {"storage"}),
    "web": {"sqlalchemy", "mcp"} | (OURS - {"storage", "web"}),
    "presentation": {"sqlalchemy", "mcp"} | (OURS - {"presentation", "storage", "web"}),
    "tracking_api/authorization": {"sqlalchemy"} | (OURS - {"configuration", "storage", "web", "tracking_api"}),
    "tracking_api": {"sqlalchemy", "mcp"}
    | (OURS - {"configuration", "presentation", "storage", "web", "tracking_api"}),
    "agent_api": {"sqlalchemy", "mcp"} | (OURS - {"presentation", "storage", "web", "agent_api"}),
    "mcp_server": {"sqlalchemy"} | (OURS - {"configuration", "presentation", "storage", "web", "mcp_server"}),
    "cli/integrator": {"sqlalchemy"} | (OURS - {"cli"}),
    "cli": {"tests", "benchmarks"},
    "asgi.py": {"tests", "benchmarks", "cli"},
    "background.py": {"asgi", "agent_api", "benchmarks", "cli", "mcp_server", "tests"},
    "configuration.py": OURS - {"storage", "web"},
    "sdks": (OURS - {"svc_affiliate"}) | HTTP | {"sqlalchemy"},
}

# Folder of storage (and the files beside them): the other folders of storage that it imports.
STORAGE_FOLDERS: dict[str, set[str]] = {
    "rules": set(),
    "tables": set(),
    "engine": {"rules", "tables"},
    "migrations": {"engine", "tables"},
    "access": {"engine", "rules", "tables"},
    "tracking": {"access", "engine", "rules", "tables"},
    "payments": {"engine", "rules", "tables", "tracking"},
    "lists": {"engine", "payments", "rules", "tables", "tracking"},
    "management": {"access", "engine", "lists", "rules", "tables", "tracking"},
    "reports": {"access", "engine", "lists", "management", "payments", "rules", "tables", "tracking"},
    "diagnosis": {"engine", "lists", "payments", "reports", "rules", "tables", "tracking"},
    "checks": {"engine", "rules", "tables"},
    "": {"engine", "rules", "tracking"},
}


@cache
def sources() -> list[Path]:
    files = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")]
    return sorted(path for path in [*files, *(ROOT / name for name in ROOT_FILES)] if "node_modules" not in path.parts)


def inside(*folders: str) -> list[Path]:
    """Return the files whose paths begin so."""
    return [path for path in sources() if relative(path).startswith(folders)]


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@cache
def text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@cache
def tree(path: Path) -> ast.Module:
    """Parse a file, once for all rules."""
    return ast.parse(text(path))


@cache
def imported(path: Path) -> list[str]:
    """Return every module that a file imports, dotted."""
    modules: list[str] = []
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            modules += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{relative(path)} imports relatively"
            modules += [f"{node.module}.{alias.name}" for alias in node.names]
    return modules


def row_of(path: Path) -> str | None:
    """Return the first row of FORBIDDEN that fits a file."""
    return next((place for place in FORBIDDEN if relative(path).startswith(place)), None)


def is_migration(path: Path) -> bool:
    return "versions" in path.parts


def test_nothing_imports_sideways_or_upwards():
    rows = [(path, row) for path in sources() if (row := row_of(path))]

    broken = [
        f"{relative(path)} imports {module}"
        for path, row in rows
        for module in imported(path)
        if module.split(".")[0] in FORBIDDEN[row]
    ]

    assert broken == []
    assert {row for _, row in rows} == FORBIDDEN.keys()


def test_storage_folders_import_what_the_table_says_and_no_more_and_in_no_circle():
    drawn: dict[str, set[str]] = {folder: set() for folder in STORAGE_FOLDERS}
    for path in inside("storage/"):
        folder = path.relative_to(ROOT).parts[1] if path.parent != ROOT / "storage" else ""
        if not is_migration(path):
            ours = (module for module in imported(path) if module.split(".")[0] == "storage")
            named = {f"{module}.".split(".")[1] for module in ours}
            drawn[folder] |= named - {folder}

    assert drawn == STORAGE_FOLDERS
    above = {folder for folder, below in STORAGE_FOLDERS.items() if not below}
    while above < STORAGE_FOLDERS.keys():
        ready = {folder for folder, below in STORAGE_FOLDERS.items() if below <= above} - above
        assert ready, f"a circle among {STORAGE_FOLDERS.keys() - above}"
        above |= ready


def test_every_error_and_table_that_the_code_names_is_declared():
    for module in (errors, tables):
        name = module.__name__.rpartition(".")[2]
        imported = re.compile(rf"^from storage[.\w]* import .*\b{name}\b", re.MULTILINE)
        for path in filter(lambda each: imported.search(text(each)), sources()):
            named = re.findall(rf"(?<![\w.]){name}\.(\w+)", text(path))
            assert [each for each in named if not hasattr(module, each)] == [], relative(path)


def test_the_mcp_server_is_handed_a_reader_and_no_writer():
    writers = {"storage.Storage", "storage.opened", "storage.engine.group_commit"}

    assert [relative(path) for path in inside("mcp_server") if not writers.isdisjoint(imported(path))] == []


def test_no_file_is_longer_than_250_lines_and_a_function_fits_on_a_screen():
    lengths = {relative(path): len(text(path).splitlines()) for path in sources() if not is_migration(path)}
    longer = [
        f"{relative(path)}:{node.lineno} {node.name}"
        for path in sources()
        if not is_migration(path)
        for node in ast.walk(tree(path))
        if isinstance(node, FUNCTION) and (node.end_lineno or 0) - node.lineno >= LONGEST_FUNCTION
    ]

    assert {name: lines for name, lines in lengths.items() if lines > LONGEST_FILE} == {}
    assert longer == []


def test_a_function_s_name_says_what_it_lists_or_shows():
    bare = [
        f"{relative(path)}:{node.lineno}"
        for path in sources()
        for node in tree(path).body
        if isinstance(node, FUNCTION) and node.name in {"index", "show"}
    ]

    assert bare == []


def test_no_class_name_is_defined_twice():
    defined: dict[str, list[str]] = {}
    for path in set(sources()) - set(inside("benchmarks/", "tests/")):
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.ClassDef):
                defined.setdefault(node.name, []).append(relative(path))

    assert {name: places for name, places in defined.items() if len(places) > 1} == {}


def test_every_module_opens_with_a_sentence_that_says_what_it_is_for():
    assert [relative(path) for path in sources() if text(path).strip() and not ast.get_docstring(tree(path))] == []


def test_one_file_knows_a_dialect():
    dialect = re.compile(r"dialects|dialect\.name ==|with_variant|PRAGMA|pg_advisory")
    knowing = [relative(path) for path in inside("storage/") if not is_migration(path) and dialect.search(text(path))]

    assert knowing == ["storage/engine/database.py"]


def test_no_test_sleeps():
    sleeping = re.compile(r"\bsleep\(")
    tests = [path for path in inside("tests/") if path != Path(__file__)]

    assert [relative(path) for path in tests if sleeping.search(text(path))] == []


def test_the_migrations_form_one_line():
    versions = (ROOT / "storage/migrations/versions").glob("*.py")
    follows = [re.findall(r'^down_revision = "(\d+)"', text(path), re.MULTILINE) for path in versions]

    earlier = [revision for each in follows for revision in each]
    assert len(earlier) == len(set(earlier)) == len(follows) - 1
