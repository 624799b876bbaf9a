"""`svc test journey`: walks click, lead, sale, refund and Stripe's events in the sandbox, with a verdict for each."""

import re
import secrets
from typing import Annotated, Any, NamedTuple

import httpx2
import typer

from cli.integrator import project, sandbox, status
from cli.integrator.explain import MARKS
from cli.integrator.output import Failure, Json, Output, answering, plain
from cli.integrator.service import TIMEOUT_SECONDS, ServiceClient
from cli.integrator.stripe_shapes import SampleBuyer, ShopShape
from cli.integrator.try_stripe import play, visit

CENTS = 4900
TRACKER = re.compile(r"""data-svc-program-id=["']?(\d+)""")


class JourneyStep(NamedTuple):
    """A step: what was tried, its state (pass, fail or unknown), the service's verdict, and what to do."""

    step: str
    state: str
    verdict: str
    text: str


def journey(
    shop: Annotated[str | None, typer.Option(help="The URL of the running shop, to look for its tracker.")] = None,
    code: Annotated[str, typer.Option(help="The code of the partner who sends the visitor.")] = "sandbox",
    shape: Annotated[ShopShape, typer.Option(help="How the shop sells through Stripe.")] = ShopShape.SUBSCRIPTION,
    as_json: Json = False,
) -> None:
    """Walk from a partner's link to a refund in this project's sandbox, and print the verdict of each step.

    It sends what the shop sends: a click, a lead, a sale and a refund with the project's key, and Stripe's events if
    the program has a payment account. With --shop it first looks for the tracker on the shop's page. Nothing live
    changes.
    Exit code 0: every step passed, or could not be checked; 1: one failed.

    Example:
      svc test journey --shop http://localhost:3000

    """
    with answering(as_json=as_json) as output:
        account, program = sandbox.find(output)
        if status.read()["program_id"] != program["id"]:
            raise Failure("not_in_sandbox", "This project uses a live program.", "Run `svc init --sandbox` first.")
        steps = [_look(shop, program, code)] if shop else []
        steps += _walk(account, program, code, output)
        if account.call("GET", f"/api/programs/{program['sandbox_of']}/integration")["payment_account"]:
            steps.append(_pay(account, program, code, shape, output))
        for each in steps:
            output.say(f"  {MARKS[each.state]}  {each.step:<10}  {plain(each.verdict)}: {plain(each.text)}")
        failed = any(each.state == "fail" for each in steps)
        output.result({"program_id": program["id"], "passed": not failed, "steps": [each._asdict() for each in steps]})
    if failed:
        raise typer.Exit(1)


def _look(shop: str, program: dict[str, Any], code: str) -> JourneyStep:
    """Open the shop's page through the partner's link, and look for the tracker of the sandbox."""
    address = httpx2.URL(shop).copy_merge_params({"aff": code})
    try:
        response = httpx2.get(address, timeout=TIMEOUT_SECONDS, follow_redirects=True)
    except (httpx2.TransportError, httpx2.InvalidURL) as problem:
        return JourneyStep("shop", "fail", "unreachable", f"{shop} does not respond: {problem}")
    found = TRACKER.search(response.text)
    if not response.is_success:
        return JourneyStep("shop", "fail", "error_page", f"The page answers {response.status_code}.")
    if found is None:
        text = "The page's HTML has no tracker. If the page's script loads it, check it in a browser."
        return JourneyStep("shop", "unknown", "no_tracker", text)
    if found[1] != str(program["id"]):
        text = f"The tracker has program {found[1]}. Restart the shop with SERVICE_PROGRAM_ID={program['id']}."
        return JourneyStep("shop", "fail", "other_program", text)
    return JourneyStep("shop", "pass", "tracker_found", "The page has the tracker of the sandbox.")


def _walk(account: ServiceClient, program: dict[str, Any], code: str, output: Output) -> list[JourneyStep]:
    """Send what a shop sends of one customer, and ask for the explanation after each call."""
    service, name = ServiceClient(project.base_url(), project.key()), f"journey-{secrets.token_hex(6)}"
    click_id = visit(program, code, output)
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
    scenes = SampleBuyer(visit(program, code, output), program["id"], live=False).play(shape)
    wrong = [each for each in play(scenes, sandbox.delivery(account, program["id"]), output) if not each["right"]]
    outcome = ", ".join(f"{each['what']}: {each['outcome']}" for each in wrong)
    return JourneyStep("stripe", "fail" if wrong else "pass", shape, outcome or "Every event had the right outcome.")
