"""The operator's commands, from an empty folder to a working program: accounts, keys, imports and secrets."""

import asyncio

from storage import Storage
from storage.engine.sealing import Sealer
from storage.payments import accounts
from tests import world
from tests.cli.conftest import Svc, execute
from tests.conftest import ROOT
from tests.storage.payments import paying
from tests.test_journeys import stored

EXPORTS = ROOT / "tests/storage/management/exports/rewardful"


def test_an_operator_sets_up_a_program_and_every_change_is_in_its_audit_log(svc: Svc) -> None:
    assert svc("admin", "db", "upgrade", "--json").json == {"ok": True}

    owner = ("--owner-email", "ada@example.com", "--password-stdin", "--json")
    created = svc("admin", "workspace", "create", "Acme", *owner, stdin="correct horse\n")
    about = ("--name", "Acme", "--domain", "acme.example", "--commission-rate", "12.5", "--json")
    program = svc("admin", "program", "create", "--workspace", created.json["workspace_id"], *about).json["program_id"]
    partner = svc("admin", "partner", "create", "--program", program, "--name", "Nora", "--code", "nora", "--json")
    key = svc("admin", "program-key", "generate", "--program", program, "--json").json
    svc("admin", "program-key", "import", "--program", program, "--key-stdin", stdin="a-key-from-before-the-prefix")
    flag = ("admin", "program-key", "flag", "--program", program, "--deadline")
    malformed, flagged = svc(*flag, "2027-01-31T12:00"), svc(*flag, "2020-01-31", "--json")
    entries = execute(svc.database, "SELECT actor_type, actor_name, action, after FROM audit_entries ORDER BY id")

    assert created.json.keys() == {"workspace_id", "user_id"}
    assert partner.json["code"] == "nora"
    assert key["api_token"].startswith("aff_")
    assert key["api_token_masked"].endswith(key["api_token"][-4:])
    assert (malformed.code, "time zone" in malformed.stderr) == (2, True)  # a usage error
    assert (flagged.json["rotate_by"], flagged.json["state"]) == ("2020-01-31T00:00:00.000Z", "expired")
    assert svc("admin", "db", "check", "--json").json == {"ok": True, "differences": []}
    assert {entry[:2] for entry in entries} == {("operator", "svc admin")}
    assert [entry[2] for entry in entries] == [
        *("program.create", "partner.enrol", "program_key.regenerate", "program_key.import", "program_key.flag")
    ]
    assert entries[-1][3] == '"2020-01-31T00:00:00+00:00"'
    assert "before-the-prefix" not in str(entries)


def test_an_operator_lets_people_back_in_and_an_owner_stays(svc: Svc) -> None:
    svc.set_up("ada@b.example")
    create, add = ("admin", "workspace", "create"), ("admin", "member", "add", "--workspace", 1, "--role", "finance")
    given, ada, bo = ("--password-stdin", "--json"), ("--email", "ada@b.example"), ("--email", "bo@b.example")
    added = svc(*add, *bo, *given, stdin="purple lighthouse").json["user_id"]

    weak = svc("admin", "member", "set-password", *bo, *given, stdin="password123")
    second = (*create, "Second", "--owner-email", "ada@b.example", *given)
    other = svc(*second, stdin="another password of hers")
    same = svc(*second, stdin="correct horse")
    kept = svc(*second, "--existing-account", stdin="another password of hers")
    of_bo, here = ("--workspace", 1, *bo, "--json"), ("--workspace", 1, "--json")
    steps = [svc("admin", "member", step, *of_bo).json["status"] for step in ("suspend", "reactivate")]
    last = svc("admin", "member", "suspend", *ada, *here)
    role = svc("admin", "member", "change-role", *of_bo, "--role", "owner").json["role"]
    removed = svc("admin", "member", "remove", *of_bo)
    changed = svc("admin", "member", "set-password", *bo, *given, stdin="tulip ferry nine")
    link = svc("admin", "member", "reset-link", *ada, "--json", SVC_BASE_URL="https://svc.example").json
    unknown = svc("admin", "member", "reset-link", "--email", "no@b.example", "--json")
    reset = svc("admin", "member", "reset-second-factor", *ada, "--json")

    assert (weak.code, weak.json["error"]["code"]) == (1, "validation_error")
    assert (other.code, other.json["error"]["fields"][0]["field"]) == (1, "email")
    assert (same.code, same.json.keys()) == (0, {"workspace_id", "user_id"})
    assert (kept.json["notice"]["code"], "keeps its password" in kept.stderr) == ("password_kept", True)
    assert (steps, role, removed.code) == (["suspended", "active"], "owner", 0)
    assert (last.code, last.json["error"]["code"]) == (1, "last_owner")
    assert changed.json == {"user_id": removed.json["user_id"], "sessions_ended": 0}
    assert removed.json["user_id"] == added
    assert link["link"].startswith("https://svc.example/reset-password#rst_")
    assert link["expires_at"].endswith("Z")
    assert unknown.json["error"]["code"] == "not_found"
    assert reset.json.keys() == {"user_id"}


