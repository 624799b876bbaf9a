"""`svc admin retention`: delete old clicks, keep what they counted for."""

from datetime import datetime
from typing import Annotated, Any

import typer

from cli.admin import command
from cli.integrator.output import Answer
from storage import Storage
from storage.tracking import click_retention

Days = Annotated[int, typer.Option(min=1, max=36_500, help="Keep the clicks of this many days.")]
Exact = Annotated[
    bool, typer.Option("--exact", help="PostgreSQL: delete the rest of the oldest month row by row, too.")
]
app = typer.Typer()


@command.register(app)
def retention(clicks_days: Days, exact: Exact = False) -> Answer:
    """Delete clicks older than N days; it may run while the service serves.

    Reports keep their numbers, and a click that a customer came with stays with its customer. A program keeps clicks
    at least as long as its cookie and attribution windows, so that no later sign-up or sale loses its partner.

    On PostgreSQL each month of clicks is a partition. A month is dropped, which takes moments and frees its disk space,
    when its last day is older than N days for every program; --exact also deletes older days of the month after it.

    Example: svc admin retention --clicks-days 400
    """
    at = command.now()
    months = command.run(lambda store: drop_months(store, clicks_days, at))
    programs = command.run(lambda store: delete_clicks(store, clicks_days, at, is_exact=exact))
    deleted = sum(program["deleted"] for program in programs)
    lines = [f"month {month}: dropped" for month in months]
    for each in programs:
        before = f"{each['clicks_before']:%Y-%m-%d}"
        lines.append(f"program {each['program_id']}: {each['deleted']:,} clicks before {before}")
    result = {"dropped_months": months, "deleted": deleted, "programs": programs}
    return Answer(result, "\n".join([*lines, f"{deleted:,} deleted row by row."]))


async def drop_months(store: Storage, days: int, at: datetime) -> list[str]:
    """Drop the months that every program is past, and say which; none on SQLite."""
    ends = (await store.read(click_retention.ends, days=days, at=at)).values()
    return await store.write(click_retention.drop_months, before=min(ends)) if ends else []


async def delete_clicks(store: Storage, days: int, at: datetime, *, is_exact: bool = False) -> list[dict[str, Any]]:
    """Delete chunk by chunk, each in its own write, so that the service's writes go on in between."""
    programs = []
    for program_id, before in (await store.read(click_retention.ends, days=days, at=at, is_exact=is_exact)).items():
        deleted, after = 0, ""
        while chunk := await store.write(click_retention.delete_some, program_id, before=before, after=after):
            deleted, after = deleted + chunk.clicks, chunk.last
        programs.append({"program_id": program_id, "clicks_before": before, "deleted": deleted})
    return programs
