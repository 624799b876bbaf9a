"""The audit log page: names, links, amounts and times instead of numbers."""

import re

import httpx

from storage.management import commissions
from storage.rules.commission import CommissionStatus
from tests.tracking_api.dashboard.conftest import Dashboard
from tests.world import HELD_SINCE, NOW


async def test_entries_name_and_link_what_they_are_about(dashboard: Dashboard, olga: httpx.AsyncClient):
    acme = dashboard.acme
    await acme.customer(at=HELD_SINCE)
    await acme.sale(at=HELD_SINCE)
    await acme.flag()
    [commission] = (await acme.store.read(commissions.list_commissions, acme.program_id)).data
    await dashboard.patch(f"./partners/{acme.ben}", name="Benjamin")
    await dashboard.patch(".", lead_commission_cents=150)
    await dashboard.patch(f"./commissions/{commission.id}", status=CommissionStatus.REJECTED)
    base = dashboard.pages

    page = (await olga.get(f"{base}/settings/audit-log")).text

    text = re.sub(r"<(?!a )[^>]+>", "", page)
    assert f'<a href="{base}/partners/{acme.ben}">Partner changed: Benjamin' in text
    assert f'<a href="{base}/commissions/{commission.id}">Commission decided: $20.00 of Anna' in text
    assert f'<a href="{base}/review">Flag raised: Shared click' in text
    assert f'<a href="{base}/settings">Program changed' in text
    assert "$1.50" in text
    assert str(commission.id) not in text.replace(f"/commissions/{commission.id}", "")
    assert f"{NOW:%b} {NOW.day}, {NOW.year}" in text
