"""What a payment's names lead to: its customer (never by e-mail), its sale, and the money that went back of it."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, select

from storage.engine.database import insert_for
from storage.engine.statements import named_statement, read_statement
from storage.payments import event_log
from storage.rules import keys
from storage.rules.attribution import COUPON, site_url
from storage.rules.payment import Content, Introduced, Paid, PaymentOutcome, Returned
from storage.rules.reconciliation import WITHIN
from storage.tables import payment_customers, payment_references, sales
from storage.tracking import clicks, program_terms, refunds
from storage.tracking.coupons import Coupons
from storage.tracking.customers import Customer, Registry

INTENTS = ("pi_", "ch_", "py_")  # how the names of what pays begin
_DUPLICATE = read_statement("payment_duplicate")
_REPORT = named_statement("payment_return_report")


class Payers(NamedTuple):
    """The customers and the sales of a program's payments, as a transaction finds and links them."""

    connection: Connection
    program_id: int
    at: datetime

    def find(self, paid: Paid | Introduced) -> Customer | None:
        """Return the customer of the metadata's click, else of its key, else of the processor."""
        customer = self.find_named(paid.click_id, paid.customer_key)
        if customer is None or self.is_another(paid, customer):  # then whose the processor's is, if that is known
            customer = self.find_named(self._linked_click(paid), None) or customer
        if customer is None and isinstance(paid, Paid) and paid.processor_customer:
            known = self.known_as([paid.processor_customer])  # whose that one is may be in their own metadata
            introduced = next((each for _, each in known if isinstance(each, Introduced)), None)
            if introduced is not None:
                customer = self.find_named(introduced.click_id, introduced.customer_key)
        return customer

    def known_as(self, names: Iterable[str]) -> list[tuple[str, Content | None]]:
        """Return the outcomes and contents of the newest events with one of these names, newest first."""
        rows = event_log.find(self.connection, self.program_id, names)
        return [(row.outcome, event_log.load(row.payment)) for row in rows]

    def find_named(self, click_id: str | None, customer_key: str | None) -> Customer | None:
        """Return the customer of a click, else the one who has a key."""
        own_click_id = click_id if keys.click_program(click_id or "") == self.program_id else None
        registry = Registry(self.connection, [(self.program_id, customer_key, own_click_id)], at=self.at)
        return registry.by_click(own_click_id) or registry.by_key(self.program_id, customer_key)

    def of_coupon(self, paid: Paid) -> Customer | None:
        """Return a new customer of the partner whose coupon the payment has, behind a click for which it stands."""
        program = program_terms.load_one(self.connection, self.program_id)
        coupon = Coupons(self.connection, [(program, paid)]).find(self.program_id, paid.coupon_code, paid.occurred_at)
        if coupon is None:
            return None
        click = clicks.unseen(self.program_id, site_url(coupon.domain), paid.occurred_at)
        [click_id] = clicks.stand_in(self.connection, [(click, coupon.partner_id)], why=COUPON)
        return self.find_named(click_id, None)

    def is_another(self, paid: Paid | Introduced, customer: Customer) -> bool:
        """Return whether a second account may have paid, in the customer's browser or with their referral token."""
        # It has another key, or none where the token is spent.
        differs = customer.has_other_key(paid.customer_key) or customer.is_spent(paid.customer_key)
        differs = differs and paid.click_id == customer.click_id
        return differs and self._linked_click(paid) != customer.click_id

    def remember(self, processor_customer: str | None, customer: Customer | None) -> None:
        """Save whose the processor's customer is, once, if both are known."""
        if processor_customer and customer:
            row = {"processor_customer": processor_customer, "click_id": customer.click_id}
            new = insert_for(self.connection)(payment_customers).values(program_id=self.program_id, **row)
            self.connection.execute(new.on_conflict_do_nothing())

    def _linked_click(self, paid: Paid | Introduced) -> str | None:
        known = payment_customers.c
        mine = (known.program_id == self.program_id, known.processor_customer == (paid.processor_customer or ""))
        return self.connection.execute(select(known.click_id).where(*mine)).scalar()

    def find_sale(self, references: tuple[str, ...]) -> str | None:
        """Return the transaction_id if this payment is already a sale; a checkout and its invoice are one payment."""
        known = payment_references.c
        mine = (known.program_id == self.program_id, known.reference.in_(references))
        return self.connection.execute(select(known.transaction_id).where(*mine).limit(1)).scalar()

    def refer(self, references: Iterable[str], sale: str) -> None:
        """Save the ids of a sale's payment, which link later events to it; refund what went back already."""
        for reference in references:
            row = {"program_id": self.program_id, "reference": reference, "transaction_id": sale}
            new = insert_for(self.connection)(payment_references).values(**row)
            self.connection.execute(new.on_conflict_do_nothing())
        refunds.follow(self.connection, self.program_id, sale, at=self.at)

    def whole_of(self, paid: Paid) -> tuple[Paid | None, str]:
        """Return what a bare payment is part of, as its invoice or checkout reports it, and that event's outcome."""
        for outcome, content in self.known_as(paid.references):
            if isinstance(content, Paid) and not content.is_bare and outcome != PaymentOutcome.IGNORED:
                names = tuple(dict.fromkeys((*content.references, *paid.references)))
                named = content._replace(references=names, click_id=paid.click_id, customer_key=paid.customer_key)
                return named, outcome
        return None, ""

    def possible_duplicate(self, paid: Paid, customer: Customer) -> Any:
        """Return the row of a sale by another report that may be this payment; None without one."""
        # Nothing links a bare payment and another without the name of what paid it.
        lacks_name = not paid.is_bare and not any(name.startswith(INTENTS) for name in paid.references)
        sold = {name: getattr(paid, name) for name in ("transaction_id", "amount_cents", "currency", "is_bare")}
        near = {"since": paid.occurred_at - WITHIN, "until": paid.occurred_at + WITHIN, "lacks_name": lacks_name}
        values = {"program_id": self.program_id, "customer_id": customer.id, **sold, **near}
        return self.connection.execute(_DUPLICATE, values).one_or_none()

    def take_back(self, returned: Returned) -> tuple[str | None, bool]:
        """Save a returned amount and refund its sale; return its transaction_id, and whether a person has to decide."""
        transaction_id = self.find_sale((returned.reference,))
        self.lock_sale(transaction_id)  # before its returns, as by the API: of two reports, one waits
        about = {"program_id": self.program_id}
        self.connection.execute(_REPORT, [each._asdict() | about for each in (returned, *returned.listed)])
        if transaction_id is None:
            return None, False
        return transaction_id, refunds.follow(self.connection, self.program_id, transaction_id, at=self.at)

    def lock_sale(self, transaction_id: str | None) -> int | None:
        mine = (sales.c.program_id == self.program_id, sales.c.transaction_id == transaction_id)
        return self.connection.execute(select(sales.c.id).where(*mine).with_for_update()).scalar()
