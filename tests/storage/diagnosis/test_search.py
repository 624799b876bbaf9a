"""Search: each identifier leads to what it names, in the programs that are searched alone."""

from datetime import timedelta

from sqlalchemy import select

from storage.diagnosis.search import SearchResult, search
from storage.rules.contact import protect
from storage.rules.errors import CustomerNotFound, InvalidKey
from storage.tables import commissions
from tests import stripe_events as stripe
from tests import world
from tests.storage.payments.paying import take
from tests.world import NOW, World

EMAIL = "jane@example.com"


async def found(acme: World, typed: str, *program_ids: int) -> SearchResult:
    return await acme.store.read(search, program_ids or [acme.program_id], typed, at=NOW)


def summary(result: SearchResult) -> list[tuple[str, str]]:
    """Return the identifiers and outcomes of the stories."""
    stories = [each.explanation for each in result.stories]
    return [(next(filter(None, each.subject)), each.outcome) for each in stories]


async def test_each_identifier_leads_to_what_it_names(acme: World):
    click_id = await acme.visitor()
    await acme.lead(click_id, "user-1", contact=protect(EMAIL))
    await acme.sale("inv-1")
    lost = await acme.visitor("ben")
    await take(acme, stripe.invoice(metadata={"svc_customer_key": "user-404"}))
    await acme.reject(CustomerNotFound(), transaction_id="inv-9", customer_key="user-9")
    commission_id = await acme.store.read(lambda connection: connection.execute(select(commissions.c.id)).scalar_one())

    stories = {
        "inv-1": [("inv-1", "credited")],
        "user-1": [("user-1", "credited")],
        f" {EMAIL.upper()}".strip(): [("user-1", "credited")],
        protect(EMAIL).hash: [("user-1", "credited")],
        click_id: [(click_id, "credited")],
        str(commission_id): [("inv-1", "credited")],
        lost: [(lost, "no_lead")],
        "inv-9": [("inv-9", "customer_not_found")],
        "user-9": [("user-9", "customer_not_found")],
        **{name: [(name, "payment_waiting")] for name in ("in_1", "pi_in_1", "evt_invoice", "cus_1")},
    }

    assert {typed: summary(await found(acme, typed)) for typed in stories} == stories


async def test_a_partner_is_found_by_name_code_and_link(acme: World):
    links = ("https://acme.example/pricing?utm_source=x&aff=anna", "https://acme.example/?via=anna")

    ids = [[each.id for each in (await found(acme, typed)).partners] for typed in ("anna", "ANN", *links, "nothing")]

    assert ids == [[acme.anna]] * 4 + [[]]


async def test_only_the_given_programs_are_searched(acme: World):
    other = await world.program_of(acme.store, acme.workspace_id, acme.owner_id, name="Other")
    for each in (acme, other):
        await each.customer()
        await each.sale("inv-1")

    both = await found(acme, "inv-1", other.program_id, acme.program_id)
    mine = await found(acme, "inv-1")

    assert sorted(each.program_id for each in both.stories) == sorted([acme.program_id, other.program_id])
    assert [each.program_id for each in mine.stories] == [acme.program_id]
    assert (await acme.store.read(search, [], "inv-1", at=NOW)).stories == []


async def test_an_identifier_that_never_arrived_says_when_the_server_last_called_and_which_key_is_like_it(acme: World):
    before = (await found(acme, "USER-1")).silences
    await acme.customer(at=NOW - timedelta(minutes=3))
    await acme.reject(InvalidKey(), at=NOW - timedelta(minutes=1), call="refund")

    (silence,) = (await found(acme, "USER-1")).silences

    assert [each.last_call_at for each in before] == [None]
    assert (silence.last_call_at, silence.likely_key) == (NOW - timedelta(minutes=1), "user-1")
    assert "rejected because of the program key" in str(silence.key_problem)
