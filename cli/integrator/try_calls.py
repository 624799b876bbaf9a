"""`svc test`: one test-mode call, a play of Stripe's events, or a walk from a click to a refund with its verdicts."""

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
from typing import Annotated, Any, NamedTuple

import httpx2
import typer

from cli.integrator import accounts, page_checks, project, status
from cli.integrator.output import Answer, Failure, Flag, command, plain, say, written

app = typer.Typer(no_args_is_help=True, help="Send a test-mode call, without commission or attribution.")
CENTS = 4900
TEST = {"additional_data": {"test_mode": True}}
PROVES = {
    "click": "the service accepts clicks of this program, and the key belongs to it.",
    "lead": "the key works, and your server can report leads.",
    "sale": "the key works, and your server can report sales.",
}
Program = dict[str, Any]
SAMPLES = Template(Path(__file__).with_name("stripe_events.json").read_text(encoding="utf-8"))
Event = dict[str, Any]
Deliver = Callable[[Event], dict[str, Any]]
Scene = tuple[str, Event, str]  # what happens, the event that Stripe sends, and the outcome that is right


class ShopShape(StrEnum):
    ONE_OFF = "one-off"
    SUBSCRIPTION = "subscription"
    TRIAL = "trial"


Shape = Annotated[ShopShape, typer.Option(help="How the shop sells through Stripe.")]
Code = Annotated[str, typer.Option(help="The code of the partner who sends the visitor.")]


def _add(call: str) -> None:
    def send(dry_run: Flag = False) -> Answer:
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


@command(app)
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
    samples = json.loads(SAMPLES.substitute(name=secrets.token_hex(6), click_id=click_id, program_id=program_id))
    made = []
    for scene in samples["shapes"][shape]:
        sample = samples["events"][scene["event"]]
        event = {"id": f"evt_{secrets.token_hex(12)}", "type": sample["type"], "created": int(time.time())}
        event |= {"livemode": live, "data": {"object": sample["object"]}}
        made.append((scene["what"], event, scene["outcome"]))
    return made


class JourneyStep(NamedTuple):
    step: str
    state: str  # pass, fail or unknown
    verdict: str  # the service's
    text: str  # also what to do


@command(app)
def journey(shop: str | None = None, code: Code = "sandbox", shape: Shape = ShopShape.SUBSCRIPTION) -> Answer:
    """Walk from a partner's link to a refund in this project's sandbox, and print the verdict of each step."""
    account, program = find_sandbox()
    if status.read()["program_id"] != program["id"]:
        raise Failure("not_in_sandbox", "This project uses a live program.", "Run `svc init --sandbox` first.")
    steps, browser, click_id = _visit(shop, account, program, code) if shop else ([], None, None)
    steps += _walk(account, program, click_id or visit(program, code))
    if account.call("GET", f"/api/programs/{program['sandbox_of']}/integration")["payment_account"]:
        happening = scenes(shape, visit(program, code), program["id"], live=False)
        played = play(happening, delivery(account, program))
        wrong = ", ".join(f"{each['what']}: {each['outcome']}" for each in played if not each["right"])
        text = wrong or "Every event had the right outcome."
        steps.append(JourneyStep("stripe", "fail" if wrong else "pass", shape, text))
    passed, listed = all(each.state != "fail" for each in steps), [each._asdict() for each in steps]
    result = {"program_id": program["id"], "browser": browser, "passed": passed, "steps": listed}
    return Answer(result, written("integrator/steps", steps=listed), ok=passed)


def _visit(
    shop: str, account: project.ServiceClient, program: Program, code: str
) -> tuple[list[JourneyStep], str | None, str | None]:
    """Open the shop's page through the partner's link: the steps, the browser, and the click that its tracker sent."""
    mark = secrets.token_hex(6)
    try:
        page = page_checks.fetch(str(httpx2.URL(shop).copy_merge_params({"aff": code, "svc_journey": mark})))
    except (Failure, httpx2.InvalidURL) as problem:
        return [JourneyStep("shop", "fail", "page_unreachable", str(problem))], None, None
    base_url, program_id = project.base_url().rstrip("/"), str(program["id"])
    found = page_checks.check(page, base_url=base_url, program_id=program_id, domain="")
    states = {} if page.browser else {"tracker_missing": "unknown"}  # a script may add it
    problems = [each for each in found if each.is_problem]
    steps = [JourneyStep("shop", states.get(it.code, "fail"), it.code, f"{it.message} {it.fix}") for it in problems]
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
