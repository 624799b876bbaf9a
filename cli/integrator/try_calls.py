"""`svc test click|lead|sale`: send one test-mode call, and show the request, the response and the next step."""

import json
from typing import Any

import typer

from cli.integrator import journey, programs, project, status, try_stripe
from cli.integrator.output import Json, Output, answering, plain
from cli.integrator.service import ServiceClient

app = typer.Typer(no_args_is_help=True, help="Send a test-mode call, without commission or attribution.")
TEST = {"additional_data": {"test_mode": True}}
PROVES = {
    "click": "the service accepts clicks of this program, and the key belongs to it.",
    "lead": "the key works, and your server can report leads.",
    "sale": "the key works, and your server can report sales.",
}


def _add(call: str) -> None:
    @app.command(call, help=f"Send a test {call}.\n\nExample:\n  svc test {call}")
    def send(as_json: Json = False) -> None:
        with answering(as_json=as_json) as output:
            _send(call, _click() if call == "click" else TEST, output)


for each in PROVES:
    _add(each)
app.command("stripe")(try_stripe.stripe)
app.command("journey")(journey.journey)


def _click() -> dict[str, Any]:
    found = status.read()
    link = programs.partner_link(found["domain"], "test")
    return {"program_id": found["program_id"], "affiliate_url": link, **TEST}


def _send(call: str, body: dict[str, Any], output: Output) -> None:
    service, path = ServiceClient(project.base_url(), project.key()), f"/api/v1/track/{call}"
    output.say(f"[bold]POST {path}[/]\n{plain(json.dumps(body))}")
    response = service.call("POST", path, body)
    proves, following = PROVES[call], status.next_step(status.read())
    output.say(f"[bold]Response[/]\n{plain(json.dumps(response))}")
    output.say(f"[green]Proves:[/] {proves}\nNext: {plain(following)}")
    output.result({"sent": body, "answer": response, "proves": proves, "next": following})
