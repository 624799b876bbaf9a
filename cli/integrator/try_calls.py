"""`svc test click|lead|sale`: one test-mode call, what was sent, what came back, what it proves, and the next step."""

import json
from typing import Any

import typer

from cli.integrator import project, status, try_stripe
from cli.integrator.output import Json, answering, plain
from cli.integrator.service import Service

app = typer.Typer(no_args_is_help=True, help="Send a test-mode call: it pays no commission and attributes nothing.")
TEST = {"additional_data": {"test_mode": True}}
PROVES = {
    "click": "the service takes clicks of this program, and the key is its key.",
    "lead": "your server can report leads: the key works from here.",
    "sale": "your server can report sales: the key works from here.",
}


@app.command()
def click(as_json: Json = False) -> None:
    """Send a test click.

    Example:
      svc test click

    """
    with answering(as_json=as_json) as output:
        found = status.read()
        landing = f"https://{found['domain']}/?aff=test"
        _send("click", {"program_id": found["program_id"], "affiliate_url": landing, **TEST}, output)


@app.command()
def lead(as_json: Json = False) -> None:
    """Send a test lead.

    Example:
      svc test lead

    """
    with answering(as_json=as_json) as output:
        _send("lead", TEST, output)


@app.command()
def sale(as_json: Json = False) -> None:
    """Send a test sale.

    Example:
      svc test sale

    """
    with answering(as_json=as_json) as output:
        _send("sale", TEST, output)


app.command("stripe")(try_stripe.stripe)


def _send(call: str, body: dict[str, Any], output: Any) -> None:
    service, path = Service(project.base_url(), project.key()), f"/api/v1/track/{call}"
    output.say(f"[bold]POST {path}[/]\n{plain(json.dumps(body))}")
    answer = service.call("POST", path, body)
    proves, following = PROVES[call], status.next_step(status.read())
    output.say(f"[bold]came back[/]\n{plain(json.dumps(answer))}")
    output.say(f"[green]Proves:[/] {proves}\nNext: {plain(following)}")
    output.result({"sent": body, "answer": answer, "proves": proves, "next": following})
