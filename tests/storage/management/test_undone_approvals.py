"""An approval can be undone for an hour, by the member who made it, unless the commission was paid since."""

from datetime import timedelta

import pytest

from storage.engine import audit
from storage.engine.audit import OPERATOR, Actor
from storage.management import commissions, undone_approvals
from storage.rules.commission import CommissionStatus
from storage.rules.errors import ValidationError
from tests.world import NOW, World

LATER = NOW + timedelta(days=60)
OLGA = Actor("user", "7", "olga@acme.example")


async def test_what_was_approved_together_is_pending_again_unless_it_was_paid(acme: World):
    await acme.customer()
    for n in range(3):
        await acme.sale(f"inv-{n}")
    ids = [each.id for each in (await acme.store.read(commissions.list_commissions, acme.program_id)).data]
    decide = (commissions.decide_each, acme.program_id)
    await acme.store.write(*decide, ids[:2], CommissionStatus.APPROVED, actor=OLGA, at=LATER)
    await acme.store.write(
        *decide, ids[2:], CommissionStatus.APPROVED, actor=OLGA, at=LATER + timedelta(milliseconds=1)
    )
    await acme.store.write(*decide, ids[:1], CommissionStatus.PAID, actor=OLGA, at=LATER)
    millis = undone_approvals.millis_of(LATER)
    undo = (undone_approvals.undo, acme.program_id)

    other = await acme.store.write(*undo, millis=millis, actor=OPERATOR, at=LATER)
    undone = await acme.store.write(*undo, millis=millis, actor=OLGA, at=LATER)
    again = await acme.store.write(*undo, millis=millis, actor=OLGA, at=LATER)

    after = {
        each.id: each.status for each in (await acme.store.read(commissions.list_commissions, acme.program_id)).data
    }
    assert (other, undone, again) == (0, 1, 0)
    assert [after[each] for each in ids] == ["paid", "pending", "approved"]
    newest = (await acme.store.read(audit.list_entries, acme.program_id)).data[0]
    assert (newest.action, newest.before, newest.after) == ("commission.decide", "approved", "pending")
    with pytest.raises(ValidationError):
        await acme.store.write(*undo, millis=millis, actor=OLGA, at=LATER + timedelta(hours=2))
