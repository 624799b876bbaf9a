"""The house rules, enforced: who may import whom, how long a file may be, what opens it, where a dialect may stand."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FOLDERS = (
    "agent_api",
    "benchmarks",
    "cli",
    "mcp_server",
    "presentation",
    "sdks",
    "storage",
    "tests",
    "tracking_api",
    "web",
)
ROOT_FILES = ("asgi.py", "background.py", "configuration.py")
OURS = {*FOLDERS, "asgi", "background", "configuration", "svc_affiliate"}
HTTP = {"starlette", "mcp", "pydantic", "pydantic_core", "uvicorn", "httpx"}
LONGEST_FILE = 250
LONGEST_FUNCTION = 40

# Folder (or file): the modules that nothing in it may import. The first row that fits a file counts.
FORBIDDEN: list[tuple[str, set[str]]] = [
    ("storage/migrations/versions", OURS),
    ("storage/rules", HTTP | {"sqlalchemy"} | (OURS - {"storage"})),
    ("storage/tables", HTTP | (OURS - {"storage"})),
    ("storage", HTTP | (OURS - {"storage"})),
    ("web", {"sqlalchemy", "mcp"} | (OURS - {"storage", "web"})),
    ("presentation", {"sqlalchemy", "mcp"} | (OURS - {"presentation", "storage", "web"})),
    ("tracking_api/authorization", {"sqlalchemy"} | (OURS - {"configuration", "storage", "web", "tracking_api"})),
    (
        "tracking_api",
        {"sqlalchemy", "mcp"} | (OURS - {"configuration", "presentation", "storage", "web", "tracking_api"}),
    ),
    ("agent_api", {"sqlalchemy", "mcp"} | (OURS - {"presentation", "storage", "web", "agent_api"})),
    ("mcp_server", {"sqlalchemy"} | (OURS - {"configuration", "presentation", "storage", "web", "mcp_server"})),
    ("cli/integrator", {"sqlalchemy"} | (OURS - {"cli"})),
    ("cli", {"tests", "benchmarks"}),
    ("asgi.py", {"tests", "benchmarks", "cli"}),
    ("background.py", {"asgi", "agent_api", "benchmarks", "cli", "mcp_server", "tests"}),
    ("configuration.py", OURS - {"storage", "web"}),
    ("sdks", (OURS - {"svc_affiliate"}) | HTTP | {"sqlalchemy"}),
]

# Folder of storage (and the files beside them): the other folders of storage that it imports.
STORAGE_FOLDERS: dict[str, set[str]] = {
    "rules": set(),
    "tables": {"rules"},
    "engine": {"rules", "tables"},
    "migrations": {"engine", "tables"},
    "access": {"engine", "rules", "tables"},
    "tracking": {"access", "engine", "rules", "tables"},
    "payments": {"engine", "rules", "tables", "tracking"},
    "management": {"access", "engine", "rules", "tables", "tracking"},
    "reading": {"access", "engine", "management", "payments", "rules", "tables"},
    "diagnosis": {"management", "reading", "rules", "tables"},
    "checks": {"rules", "tables", "tracking"},
    "": {"engine", "tracking"},
}


def sources() -> list[Path]:
    files = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")] + [
        ROOT / name for name in ROOT_FILES
    ]
    return sorted(path for path in files if "node_modules" not in path.parts)


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def imported(path: Path) -> Iterator[str]:
    """Yield every module that a file imports, dotted."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{relative(path)} imports relatively"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def row_of(path: Path) -> str | None:
    """Return the first row of FORBIDDEN that fits a file."""
    return next((place for place, _ in FORBIDDEN if relative(path).startswith(place)), None)


def is_migration(path: Path) -> bool:
    return "versions" in path.parts


@pytest.mark.parametrize(("place", "forbidden"), FORBIDDEN, ids=[place for place, _ in FORBIDDEN])
def test_nothing_imports_sideways_or_upwards(place: str, forbidden: set[str]):
    inside = [path for path in sources() if row_of(path) == place]

    broken = [
        f"{relative(path)} imports {module}"
        for path in inside
        for module in imported(path)
        if module.split(".")[0] in forbidden
    ]

    assert broken == []


