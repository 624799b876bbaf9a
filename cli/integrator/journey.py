"""`svc test journey`: walks click, lead, sale, refund and Stripe's events in the sandbox, with a verdict for each."""

import secrets
from typing import Annotated, Any

import typer

from cli.integrator import project, sandbox, shop_visit, status, try_stripe
from cli.integrator.explain import MARKS
from cli.integrator.output import Failure, Json, Output, answering, plain
from cli.integrator.service import ServiceClient
from cli.integrator.shop_visit import JourneyStep
from cli.integrator.stripe_shapes import SampleBuyer, ShopShape

CENTS = 4900


def journey(
    shop: Annotated[str | None, typer.Option(help="The URL of the running shop, to look for its tracker.")] = None,
    code: Annotated[str, typer.Option(help="The code of the partner who sends the visitor.")] = "sandbox",
    shape: Annotated[ShopShape, typer.Option(help="How the shop sells through Stripe.")] = ShopShape.SUBSCRIPTION,
    as_json: Json = False,
) -> None:
    """Walk from a partner's link to a refund in this project's sandbox, and print the verdict of each step.

    With --shop it opens the shop's page in Chromium, Chrome or Edge, whose click the next steps use; without a browser
    it only looks for the tracker in the page, and says so. Then it sends what the shop sends: a lead, a sale and a
    refund with the project's key, and Stripe's events if the program has a payment account. Nothing live changes.
    Exit code 0: every step passed, or could not be checked; 1: one failed.

    Example:
      svc test journey --shop http://localhost:3000

    """
    with answering(as_json=as_json) as output:
        account, program = sandbox.find(output)
        if status.read()["program_id"] != program["id"]:
            raise Failure("not_in_sandbox", "This project uses a live program.", "Run `svc init --sandbox` first.")
        visit = shop_visit.visit(shop, account, program, code) if shop else None
        steps = [visit.step] if visit else []
        click_id = visit.click_id if visit else None
        steps += _walk(account, program, click_id or try_stripe.visit(program, code, output))
        if account.call("GET", f"/api/programs/{program['sandbox_of']}/integration")["payment_account"]:
            steps.append(_pay(account, program, code, shape, output))
        for each in steps:
            output.say(f"  {MARKS[each.state]}  {each.step:<10}  {plain(each.verdict)}: {plain(each.text)}")
        failed = any(each.state == "fail" for each in steps)
        done = {"passed": not failed, "steps": [each._asdict() for each in steps]}
        output.result({"program_id": program["id"], "browser": visit and visit.browser} | done)
    if failed:
        raise typer.Exit(1)


def _walk(account: ServiceClient, program: dict[str, Any], click_id: str) -> list[JourneyStep]:
    """Send what a shop sends of one customer, and ask for the explanation after each call."""
    service, name = ServiceClient(project.base_url(), project.key()), f"journey-{secrets.token_hex(6)}"
    steps = [_explained(account, program, "click", "no_lead", click_id=click_id)]
    service.call("POST", "/api/v1/track/lead", {"click_id": click_id, "customer_key": name})
    steps.append(_explained(account, program, "lead", "no_sale", customer_key=name))
    sale = {"transaction_id": name, "customer_key": name, "amount_cents": CENTS, "currency": program["currency"]}
    service.call("POST", "/api/v1/track/sale", sale)
    steps.append(_explained(account, program, "sale", "credited", transaction_id=name))
    service.call("POST", "/api/v1/track/refund", {"transaction_id": name})
    steps.append(_explained(account, program, "refund", "fully_refunded", transaction_id=name))
    return steps


def _explained(
    account: ServiceClient, program: dict[str, Any], step: str, expected: str, **subject: str
) -> JourneyStep:
    found = account.call("GET", f"/api/programs/{program['id']}/explain", **subject)
    right = found["verdict"] == expected
    text = found["message"] if right else f"{found['message']} {found['smallest_change'] or ''}".strip()
    return JourneyStep(step, "pass" if right else "fail", found["verdict"], text)


def _pay(account: ServiceClient, program: dict[str, Any], code: str, shape: ShopShape, output: Output) -> JourneyStep:
    """Play the shop's payments for another visitor."""
    scenes = SampleBuyer(try_stripe.visit(program, code, output), program["id"], live=False).play(shape)
    wrong = [
        each for each in try_stripe.play(scenes, sandbox.delivery(account, program["id"]), output) if not each["right"]
    ]
    outcome = ", ".join(f"{each['what']}: {each['outcome']}" for each in wrong)
    return JourneyStep("stripe", "fail" if wrong else "pass", shape, outcome or "Every event had the right outcome.")
