"""`svc admin rates`."""

from pathlib import Path
from typing import Annotated

import typer

from cli.admin import command, options
from storage.rules import ecb
from storage.tracking import currencies

ROWS_AT_ONCE = 10_000  # the database stays free for others between two batches
app = typer.Typer(no_args_is_help=True)


@app.callback()
def _group() -> None:
    """Keep `rates import` a command of two words."""


@app.command("import")
def import_rates(
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, readable=True, help="The CSV file, unzipped.")],
    as_json: options.Json = False,
) -> None:
    """Import the ECB's euro reference rates: eurofxref.csv (a day) or eurofxref-hist.csv (all days).

    Importing a day again replaces its rates.

    Example:
      svc admin rates import eurofxref-hist.csv

    """
    with command.answering(as_json=as_json) as response:
        rates = ecb.parse(file.read_bytes())
        for start in range(0, len(rates), ROWS_AT_ONCE):
            command.write(currencies.load, rates[start : start + ROWS_AT_ONCE])
        days, codes = {day for day, _, _ in rates}, {code for _, code, _ in rates}
        first, last = min(days).isoformat(), max(days).isoformat()
        result = {"rates": len(rates), "currencies": len(codes), "first_day": first, "last_day": last}
        response(result, f"Imported {len(rates)} rates of {len(codes)} currencies, {first} to {last}.")
