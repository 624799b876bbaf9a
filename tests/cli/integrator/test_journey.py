"""`svc test journey`: the whole chain in the sandbox, each step with its verdict."""

from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

from tests.cli.integrator.conftest import Shop
from tests.cli.integrator.test_stripe import connect

CHAIN = [("click", "no_lead"), ("lead", "no_sale"), ("sale", "credited"), ("refund", "fully_refunded")]


class Page(BaseHTTPRequestHandler):
    """A shop's page whose tracker names the program of its path."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        program_id = self.path.strip("/").partition("?")[0].partition("/")[0]
        self.wfile.write(f'<script src="/js/svc-tracker.js" data-svc-program-id="{program_id}"></script>'.encode())

    def log_message(self, *_: object) -> None:
        """Stay silent."""


async def test_a_journey_passes_in_the_sandbox_with_the_shop_and_stripe_and_leaves_the_live_program_alone(shop: Shop):
    await shop.sign_in()
    await connect(shop)
    sandbox_id = (await shop.svc("init", "--sandbox", "--json")).json["program_id"]

    with HTTPServer(("127.0.0.1", 0), Page) as page:
        Thread(target=page.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{page.server_port}"
        walked = await shop.svc("test", "journey", "--shop", f"{address}/{sandbox_id}", "--json")
        other = await shop.svc("test", "journey", "--shop", f"{address}/{shop.acme.program_id}", "--json")
        page.shutdown()
    in_live = await shop.svc("test", "journey", "--json", SERVICE_API_KEY=shop.acme.key)

    assert walked.code == 0, walked.stderr
    verdicts = [(step["step"], step["verdict"]) for step in walked.json["steps"]]
    assert verdicts == [("shop", "tracker_found"), *CHAIN, ("stripe", "subscription")]
    assert (other.code, other.json["steps"][0]["verdict"], other.json["passed"]) == (1, "other_program", False)
    live = await shop.svc("status", "--json", SERVICE_API_KEY=shop.acme.key)
    assert live.json["recent_events"] == {"clicks_24h": 0, "leads_24h": 0, "sales_24h": 0}
    assert (in_live.code, in_live.json["error"]["code"]) == (1, "not_in_sandbox")
