"""What the tests of imports share: files in the shapes of other tools, and their import."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, func, select

from storage.management import imports
from storage.rules import tool_exports
from storage.rules.tool_exports import FileKind, ImportTool
from storage.tables import clicks, commissions, customers, partners
from tests.world import BY, World

FOLDER = Path(__file__).parent / "exports"
EXPORTS = {
    tool: [(FOLDER / tool / f"{kind}.csv").read_text(encoding="utf-8") for kind in FileKind] for tool in ImportTool
}
GENERIC = PARTNERS, CUSTOMERS, COMMISSIONS = EXPORTS[ImportTool.GENERIC]


async def imported(acme: World, files: Sequence[str], tool: ImportTool = ImportTool.GENERIC, **options: Any) -> Any:
    unit = options.pop("amounts", None)
    read = [tool_exports.read(f"file-{n}.csv", text.splitlines(), tool, unit) for n, text in enumerate(files)]
    about = {"dry_run": False, "by": BY, **options}
    return await acme.store.write(imports.run, acme.program_id, read, **about)


def counts(connection: Connection) -> list[int]:
    tables = (partners, customers, commissions, clicks)
    return [connection.scalar(select(func.count()).select_from(table)) or 0 for table in tables]
