"""The checkout's metadata in every language, and WordPress's tag: snippets that need no shop."""

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace as Library
from typing import Any

import pytest
from stripe import StripeObject

from presentation import guides
from tests import stripe_events


def test_wordpress_prints_the_tracker_into_the_head(tmp_path: Path):
    blocks = guides.blocks("snippets", guides.Filling("https://svc.example", 7))
    (tmp_path / "affiliate.php").write_text(f"<?php\n{blocks['php_track']}")
    stub = "<?php function add_action(string $hook, callable $print) { echo $hook; $print(); }\n"
    (tmp_path / "functions.php").write_text(stub + blocks["wordpress_tracker"])

    environment = os.environ | {"SERVICE_PROGRAM_ID": "7"}
    command = ["php", "functions.php"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)

    tag = 'src="https://svc.example/js/svc-tracker.js" data-svc-program-id="7"></script>'
    assert done.stdout == f"wp_head<script async {tag}"


AROUND = Path(__file__).parent / "checkouts"  # what stands around each snippet; @COOKIE@ is the visitor's
CHECKOUTS = {
    "stripe_checkout": ["node", "--input-type=module", "-e"],
    "stripe_checkout_python": [sys.executable, "-c"],
    "stripe_checkout_php": ["php", "-r"],
    "stripe_checkout_ruby": ["ruby", "-rjson", "-e"],
}


@pytest.mark.parametrize("snippet", CHECKOUTS)
def test_the_checkout_s_metadata_is_complete_with_and_without_a_click_in_every_language(snippet: str):
    around = (AROUND / f"{snippet}.txt").read_text(encoding="utf-8")
    code = around.replace("CODE", guides.blocks("payments", guides.Filling("https://svc.example", 1))[snippet])

    for cookie, click_id in (("svc_click_id=c1", "c1"), ("", "")):
        run = [*CHECKOUTS[snippet], code.replace("@COOKIE@", cookie)]
        environment = os.environ | {"SERVICE_PROGRAM_ID": "7"}
        done = subprocess.run(run, env=environment, capture_output=True, text=True, check=False)

        assert done.returncode == 0, done.stderr
        payment, subscription = json.loads(done.stdout)
        wanted = {"svc_click_id": click_id, "svc_customer_key": "user-1", "program_id": "7"}
        assert payment["metadata"] == payment["payment_intent_data"]["metadata"] == wanted
        assert subscription["metadata"] == subscription["subscription_data"]["metadata"] == wanted


@pytest.mark.parametrize("old_shape", [True, False])
def test_a_webhook_of_one_s_own_reports_renewals_refunds_and_chargebacks_in_both_versions(*, old_shape: bool):
    calls: list[tuple[str, dict[str, Any]]] = []
    charge = {"id": "ch_1", "object": "charge", "payment_intent": "pi_in_1"}
    charge |= {"invoice": "in_1"} if old_shape else {}
    lists = {"Refund": [{"id": "re_1", "amount": 900}], "InvoicePayment": [{"invoice": "in_1"}]}
    library = {name: Library(list=lambda rows=rows, **_: _of_stripe({"data": rows})) for name, rows in lists.items()}
    library["Charge"] = Library(retrieve=lambda _: _of_stripe(charge))
    disputed = {"id": "dp_1", "charge": "ch_1", "amount": 4_000}
    tax: dict[str, Any] = {"tax": 900} if old_shape else {"total_taxes": [{"amount": 900}]}
    events = (
        stripe_events.invoice(renewal=True, amount=4_900, old_shape=old_shape, **tax),
        stripe_events.event("charge.refunded", charge, event_id="evt_2"),
        stripe_events.event("charge.dispute.created", disputed, event_id="evt_3"),
    )
    names: dict[str, Any] = {"stripe": Library(**library), "track": lambda call, **body: calls.append((call, body))}
    exec(guides.blocks("payments", guides.Filling("https://svc.example", 1))["stripe_webhook_python"], names)

    for event in events:
        names["report"](_of_stripe(event), lambda _: Library(id=7, click_id="c1"))

    sale = {"transaction_id": "in_1", "customer_key": "7", "click_id": "c1", "amount_cents": 4_900, "tax_cents": 900}
    assert calls == [
        ("sale", sale | {"currency": "USD", "sale_type": "subscription", "is_recurring": True}),
        ("refund", {"transaction_id": "in_1", "refund_id": "re_1", "refund_amount_cents": 900}),
        ("refund", {"transaction_id": "in_1", "refund_id": "dp_1", "refund_amount_cents": 4_000}),
    ]


def _of_stripe(values: dict[str, Any]) -> Any:
    """Return what Stripe's library makes of a response."""
    return StripeObject.construct_from(values, "sk_test_1")