def test_storage_folders_import_what_the_table_says_and_no_more():
    drawn: dict[str, set[str]] = {folder: set() for folder in STORAGE_FOLDERS}
    for path in sources():
        folder = path.relative_to(ROOT).parts[1] if path.parent not in {ROOT, ROOT / "storage"} else ""
        if path.is_relative_to(ROOT / "storage") and not is_migration(path):
            named = {module.split(".")[1] for module in imported(path) if module.startswith("storage.")}
            drawn[folder] |= named & STORAGE_FOLDERS.keys() - {folder}

    assert drawn == STORAGE_FOLDERS


def test_no_folder_of_storage_imports_one_that_imports_it():
    above = {folder for folder, below in STORAGE_FOLDERS.items() if not below}
    while above < STORAGE_FOLDERS.keys():
        ready = {folder for folder, below in STORAGE_FOLDERS.items() if below <= above} - above
        assert ready, f"a circle among {STORAGE_FOLDERS.keys() - above}"
        above |= ready


def test_rules_need_only_the_standard_library():
    inside = [path for path in sources() if relative(path).startswith("storage/rules")]

    beyond = [
        f"{relative(path)} imports {module}"
        for path in inside
        for module in imported(path)
        if module.split(".")[0] == "storage" and not module.startswith("storage.rules")
    ]

    assert beyond == []


def test_tables_know_no_operation():
    inside = [path for path in sources() if relative(path).startswith("storage/tables")]

    beyond = [
        f"{relative(path)} imports {module}"
        for path in inside
        for module in imported(path)
        if module.startswith("storage.") and not module.startswith(("storage.tables", "storage.rules"))
    ]

    assert beyond == []


def test_the_mcp_server_is_handed_a_reader_and_no_writer():
    names = [module for path in sources() if relative(path).startswith("mcp_server") for module in imported(path)]

    assert [
        name for name in names if name in {"storage.Storage", "storage.opened", "storage.engine.group_commit"}
    ] == []


def test_no_file_is_longer_than_250_lines():
    lengths = {relative(path): len(path.read_text(encoding="utf-8").splitlines()) for path in sources()}

    assert {name: lines for name, lines in lengths.items() if lines > LONGEST_FILE and "/versions/" not in name} == {}


def test_a_function_fits_on_a_screen():
    longer = [
        f"{relative(path)}:{node.lineno} {node.name}"
        for path in sources()
        if not is_migration(path)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or 0) - node.lineno >= LONGEST_FUNCTION
    ]

    assert longer == []


def test_a_function_s_name_says_what_it_lists_or_shows():
    bare = [
        f"{relative(path)}:{node.lineno}"
        for path in sources()
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name in {"index", "show"}
    ]

    assert bare == []


def test_no_class_name_is_defined_twice():
    defined: dict[str, list[str]] = {}
    for path in sources():
        if not relative(path).startswith(("benchmarks/", "tests/")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ClassDef):
                    defined.setdefault(node.name, []).append(relative(path))

    assert {name: places for name, places in defined.items() if len(places) > 1} == {}


def test_every_module_opens_with_a_sentence_that_says_what_it_is_for():
    silent = [
        relative(path)
        for path in sources()
        if path.read_text(encoding="utf-8").strip()
        and not ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    ]

    assert silent == []


def test_one_file_knows_a_dialect():
    dialect = re.compile(r"dialects|dialect\.name ==|with_variant|PRAGMA|pg_advisory")
    inside = [path for path in sources() if relative(path).startswith("storage/") and not is_migration(path)]

    assert [relative(path) for path in inside if dialect.search(path.read_text(encoding="utf-8"))] == [
        "storage/engine/database.py"
    ]


def test_no_test_sleeps():
    sleeping = re.compile(r"\bsleep\(")
    tests = [path for path in sources() if relative(path).startswith("tests/") and path != Path(__file__)]

    assert [relative(path) for path in tests if sleeping.search(path.read_text(encoding="utf-8"))] == []


def test_the_migrations_form_one_line():
    follows = [
        re.findall(r'^down_revision = "(\d+)"', path.read_text(encoding="utf-8"), re.MULTILINE)
        for path in (ROOT / "storage/migrations/versions").glob("*.py")
    ]

    earlier = [revision for each in follows for revision in each]
    assert len(earlier) == len(set(earlier)) == len(follows) - 1
