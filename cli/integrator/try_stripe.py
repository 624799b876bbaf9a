"""`svc test stripe`: plays how the shop sells (one-off, subscription, trial) as events of Stripe."""

import hmac
import json
import sys
import time
from collections.abc import Callable
from typing import Annotated, Any

import typer

from cli.integrator import programs, project, status
from cli.integrator.output import Failure, Json, Output, answering, plain
from cli.integrator.service import ServiceClient
from cli.integrator.stripe_shapes import SampleBuyer, Scene, ShopShape

Deliver = Callable[[dict[str, Any]], dict[str, Any]]


def stripe(
    shape: Annotated[ShopShape, typer.Option(help="How the shop sells.")] = ShopShape.SUBSCRIPTION,
    code: Annotated[str, typer.Option(help="The code of the partner who sends the visitor.")] = "sandbox",
    webhook_secret_stdin: Annotated[
        bool, typer.Option("--webhook-secret-stdin", help="Sign with the webhook secret from standard input.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Play a sequence of Stripe events against the service, and show the outcome of each.

    It plays in the program's sandbox, as the logged-in owner: nothing live changes. With --webhook-secret-stdin it
    signs the events and sends them to the webhook of this project's program, which records real sales and refunds them
    at the end. Exit code 0: every outcome is right; 1: one is not.

    Example:
      svc test stripe --shape trial
      svc test stripe --code anna --webhook-secret-stdin < webhook-secret.txt

    """
    with answering(as_json=as_json) as output:
        if webhook_secret_stdin:
            program, deliver = status.read(), _signed(sys.stdin.readline().strip())
        else:
            service, program = find_sandbox(output)
            deliver = delivery(service, program["program_id"])
        click_id = visit(program, code, output)
        steps = play(
            SampleBuyer(click_id, program["program_id"], live=webhook_secret_stdin).play(shape), deliver, output
        )
        output.say("See them on the dashboard: Settings, Payments.")
        output.result({"click_id": click_id, "program_id": program["program_id"], "steps": steps})
    if not all(step["right"] for step in steps):
        raise typer.Exit(1)


def play(scenes: list[Scene], deliver: Deliver, output: Output) -> list[dict[str, Any]]:
    """Deliver the events of a sequence and return the outcome of each."""
    steps = []
    for title, event, expected in scenes:
        response = deliver(event)
        right = response["outcome"] == expected
        mark = "[green]right[/]" if right else f"[red]expected {expected}[/]"
        did = plain(f"{response['outcome']} {response['transaction_id'] or ''}".strip())
        output.say(f"[bold]{plain(event['type'])}[/]: {title}\n  {did}  {mark}")
        steps.append({"type": event["type"], "what": title, "outcome": response["outcome"], "right": right})
    return steps


def visit(program: dict[str, Any], code: str, output: Output) -> str:
    """Follow a partner's link; return the click_id."""
    address = programs.partner_link(program["domain"], code)
    click = {"program_id": program["program_id"], "affiliate_url": address}
    click_id = ServiceClient(project.base_url()).call("POST", "/api/v1/track/click", click).get("click_id")
    if click_id is None:
        raise Failure("partner_inactive", "This partner's clicks do not count.", "Choose an active partner's code.")
    output.say(f"A visitor follows {plain(address)}")
    return str(click_id)


def find_sandbox(output: Output) -> tuple[ServiceClient, dict[str, Any]]:
    """Return the service as the account, and the sandbox: the project's program itself, or that program's."""
    service, program_id = programs.meant(None, output)
    for each in programs.every(service):
        if each["sandbox_of"] is not None and program_id in {each["id"], each["sandbox_of"]}:
            return service, each | {"program_id": each["id"]}
    raise Failure("no_sandbox", f"Program {program_id} has no sandbox.", "Create it with `svc init --sandbox`.")


def delivery(service: ServiceClient, sandbox_id: int) -> Deliver:
    """Return how an event of Stripe's is delivered to a sandbox, without a signature."""

    def deliver(event: dict[str, Any]) -> dict[str, Any]:
        return service.call("POST", f"/api/programs/{sandbox_id}/sandbox/payment-events", event)

    return deliver


def _signed(secret: str) -> Deliver:
    """Return how an event is delivered to the webhook of this project's program, signed."""
    service, program_id = ServiceClient(project.base_url()), status.read()["program_id"]

    def deliver(event: dict[str, Any]) -> dict[str, Any]:
        content = json.dumps(event)
        signature = {"Stripe-Signature": _signature(content, secret)}
        return service.deliver(f"/api/v1/payments/stripe/{program_id}", content, **signature)

    return deliver


def _signature(content: str, secret: str) -> str:
    """Return the header with which Stripe signs a webhook."""
    signed_at = int(time.time())
    return f"t={signed_at},v1={hmac.new(secret.encode(), f'{signed_at}.{content}'.encode(), 'sha256').hexdigest()}"
