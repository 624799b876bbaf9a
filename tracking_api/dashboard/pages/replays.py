"""Buttons that perform rejected calls after all, each after a dry run that says what would happen; the key page."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from presentation.api_request import ApiRequest, valid_id
from presentation.replays import decide_old_key, replay_calls
from storage.access.workspaces import MANAGERS
from storage.diagnosis.key_rotation import check_rotation
from storage.lists.programs import read_program
from storage.management import replays
from storage.management.replays import OldKeyDecision, Replay
from storage.reports import checklist
from storage.tracking import key_callers
from tracking_api.dashboard.pages import page_context
from tracking_api.dashboard.pages.buttons import QUESTIONS, Button, FormOutcome, FormPage, Question, drawn, elsewhere
from tracking_api.dashboard.programs import regenerate_program_key


async def _about_replay(calls: Sequence[ApiRequest]) -> Question:
    """Ask with what a dry run says; the form names one call or a cause."""
    named = calls[0].named
    ids = [valid_id(named["ids"])] if "ids" in named else None
    return await _tried(calls[0], replays.replay, ids=ids, cause=named.get("cause"))


async def _about_accepting(calls: Sequence[ApiRequest]) -> Question:
    about = {"decision": OldKeyDecision.ACCEPT, "caller": calls[0].named.get("caller")}
    return await _tried(calls[0], replays.decide_old_key, **about)


async def _tried(call: ApiRequest, operation: Any, **about: Any) -> Question:
    dry: Replay = await replace(call, storage=call.storage.dry_run).write(operation, **about, sealer=call.sealer)
    return QUESTIONS["replay"]._replace(replay=dry)


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
    Button(replay_calls, notice=_done, then="/programs/{program_id}/refused-calls", question=_about_replay),
    roles=MANAGERS,
)
KEY_PAGE = FormPage(
    drawn("program_key.html", _key_page),
    {
        "create": Button(regenerate_program_key),
        "": Button(regenerate_program_key, unticked="Tick the box first: the current key stops working at once."),
        "accept": _deciding(OldKeyDecision.ACCEPT, notice=_done, question=_about_accepting),
        "discard": _deciding(OldKeyDecision.DISCARD, notice="old-key-discard", question=QUESTIONS["old-key-discard"]),
        "leaked": _deciding(OldKeyDecision.LEAKED, notice="old-key-leaked", question=QUESTIONS["old-key-leaked"]),
    },
)
