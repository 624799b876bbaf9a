"""`svc test journey`: walks click, lead, sale, refund and Stripe's events in the sandbox, with a verdict for each."""

import secrets
from typing import Annotated, Any, NamedTuple

import httpx2
import typer

from cli.integrator import project, status, try_stripe
from cli.integrator.doctor import shop_page
from cli.integrator.doctor.shop_page import ShopPage
from cli.integrator.explain import MARKS
from cli.integrator.output import Failure, Json, Output, answering, plain
from cli.integrator.service import ServiceClient
from cli.integrator.stripe_shapes import SampleBuyer, ShopShape

CENTS = 4900
NEWEST = 20


class JourneyStep(NamedTuple):
    """A step: what was tried, its state (pass, fail or unknown), the service's verdict, and what to do."""

    step: str
    state: str
    verdict: str
    text: str


class Visit(NamedTuple):
    """What came of a visit: the step, the browser (None for plain HTTP), and the click that the tracker sent."""

    step: JourneyStep
    browser: str | None = None
    click_id: str | None = None


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
        account, program = try_stripe.find_sandbox(output)
        if status.read()["program_id"] != program["id"]:
            raise Failure("not_in_sandbox", "This project uses a live program.", "Run `svc init --sandbox` first.")
        visit = _visit(shop, account, program, code) if shop else None
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


def _visit(shop: str, account: ServiceClient, program: dict[str, Any], code: str) -> Visit:
    """Open the shop's page through the partner's link; in a browser, the tracker sends the click."""
    mark = secrets.token_hex(6)
    try:
        page = shop_page.fetch(str(httpx2.URL(shop).copy_merge_params({"aff": code, "svc_journey": mark})))
    except (Failure, httpx2.InvalidURL) as problem:
        return Visit(JourneyStep("shop", "fail", "unreachable", f"{shop} does not respond: {problem}"))
    wrong = _wrong(page, program)
    if wrong or page.browser is None:
        text = "The page's HTML has the tracker of the sandbox. Plain HTTP: there is no Chromium, Chrome or Edge here."
        return Visit(wrong or JourneyStep("shop", "pass", "tracker_found", text), page.browser)
    click_id = _click(account, program, mark)
    if click_id is None:
        text = f"In {page.browser}, the page has the tracker, but no click arrived. `svc doctor {shop}` checks why."
        consent = " It waits for consent." if page.tags[0].needs_consent else ""
        state = "unknown" if consent else "fail"
        return Visit(JourneyStep("shop", state, "no_click", text + consent), page.browser)
    text = f"In {page.browser}, the shop's page sent the click that the next steps use."
    return Visit(JourneyStep("shop", "pass", "click_recorded", text), page.browser, click_id)


def _wrong(page: ShopPage, program: dict[str, Any]) -> JourneyStep | None:
    if page.status != httpx2.codes.OK:
        return JourneyStep("shop", "fail", "error_page", f"The page answers {page.status}.")
    if not page.tags and page.browser is None:
        text = "The page's HTML has no tracker. If a script adds it, install Chromium: this looks there, too."
        return JourneyStep("shop", "unknown", "no_tracker", text)
    if not page.tags:
        return JourneyStep("shop", "fail", "no_tracker", f"In {page.browser}, the page has no tracker.")
    if page.tags[0].program_id != str(program["id"]):
        text = f"The tracker has program {page.tags[0].program_id}. Restart the shop with SERVICE_PROGRAM_ID="
        return JourneyStep("shop", "fail", "other_program", f"{text}{program['id']}.")
    return None


def _click(account: ServiceClient, program: dict[str, Any], mark: str) -> str | None:
    """Return the click of a visit."""
    newest = account.call("GET", f"/api/programs/{program['id']}/events", kind="click", limit=NEWEST)["data"]
    return next((str(each["id"]) for each in newest if mark in each.get("landing_url", "")), None)


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
    played = try_stripe.play(scenes, try_stripe.delivery(account, program["id"]), output)
    wrong = [each for each in played if not each["right"]]
    outcome = ", ".join(f"{each['what']}: {each['outcome']}" for each in wrong)
    return JourneyStep("stripe", "fail" if wrong else "pass", shape, outcome or "Every event had the right outcome.")
