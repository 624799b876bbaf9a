"""The house rules, enforced: who may import whom, how long a file may be, what opens it, where a dialect may stand."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FOLDERS = (
    "agent_api",
    "authorization_server",
    "benchmarks",
    "cli",
    "mcp_server",
    "storage",
    "tests",
    "tracking_api",
    "web",
)
OURS = {*FOLDERS, "asgi"}
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
    ("tracking_api", {"sqlalchemy", "mcp"} | (OURS - {"storage", "web", "tracking_api"})),
    ("agent_api", {"sqlalchemy", "mcp"} | (OURS - {"storage", "web", "agent_api"})),
    ("authorization_server", {"sqlalchemy"} | (OURS - {"storage", "web", "authorization_server"})),
    ("mcp_server", {"sqlalchemy"} | (OURS - {"storage", "web", "mcp_server"})),
    ("cli/integrator", {"sqlalchemy"} | (OURS - {"cli"})),
    ("cli", {"tests", "benchmarks"}),
    ("asgi.py", {"tests", "benchmarks", "cli"}),
]


def sources() -> list[Path]:
    files = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")] + [ROOT / "asgi.py"]
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


def is_migration(path: Path) -> bool:
    return "versions" in path.parts


@pytest.mark.parametrize(("place", "forbidden"), FORBIDDEN, ids=[place for place, _ in FORBIDDEN])
def test_nothing_imports_sideways_or_upwards(place: str, forbidden: set[str]):
    inside = [path for path in sources() if relative(path).startswith(place)]

    broken = [
        f"{relative(path)} imports {module}"
        for path in inside
        for module in imported(path)
        if module.split(".")[0] in forbidden
    ]

    assert broken == []


def test_rules_need_the_standard_library_alone():
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

    assert [name for name in names if name in {"storage.Storage", "storage.opened", "storage.commit"}] == []


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
        "storage/database.py"
    ]


def test_no_test_sleeps():
    sleeping = re.compile(r"\bsleep\(")
    tests = [path for path in sources() if relative(path).startswith("tests/") and path != Path(__file__)]

    assert [relative(path) for path in tests if sleeping.search(path.read_text(encoding="utf-8"))] == []
