"""Search from anywhere: the story of an identifier, partners, programs, pages and actions; nothing typed is logged."""

import tomllib
from collections.abc import Sequence
from pathlib import Path

from babel.dates import format_timedelta
from starlette.requests import Request
from starlette.responses import Response

from storage.access.workspaces import MANAGERS
from storage.diagnosis.search import search
from storage.lists.declaration import MOST, ListQuery
from storage.lists.find import find
from storage.lists.programs import PROGRAMS, Program
from storage.rules.attribution import PartnerStatus
from tracking_api.dashboard.authentication import visitor_request
from tracking_api.dashboard.pages import forms, ranges, templates

LONGEST = 2048  # a URL
LONGEST_ID = len(str(2**31))
MOST_PROGRAMS = 5
STATUSES: dict[str, str] = {"pause": PartnerStatus.PAUSED, "activate": PartnerStatus.ACTIVE}
DESTINATIONS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


async def show_results(request: Request) -> Response:
    """Show what `q` names: on a page, or for the box as a list of links; it posts `q`, so that no URL has it."""
    is_page = request.method != "POST"
    sent = request.query_params if is_page else forms.typed(await forms.read_form(request))
    call = await visitor_request(request)
    program_id = sent.get("program_id", "")
    typed = "".join(character for character in sent.get("q", "") if character.isprintable()).strip()[:LONGEST]
    read, scope = call.storage.read, call.scope
    named = [int(program_id)] if program_id.isascii() and program_id.isdigit() and len(program_id) <= LONGEST_ID else []
    current = (await read(find, PROGRAMS, scope._replace(program_ids=named), ListQuery())).data if named else []
    newest = (await read(find, PROGRAMS, scope, ListQuery(MOST))).data
    by_id = {program.id: program for program in [*current, *newest]}  # first the one that the search started in
    programs, ids = list(by_id.values()), list(by_id) if typed else []
    verbs = STATUSES | {name.casefold(): period for period, name in ranges.NAMES.items()}
    command = next((words for words in verbs if typed.casefold().startswith(f"{words} ")), None)  # `last month nora`
    verb, subject = (verbs[command], typed[len(command) :].strip()) if command else ("", typed)
    result = await call.storage.report(search, ids, subject, at=call.at, explains_silence=is_page)
    return templates.render(
        request,
        "search.html" if is_page else "search_suggestions.html",
        visitor=call.visitor,
        typed=typed,
        verb=verb,
        subject=subject,
        managed={each.workspace_id for each in call.visitor.memberships if each.role in MANAGERS},
        partners_of_first=result.partners_of_first,
        searched_in=programs[0].id if programs and str(programs[0].id) == program_id else None,
        pages=_pages(programs, typed),
        stories=[(by_id[each.program_id], each) for each in result.stories],
        partners=[(by_id[each.program_id], each) for each in result.partners],
        silences=[(by_id[each.program_id], each) for each in result.silences],
        ago=lambda called_at: format_timedelta(called_at - call.at, add_direction=True, locale="en"),
    )


def _pages(programs: list[Program], typed: str) -> list[tuple[str, str, str]]:
    """Return the programs, pages and actions that the words name: title, program, path. Their program is the first."""
    if not typed:
        return []
    named = [each for each in programs if typed.casefold() in each.settings.name.casefold()]
    found = [(each.settings.name, each.settings.domain, f"/programs/{each.id}") for each in named[:MOST_PROGRAMS]]
    for program in programs[:1]:
        base = f"/programs/{program.id}"
        found += [
            (title, program.settings.name, base + path) for title, path in _matching(DESTINATIONS["of_program"], typed)
        ]
    return found + [(title, "", path) for title, path in _matching(DESTINATIONS["of_account"], typed)]


def _matching(destinations: Sequence[tuple[str, str, str]], typed: str) -> list[tuple[str, str]]:
    """Return the destinations of which every typed word starts a word; a title's own words first."""
    wanted = typed.casefold().split()

    def starts(text: str) -> bool:
        words = text.casefold().split()
        return all(any(word.startswith(part) for word in words) for part in wanted)

    found = [(title, path) for title, words, path in destinations if wanted and starts(f"{title} {words}")]
    return sorted(found, key=lambda each: not starts(each[0]))
