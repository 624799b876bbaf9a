"""A batch's rows as one JSON parameter, fields of stored JSON texts, and how each database reads them."""

from typing import Any

from sqlalchemy import Text, literal_column
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import TypeEngine


class JsonRows(FunctionElement[Any]):
    """A JSON array of arrays as rows: one parameter for a whole batch, whatever its size."""

    inherit_cache = True


class JsonItem(FunctionElement[Any]):
    """One position of such a row, as a typed value."""

    inherit_cache = True

    def __init__(self, position: int, type_: TypeEngine[Any]) -> None:
        super().__init__(literal_column("given_row.value"), literal_column(str(position)))
        self.type = type_


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
