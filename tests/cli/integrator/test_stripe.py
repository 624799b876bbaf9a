"""`svc test stripe`: signed sample events against the live server, each with its effect."""

from datetime import UTC, datetime

from storage.engine.audit import Actor
from storage.engine.sealing import Sealer
from storage.payments import accounts
from tests import serving, stripe_events
from tests.cli.integrator.conftest import OLGA, Shop


async def connect(shop: Shop) -> None:
    """Connect an account as the server can read it."""
    await shop.acme.store.write(
        accounts.connect,
        shop.acme.program_id,
        provider="stripe",
        account_id="acct_1",
        secret=stripe_events.SECRET,
        sealer=Sealer(serving.SECRET_KEY),
        actor=Actor("user", "1", OLGA),
        at=datetime.now(UTC),
    )


async def test_each_event_shows_its_outcome_and_nothing_remains_to_pay(shop: Shop):
    await connect(shop)

    done = await shop.svc(
        *("test", "stripe", "--code", "anna", "--webhook-secret-stdin", "--json"),
        stdin=stripe_events.SECRET,
        SERVICE_API_KEY=shop.acme.key,
    )

    assert done.code == 0, done.stderr
    assert [step["outcome"] for step in done.json["steps"]] == [
        "recorded",
        "repeated",
        "recorded",
        "recorded",
        "recorded",
    ]
    status = (await shop.svc("status", "--json", SERVICE_API_KEY=shop.acme.key)).json
    assert (status["payment_account_connected"], status["pending_commissions"]) == (True, 0)


async def test_a_wrong_secret_is_rejected(shop: Shop):
    await connect(shop)

    done = await shop.svc(
        *("test", "stripe", "--code", "anna", "--webhook-secret-stdin", "--json"),
        stdin="whsec_somebody_elses",
        SERVICE_API_KEY=shop.acme.key,
    )

    assert (done.code, done.json["error"]["code"]) == (1, "invalid_signature")
