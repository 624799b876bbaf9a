"""A batch's rows as one JSON parameter, fields of stored JSON texts, and how each database reads them."""

from typing import Any

from sqlalchemy import BigInteger, Boolean, Text, bindparam, literal_column
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import TypeEngine

PROGRAM = "program"
DISTRIBUTED = "distributed"  # the option of a compiler, and of a connection: rows lie on the node of their program
_PROGRAM: Any = bindparam(PROGRAM, type_=BigInteger())


class JsonRows(FunctionElement[Any]):
    """A JSON array of arrays as rows: one parameter for a whole batch, whatever its size."""

    inherit_cache = True


class PlacedRows(JsonRows):
    """Rows to insert; on a distributed database with the program's place, so that its node inserts them itself."""

    inherit_cache = True


class JsonItem(FunctionElement[Any]):
    """One position of such a row, as a typed value."""

    inherit_cache = True

    def __init__(self, position: int, type_: TypeEngine[Any]) -> None:
        super().__init__(literal_column("given_row.value"), literal_column(str(position)))
        self.type = type_


class ProgramItem(JsonItem):
    """The program of such a row; on a distributed database, where rows are of one program, a parameter of its own."""

    inherit_cache = True


class PlacedProgram(JsonItem):
    """The program of a row to insert; on a distributed database that of the place."""

    inherit_cache = True


class OnProgramsNode(FunctionElement[Any]):
    """True; on a distributed database, which sees no further than a join, that a column is the rows' program."""

    inherit_cache = True
    type = Boolean()


class JsonField(FunctionElement[Any]):
    """A field of a column that holds a JSON object as text; null where the object lacks it. The name is a constant."""

    inherit_cache = True
    type = Text()

    def __init__(self, column: Any, name: str) -> None:
        super().__init__(column, literal_column(f"'{name}'"))


@compiles(JsonField, "sqlite")
def _json_field_sqlite(element: JsonField, compiler: SQLCompiler, **options: Any) -> str:
    column, name = (compiler.process(clause, **options) for clause in element.clauses)
    return f"({column} ->> {name})"


@compiles(JsonField, "postgresql")
def _json_field_postgresql(element: JsonField, compiler: SQLCompiler, **options: Any) -> str:
    column, name = (compiler.process(clause, **options) for clause in element.clauses)
    return f"(CAST({column} AS JSON) ->> {name})"


@compiles(JsonRows, "sqlite")
def _json_rows_sqlite(element: JsonRows, compiler: SQLCompiler, **options: Any) -> str:
    return f"json_each({compiler.process(element.clauses, **options)})"


@compiles(JsonRows, "postgresql")
def _json_rows_postgresql(element: JsonRows, compiler: SQLCompiler, **options: Any) -> str:
    return f"jsonb_array_elements(CAST({compiler.process(element.clauses, **options)} AS TEXT)::jsonb)"


@compiles(JsonItem, "sqlite")
def _json_item_sqlite(element: JsonItem, compiler: SQLCompiler, **options: Any) -> str:
    value, position = (compiler.process(clause, **options) for clause in element.clauses)
    return f"({value} ->> {position})"


@compiles(JsonItem, "postgresql")
def _json_item_postgresql(element: JsonItem, compiler: SQLCompiler, **options: Any) -> str:
    value, position = (compiler.process(clause, **options) for clause in element.clauses)
    return f"CAST({value} ->> {position} AS {compiler.dialect.type_compiler_instance.process(element.type)})"


@compiles(OnProgramsNode, "sqlite")
@compiles(OnProgramsNode, "postgresql")
def _on_programs_node(element: OnProgramsNode, compiler: SQLCompiler, **options: Any) -> str:
    if not options.get(DISTRIBUTED):
        return "true"
    return f"{compiler.process(element.clauses, **options)} = {compiler.process(_PROGRAM, **options)}"


@compiles(PlacedRows, "postgresql")
def _placed_rows_postgresql(element: PlacedRows, compiler: SQLCompiler, **options: Any) -> str:
    rows = _json_rows_postgresql(element, compiler, **options)
    if not options.get(DISTRIBUTED):
        return rows
    program = compiler.process(_PROGRAM, **options)
    place = f"(SELECT program_id FROM program_places WHERE program_id = {program}) AS place"  # noqa: S608 - a parameter
    return f"{place} CROSS JOIN {rows}"


@compiles(ProgramItem, "postgresql")
def _program_item_postgresql(element: ProgramItem, compiler: SQLCompiler, **options: Any) -> str:
    if options.get(DISTRIBUTED):
        return compiler.process(_PROGRAM, **options)
    return _json_item_postgresql(element, compiler, **options)


@compiles(PlacedProgram, "postgresql")
def _placed_program_postgresql(element: PlacedProgram, compiler: SQLCompiler, **options: Any) -> str:
    return "place.program_id" if options.get(DISTRIBUTED) else _json_item_postgresql(element, compiler, **options)
