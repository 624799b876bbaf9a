"""`svc test stripe`: plays how the shop sells (one-off, subscription, trial) as events of Stripe."""

import hmac
import json
import secrets
import sys
import time
from collections.abc import Callable
from enum import StrEnum
from functools import partial
from pathlib import Path
from string import Template
from typing import Annotated, Any

import httpx2
import typer

from cli.integrator import accounts, project, status
from cli.integrator.output import Answer, Failure, Flag, command, plain, say

SAMPLES = Template(Path(__file__).with_name("stripe_events.json").read_text(encoding="utf-8"))
Event = dict[str, Any]
Deliver = Callable[[Event], dict[str, Any]]
Scene = tuple[str, Event, str]  # what happens, the event that Stripe sends, and the outcome that is right


class ShopShape(StrEnum):
    """How the shop sells."""

    ONE_OFF = "one-off"
    SUBSCRIPTION = "subscription"
    TRIAL = "trial"


Shape = Annotated[ShopShape, typer.Option(help="How the shop sells through Stripe.")]
Code = Annotated[str, typer.Option(help="The code of the partner who sends the visitor.")]


@command()
def stripe(shape: Shape = ShopShape.SUBSCRIPTION, code: Code = "sandbox", webhook_secret_stdin: Flag = False) -> Answer:
    """Play a sequence of Stripe events against the service, and show the outcome of each."""
    if webhook_secret_stdin:
        program = status.read()
        sign = partial(_sign, sys.stdin.readline().strip())
        path = f"/api/v1/payments/stripe/{program['program_id']}"
        deliver: Deliver = partial(project.ServiceClient(project.base_url()).call, "POST", path, auth=sign)
    else:
        service, program = find_sandbox()
        deliver = delivery(service, program)
    click_id = visit(program, code)
    program_id = program["program_id"]
    steps = play(scenes(shape, click_id, program_id, live=webhook_secret_stdin), deliver)
    result = {"click_id": click_id, "program_id": program_id, "steps": steps}
    return Answer(result, "See them on the dashboard: Settings, Payments.", ok=all(step["right"] for step in steps))


def _sign(secret: str, request: httpx2.Request) -> httpx2.Request:
    at = str(int(time.time()))
    signature = hmac.new(secret.encode(), at.encode() + b"." + request.content, "sha256").hexdigest()
    request.headers["Stripe-Signature"] = f"t={at},v1={signature}"
    return request


def find_sandbox() -> tuple[project.ServiceClient, dict[str, Any]]:
    """Return the service as the account, and the sandbox: the project's program itself, or that program's."""
    service, program_id = accounts.chosen()
    sandbox = accounts.sandbox_of(service, program_id)
    if sandbox is None:
        raise Failure("no_sandbox", f"Program {program_id} has no sandbox.", "Create it with `svc init --sandbox`.")
    return service, sandbox | {"program_id": sandbox["id"]}


def delivery(service: project.ServiceClient, sandbox: dict[str, Any]) -> Deliver:
    """Return how an event of Stripe's is delivered to a sandbox, without a signature."""
    return partial(service.call, "POST", f"/api/programs/{sandbox['id']}/sandbox/payment-events")


def visit(program: dict[str, Any], code: str) -> str:
    """Follow a partner's link; return the click_id."""
    link = accounts.partner_link(program["domain"], code)
    click = {"program_id": program["program_id"], "affiliate_url": link}
    click_id = project.ServiceClient(project.base_url()).call("POST", "/api/v1/track/click", click).get("click_id")
    if click_id is None:
        raise Failure("partner_inactive", "This partner's clicks do not count.", "Choose an active partner's code.")
    say(f"A visitor follows {plain(link)}")
    return str(click_id)


def play(scenes: list[Scene], deliver: Deliver) -> list[dict[str, Any]]:
    """Deliver the events of a sequence and return the outcome of each."""
    steps = []
    for title, event, expected in scenes:
        response = deliver(event)
        right = response["outcome"] == expected
        mark = "[green]right[/]" if right else f"[red]expected {expected}[/]"
        did = plain(f"{response['outcome']} {response['transaction_id'] or ''}".strip())
        say(f"[bold]{plain(event['type'])}[/]: {title}\n  {did}  {mark}")
        steps.append({"type": event["type"], "what": title, "outcome": response["outcome"], "right": right})
    return steps


def scenes(shape: ShopShape, click_id: str, program_id: int, *, live: bool) -> list[Scene]:
    """Return what Stripe sends of a visitor who pays, and whose payments are refunded in the end, with new ids."""
    named = SAMPLES.substitute(name=secrets.token_hex(6), click_id=click_id, program_id=program_id)
    samples = json.loads(named)
    return [
        (scene["what"], _event(samples["events"][scene["event"]], live=live), scene["outcome"])
        for scene in samples["shapes"][shape]
    ]


def _event(sample: dict[str, Any], *, live: bool) -> Event:
    about = {"id": f"evt_{secrets.token_hex(12)}", "type": sample["type"], "created": int(time.time())}
    return {**about, "livemode": live, "data": {"object": sample["object"]}}
