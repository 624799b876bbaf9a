"""`svc admin retention`: delete old clicks, keep what they counted for."""

import asyncio
from datetime import datetime
from typing import Annotated, Any

import typer

from cli.admin import command, options
from storage import Storage
from storage.tracking import click_retention

Days = Annotated[int, typer.Option(min=1, max=36_500, help="Keep the clicks of this many days.")]


def retention(clicks_days: Days, as_json: options.Json = False) -> None:
    """Delete clicks older than N days; it may run while the service serves.

    Reports keep their numbers, and a click that a customer came with stays with its customer. A program keeps clicks
    at least as long as its cookie and attribution windows, so that no later sign-up or sale loses its partner.

    Example:
      svc admin retention --clicks-days 400

    """
    with command.answering(as_json=as_json) as answer:
        command.require_file()
        programs = asyncio.run(command.over_storage(delete_clicks, clicks_days, command.now()))
        deleted = sum(program["deleted"] for program in programs)
        answer({"deleted": deleted, "programs": programs}, "\n".join([*map(_line, programs), f"{deleted:,} deleted."]))


async def delete_clicks(store: Storage, days: int, at: datetime) -> list[dict[str, Any]]:
    """Delete chunk by chunk, each in its own write, so that the service's writes go on in between."""
    programs = []
    for program_id, before in (await store.read(click_retention.ends, days=days, at=at)).items():
        deleted, after = 0, ""
        while chunk := await store.write(click_retention.delete_some, program_id, before=before, after=after):
            deleted, after = deleted + chunk.clicks, chunk.last
        programs.append({"program_id": program_id, "clicks_before": before, "deleted": deleted})
    return programs


def _line(program: dict[str, Any]) -> str:
    return f"program {program['program_id']}: {program['deleted']:,} clicks before {program['clicks_before']:%Y-%m-%d}"
