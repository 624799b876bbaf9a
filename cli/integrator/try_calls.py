"""`svc test click|lead|sale`: send one test-mode call, and show the request, the response and the next step."""

import json
from typing import Any

import typer

from cli.integrator import journey, programs, project, status, try_stripe
from cli.integrator.output import Answer, command, plain, say

app = typer.Typer(no_args_is_help=True, help="Send a test-mode call, without commission or attribution.")
TEST = {"additional_data": {"test_mode": True}}
PROVES = {
    "click": "the service accepts clicks of this program, and the key belongs to it.",
    "lead": "the key works, and your server can report leads.",
    "sale": "the key works, and your server can report sales.",
}


def _add(call: str) -> None:
    def send() -> Answer:
        body: dict[str, Any] = TEST
        if call == "click":
            found = status.read()
            link = programs.partner_link(found["domain"], "test")
            body = {"program_id": found["program_id"], "affiliate_url": link, **TEST}
        path = f"/api/v1/track/{call}"
        say(f"[bold]POST {path}[/]\n{plain(json.dumps(body))}")
        response = project.service().call("POST", path, body)
        following = status.next_step(status.read())
        say(f"[bold]Response[/]\n{plain(json.dumps(response))}")
        result = {"sent": body, "answer": response, "proves": PROVES[call], "next": following}
        return Answer(result, f"[green]Proves:[/] {PROVES[call]}\nNext: {plain(following)}")

    send.__doc__ = f"Send a test {call}.\n\nExample: svc test {call}"
    command(app, call)(send)


for each in PROVES:
    _add(each)
app.command("stripe")(try_stripe.stripe)
app.command("journey")(journey.journey)
