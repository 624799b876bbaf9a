"""`svc admin payout`: what the resource table offers on payouts, as commands that the operator runs."""

from typing import Any
from urllib.parse import urlencode

import typer
from starlette.requests import Request
from starlette.routing import compile_path

from cli.admin import command, inputs
from cli.integrator.output import Answer, described
from presentation.api_request import ApiRequest
from presentation.resource_table import RESOURCES, Resource
from storage import Storage
from storage.engine.audit import OPERATOR
from web.body import Body

COMMANDS = {
    "listPayouts": "list",
    "draftPayout": "draft",
    "getPayout": "show",
    "listPayoutLines": "lines",
    "sendPayout": "send",
    "reopenPayout": "reopen",
    "discardPayout": "discard",
}
app = typer.Typer(no_args_is_help=True)


def add(name: str, resource: Resource) -> None:
    """Add a resource as a command: the ids of its path are arguments, its query and the fields of its body options."""
    about = resource.operation.description
    ids, model = compile_path(resource.path)[2], about.body or Body

    @inputs.taking(model, about.query, ids)
    def run(program: command.ProgramId, **sent: Any) -> Answer:
        path = {each: str(sent.pop(each)) for each in ids}
        query = urlencode({each: value for each in about.query if (value := sent.pop(each))}).encode()
        scope = {"type": "http", "headers": [], "query_string": query, "path_params": path}

        async def perform(store: Storage) -> Any:
            await store.read(command.require_program, program)
            of_operator: Any = {"actor": OPERATOR, "at": command.now(), "program_id": program}
            call = ApiRequest(request=Request(scope), storage=store, **of_operator)
            return await resource.operation.submit(call, inputs.given(model, sent))

        result = command.run(perform)
        return Answer(result, described(result.get("data", [result])) or "There is none.")

    run.__name__, run.__doc__ = name, f"{about.summary}."
    command.register(app, name)(run)


for each in RESOURCES:
    if each.operation.description.name in COMMANDS:
        add(COMMANDS[each.operation.description.name], each)
