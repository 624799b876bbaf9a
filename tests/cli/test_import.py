"""`svc admin import`: what it prints, what a dry run leaves alone, and its exit code."""

from pathlib import Path

import pytest

from tests.cli.conftest import Svc

PARTNERS = "Token,Email,PayPal Email\nnora,nora@blogs.example,pay@blogs.example\n"
COMMISSIONS = (
    "ID,Amount,Sale Amount,Sale ID,State,Customer Email,Affiliate Email,Created At\n"
    "c1,30.00,100.00,inv-1,paid,jane@example.com,nora@blogs.example,2025-02-04\n"
)


@pytest.fixture
def files(svc: Svc, tmp_path: Path) -> list[Path]:
    """A program, and two exports of Rewardful."""
    svc.set_up()
    svc("admin", "program", "create", "--workspace", 1, "--name", "Acme", "--domain", "acme.example")
    written = [tmp_path / "affiliates.csv", tmp_path / "commissions.csv"]
    for path, content in zip(written, (PARTNERS, COMMISSIONS), strict=True):
        path.write_text(content)
    return written


def test_an_import_is_tried_done_and_repeated(svc: Svc, files: list[Path]):
    command = ("admin", "import", "--program", 1, "--from", "rewardful")

    without_partners = svc(*command, files[1])
    dry = svc(*command, *files, "--dry-run")
    done = svc(*command, *files, "--json")
    again = svc(*command, *files, "--json")
    checked = svc("admin", "db", "check")

    missing = "commissions.csv, line 2: no partner 'nora@blogs.example': import the partners' file too"
    assert (without_partners.code, missing in without_partners.stdout) == (1, True)
    assert "commissions: 1 would be added, 0 there before" in dry.stdout
    assert "not read: paypal_email" in dry.stdout
    assert done.json["added"] == {"partners": 1, "customers": 0, "commissions": 1}
    assert again.json["there"] == {"partners": 1, "customers": 0, "commissions": 1}
    assert [each.code for each in (dry, done, again, checked)] == [0, 0, 0, 0]
