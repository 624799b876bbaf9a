"""Buttons that perform rejected calls after all, each after a dry run that says what would happen; the key page."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from presentation.replays import decide_old_key, replay_calls
from storage.access.workspaces import MANAGERS
from storage.diagnosis.key_rotation import check_rotation
from storage.lists.programs import read_program
from storage.management.replays import OldKeyDecision
from storage.reports import checklist
from storage.tracking import key_callers
from tracking_api.dashboard.pages import page_context
from tracking_api.dashboard.pages.buttons import QUESTIONS, Button, FormOutcome, FormPage, drawn, elsewhere
from tracking_api.dashboard.programs import regenerate_program_key


def _done(_: Any, response: Mapping[str, Any]) -> str:
    name = "replayed-in-part" if response["remaining"] else "replayed"
    return f"{name}.{response['performed']}.0.{response['still_rejected']}"


async def _key_page(context: page_context.PageContext, outcome: FormOutcome) -> dict[str, Any]:
    return {
        "context": replace(context, program=await context.read(read_program)) if outcome.response else context,
        "callers": await context.read(key_callers.list_callers),
        "rotation": await context.read(check_rotation, at=context.at),
        "has_key": await context.read(checklist.find_shown_key) is not None,
        "is_first": outcome.pressed == "create",
    }


def _deciding(decision: OldKeyDecision, **about: Any) -> Button:
    return Button(decide_old_key, {"decision": decision}, **about)


REPLAY = FormPage(
    elsewhere,
    Button(replay_calls, notice=_done, then="/programs/{program_id}/refused-calls", question=QUESTIONS["replay"]),
    roles=MANAGERS,
)
KEY_PAGE = FormPage(
    drawn("program_key.html", _key_page),
    {
        "create": Button(regenerate_program_key),
        "": Button(regenerate_program_key, unticked="Tick the box first: the current key stops working at once."),
        "accept": _deciding(OldKeyDecision.ACCEPT, notice=_done, question=QUESTIONS["replay"]),
        "discard": _deciding(OldKeyDecision.DISCARD, notice="old-key-discard", question=QUESTIONS["old-key-discard"]),
        "leaked": _deciding(OldKeyDecision.LEAKED, notice="old-key-leaked", question=QUESTIONS["old-key-leaked"]),
    },
)