def test_agent_keys_are_shown_once_listed_masked_and_revoked(svc: Svc) -> None:
    svc.set_up()
    named = ("admin", "agent-key", "issue", "--workspace", 1, "--name", "Report", "--json")

    issued = svc(*named, "--scope", "programs:read", "--expires-at", "2030-01-01T02:00:00+02:00").json
    revoked = svc("admin", "agent-key", "revoke", issued["agent_key_id"], "--json")
    foreign = svc(*named, "--scope", "programs:read", "--program", 7)
    listed = svc("admin", "agent-key", "list", "--json")

    [key] = listed.json["agent_keys"]
    assert issued["api_key"].startswith("agt_")
    assert issued["api_key"] not in listed.stdout
    assert (key["scopes"], key["expires_at"]) == (["programs:read"], "2030-01-01T00:00:00.000Z")
    assert key["revoked_at"] == revoked.json["revoked_at"]
    assert foreign.code == 1
    assert foreign.json["error"]["fields"] == [{"field": "program", "message": "Workspace 1 has no program 7"}]


def test_a_command_in_an_empty_folder_names_the_next_command_and_creates_no_file(svc: Svc) -> None:
    done = svc("admin", "agent-key", "list", "--json")

    assert done.code == 1
    assert done.json["error"]["code"] == "database_not_migrated"
    assert "svc admin db upgrade" in done.stderr
    assert "Traceback" not in done.stderr
    assert not svc.database.exists()


def test_a_program_that_cannot_be_created_says_why(svc: Svc) -> None:
    svc.set_up()

    for workspace, rate, code in ((1, "12.345", "validation_error"), (9, "12.5", "not_found")):
        about = ("--name", "N", "--domain", "n.example", "--commission-rate", rate, "--json")
        rejected = svc("admin", "program", "create", "--workspace", workspace, *about)

        assert (rejected.code, rejected.json["error"]["code"]) == (1, code)


def test_an_import_is_tried_done_and_repeated(svc: Svc):
    svc.set_up()
    svc("admin", "program", "create", "--workspace", 1, "--name", "Acme", "--domain", "acme.example")
    command = ("admin", "import", "--program", 1, "--from", "rewardful")
    files = [EXPORTS / f"{each}.csv" for each in ("partners", "commissions")]

    without_partners = svc(*command, files[1])
    dry = svc(*command, *files, "--dry-run")
    done = svc(*command, *files, "--json")
    again = svc(*command, *files, "--json")
    checked = svc("admin", "db", "check")

    missing = "commissions.csv, line 2: no partner 'nora@blogs.example': import the partners' file too"
    assert (without_partners.code, missing in without_partners.stdout) == (1, True)
    assert "commissions: 3 would be added, 0 there before" in dry.stdout
    assert "not read: paypal_email" in dry.stdout
    assert done.json["added"] == {"partners": 1, "customers": 0, "commissions": 3}
    assert again.json["there"] == {"partners": 1, "customers": 0, "commissions": 3}
    assert [each.code for each in (dry, done, again, checked)] == [0, 0, 0, 0]


async def connect(store: Storage) -> int:
    acme = await world.acme(store)
    await paying.connect(acme, key="old")
    return acme.program_id


def test_only_with_the_old_key_is_everything_encrypted_anew(svc: Svc):
    assert svc("admin", "db", "upgrade").code == 0
    program_id = asyncio.run(stored(svc.url, connect))

    def opened(key: str) -> str:
        account = asyncio.run(stored(svc.url, lambda store: store.read(accounts.get_account, program_id)))
        return Sealer(key).open(account.sealed_secrets.splitlines()[0])

    rotate = ("admin", "secrets", "rotate", "--json")

    wrong = svc(*rotate, SVC_SECRET_KEY="the new key", SVC_SECRET_KEY_OLD="other")
    unset = svc(*rotate)
    before = opened("old")
    done = svc(*rotate, SVC_SECRET_KEY="the new key", SVC_SECRET_KEY_OLD="old")

    assert (wrong.code, wrong.json["error"]["code"]) == (1, "secret_unreadable")
    assert (unset.code, unset.json["error"]["code"]) == (1, "secret_key_missing")
    reencrypted = {"payment_accounts": 1, "second_factors": 0, "payout_methods": 0, "payout_lines": 0, "kept_calls": 0}
    assert (done.code, done.json) == (0, reencrypted)
    assert before == opened("the new key") == "whsec_12345678"
