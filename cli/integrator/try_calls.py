"""`svc test`: one test-mode call, a play of Stripe's events, or a walk from a click to a refund with its verdicts."""

import json
import secrets
from typing import Annotated, Any, NamedTuple

import httpx2
import typer

from cli.integrator import accounts, page_checks, project, status, try_stripe
from cli.integrator.output import Answer, Failure, command, plain, say
from cli.integrator.try_stripe import Code, Shape, ShopShape

app = typer.Typer(no_args_is_help=True, help="Send a test-mode call, without commission or attribution.")
CENTS = 4900
TEST = {"additional_data": {"test_mode": True}}
PROVES = {
    "click": "the service accepts clicks of this program, and the key belongs to it.",
    "lead": "the key works, and your server can report leads.",
    "sale": "the key works, and your server can report sales.",
}
Program = dict[str, Any]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Get the response, and store nothing.")]


def _add(call: str) -> None:
    def send(dry_run: DryRun = False) -> Answer:
        body: dict[str, Any] = TEST
        if call == "click":
            found = status.read()
            link = accounts.partner_link(found["domain"], "test")
            body = {"program_id": found["program_id"], "affiliate_url": link, **TEST}
        path = f"/api/v1/track/{call}"
        say(f"[bold]POST {path}[/]\n{plain(json.dumps(body))}")
        response = project.service(is_dry=dry_run).call("POST", path, body)
        following = status.next_step(status.read())
        say(f"[bold]Response[/]\n{plain(json.dumps(response))}")
        result = {"sent": body, "answer": response, "proves": PROVES[call], "next": following}
        return Answer(result, f"[green]Proves:[/] {PROVES[call]}\nNext: {plain(following)}")

    send.__doc__ = f"Send a test {call}.\n\nExample: svc test {call} --dry-run"
    command(app, call)(send)


for each in PROVES:
    _add(each)
app.command("stripe")(try_stripe.stripe)


class JourneyStep(NamedTuple):
    """A step: what was tried, its state (pass, fail or unknown), the service's verdict, and what to do."""

    step: str
    state: str
    verdict: str
    text: str


@command(app)
def journey(shop: str | None = None, code: Code = "sandbox", shape: Shape = ShopShape.SUBSCRIPTION) -> Answer:
    """Walk from a partner's link to a refund in this project's sandbox, and print the verdict of each step."""
    account, program = try_stripe.find_sandbox()
    if status.read()["program_id"] != program["id"]:
        raise Failure("not_in_sandbox", "This project uses a live program.", "Run `svc init --sandbox` first.")
    steps, browser, click_id = _visit(shop, account, program, code) if shop else ([], None, None)
    steps += _walk(account, program, click_id or try_stripe.visit(program, code))
    if account.call("GET", f"/api/programs/{program['sandbox_of']}/integration")["payment_account"]:
        scenes = try_stripe.scenes(shape, try_stripe.visit(program, code), program["id"], live=False)
        played = try_stripe.play(scenes, try_stripe.delivery(account, program))
        wrong = ", ".join(f"{each['what']}: {each['outcome']}" for each in played if not each["right"])
        text = wrong or "Every event had the right outcome."
        steps.append(JourneyStep("stripe", "fail" if wrong else "pass", shape, text))
    for each in steps:
        say(f"  {status.MARKS[each.state]}  {each.step:<10}  {plain(each.verdict)}: {plain(each.text)}")
    passed = all(each.state != "fail" for each in steps)
    done = {"passed": passed, "steps": [each._asdict() for each in steps]}
    return Answer({"program_id": program["id"], "browser": browser} | done, ok=passed)


def _visit(
    shop: str, account: project.ServiceClient, program: Program, code: str
) -> tuple[list[JourneyStep], str | None, str | None]:
    """Open the shop's page through the partner's link: the steps, the browser, and the click that its tracker sent."""
    mark = secrets.token_hex(6)
    try:
        page = page_checks.fetch(str(httpx2.URL(shop).copy_merge_params({"aff": code, "svc_journey": mark})))
    except (Failure, httpx2.InvalidURL) as problem:
        return [JourneyStep("shop", "fail", "page_unreachable", str(problem))], None, None
    base_url = project.base_url().rstrip("/")
    program_id = str(program["id"])
    found = page_checks.check(page, base_url=base_url, program_id=program_id, domain="")
    states = {} if page.browser else {"tracker_missing": "unknown"}  # a script may add it
    problems = [
        (states.get(each.code, "fail"), each.code, f"{each.message} {each.fix}") for each in found if each.is_problem
    ]
    steps = [JourneyStep("shop", *problem) for problem in problems]
    if steps or page.browser is None:
        text = "The page's HTML has the tracker of the sandbox. Plain HTTP: there is no Chromium, Chrome or Edge here."
        return steps or [JourneyStep("shop", "pass", "tracker_found", text)], page.browser, None
    newest = account.call("GET", f"/api/programs/{program_id}/events", kind="click", limit=20)["data"]
    click_id = next((str(each["id"]) for each in newest if mark in each.get("landing_url", "")), None)
    if click_id is not None:
        text = f"In {page.browser}, the shop's page sent the click that the next steps use."
        return [JourneyStep("shop", "pass", "click_recorded", text)], page.browser, click_id
    text = f"In {page.browser}, the page has the tracker, but no click arrived."
    state, text = ("unknown", f"{text} It waits for consent.") if page.tags[0].needs_consent else ("fail", text)
    return [JourneyStep("shop", state, "no_click", text)], page.browser, None


def _walk(account: project.ServiceClient, program: Program, click_id: str) -> list[JourneyStep]:
    """Send what a shop sends of one customer, and ask for the explanation after each call."""
    service, name = project.service(), f"journey-{secrets.token_hex(6)}"
    sale = {"transaction_id": name, "customer_key": name, "amount_cents": CENTS, "currency": program["currency"]}
    calls: list[tuple[str, dict[str, Any], str, dict[str, str]]] = [
        ("click", {}, "no_lead", {"click_id": click_id}),
        ("lead", {"click_id": click_id, "customer_key": name}, "no_sale", {"customer_key": name}),
        ("sale", sale, "credited", {"transaction_id": name}),
        ("refund", {"transaction_id": name}, "fully_refunded", {"transaction_id": name}),
    ]
    steps = []
    for step, body, expected, subject in calls:
        if body:
            service.call("POST", f"/api/v1/track/{step}", body)
        found = account.call("GET", f"/api/programs/{program['id']}/explain", **subject)
        right = found["verdict"] == expected
        text = found["message"] if right else f"{found['message']} {found['smallest_change'] or ''}".strip()
        steps.append(JourneyStep(step, "pass" if right else "fail", found["verdict"], text))
    return steps
