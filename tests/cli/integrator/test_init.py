"""`svc init`: what it writes, what it leaves alone, and that no secret reaches a file that is committed."""

import re
from pathlib import Path

from cli.integrator.init import frameworks
from storage.payments import accounts
from tests.cli.integrator.conftest import MAX, OLGA, SHOPS, Shop, connect
from tests.world import BY

COMMITTED = (".svc/AGENTS.md", ".svc/skills.md", ".svc/.env.example", ".gitignore")


async def test_the_files_contain_the_whole_integration_and_no_run_of_the_key_is_in_one_that_is_committed(shop: Shop):
    await shop.sign_in()

    done = await shop.svc("init", "--api-key-stdin", "--json", stdin=f"{shop.acme.key}\n")

    agents = shop.read(".svc/AGENTS.md")
    assert done.code == 0, done.stderr
    assert agents == shop.read(".svc/skills.md")
    wanted = (
        *(f"`{shop.acme.program_id}`", "acme.example", "20%", "60 days", shop.server.base_url, "svc_customer_key"),
        *("payment_intent_data: { metadata }", "subscription_data: { metadata }", "Idempotency-Key", "refund_id"),
        f'"service-program-id" content="{shop.acme.program_id}"',
    )
    assert [each for each in wanted if each not in agents] == []
    assert "Start here" not in agents
    assert f"SERVICE_API_KEY={shop.acme.key}\n" in shop.read(".svc/.env")
    assert (shop.project / ".svc/.env").stat().st_mode & 0o777 == 0o600
    assert shop.read(".gitignore") == ".svc/.env\n"
    committed = "".join(map(shop.read, COMMITTED))
    runs = {shop.acme.key[start : start + 12] for start in range(len(shop.acme.key) - 11)}
    assert [run for run in runs if run in committed] == []


def test_a_projects_framework_is_found_in_its_files(tmp_path: Path):
    for number, each in enumerate(SHOPS["project"]):
        project = tmp_path / str(number)
        project.mkdir()
        (project / each["file"]).write_text(each["content"])

        assert frameworks(project) == each["found"], each


async def test_agents_md_leads_with_the_projects_framework_and_a_bundler_gets_the_names_that_it_exposes(shop: Shop):
    await shop.sign_in()
    (shop.project / "package.json").write_text('{"dependencies": {"next": "16", "react": "19"}}')

    await shop.svc("init", "--json")

    lead = shop.read(".svc/AGENTS.md").partition("## Start here: ")[2].partition("\n## ")[0]
    assert (lead.partition("\n")[0], "next/script" in lead) == ("Next.js", True)
    wanted = {"SERVICE_BASE_URL": shop.server.base_url, "NEXT_PUBLIC_SERVICE_BASE_URL": shop.server.base_url}
    wanted["NEXT_PUBLIC_SERVICE_PROGRAM_ID"] = str(shop.acme.program_id)
    for name, value in wanted.items():
        assert f"\n{name}={value}\n" in "\n" + shop.read(".svc/.env"), name
        assert f"\n{name}=\n" in "\n" + shop.read(".svc/.env.example"), name


async def test_the_key_of_a_php_shop_is_kept_from_its_web_server(shop: Shop):
    await shop.sign_in()
    (shop.project / "index.php").touch()

    inside = await shop.svc("init", "--api-key-stdin", stdin=f"{shop.acme.key}\n")
    denied = shop.read(".svc/.htaccess")
    above = await shop.svc("init", "--above", "--json")
    status = await shop.svc("status", "--json")

    assert (inside.code, denied) == (0, "Require all denied\n")
    assert "location ~ /\\.svc { deny all; }" in inside.stdout
    assert ((shop.project / ".svc").exists(), above.json["folder"]) == (False, str(shop.project.parent / ".svc"))
    assert (above.json["has_key"], status.code) == (True, 0)
    assert "## Start here: PHP" in shop.read("../.svc/AGENTS.md")


async def test_a_project_s_own_guide_gets_one_line_only_if_agreed(shop: Shop):
    await shop.sign_in()
    (shop.project / "CLAUDE.md").write_text("# Ours\n")

    asked = await shop.svc("init", "--json")
    before = shop.read("CLAUDE.md")
    agreed = await shop.svc("init", "--yes", "--json")
    again = await shop.svc("init", "--yes", "--json")

    assert (asked.code, before) == (0, "# Ours\n")
    assert agreed.json["changed"] == ["CLAUDE.md"]
    assert again.json["changed"] == []
    assert shop.read("CLAUDE.md").startswith("# Ours\n\nAffiliate tracking of this shop: read [.svc/AGENTS.md]")
    assert not (shop.project / "AGENTS.md").exists()


async def test_running_it_again_changes_only_what_changed_on_the_service_and_preserves_other_text(shop: Shop):
    await shop.sign_in()
    (shop.project / ".gitignore").write_text("node_modules\n")
    await shop.svc("init", "--api-key-stdin", stdin=f"{shop.acme.key}\n")
    agents, env = shop.project / ".svc" / "AGENTS.md", shop.project / ".svc" / ".env"
    agents.write_text(f"# Ours\n\n{agents.read_text()}\nMore of ours.\n")
    env.write_text(f"OTHER=1\n{env.read_text()}")
    before = {name: shop.read(name) for name in (".svc/AGENTS.md", ".svc/.env", ".gitignore")}

    again = await shop.svc("init", "--json")
    unchanged = {name: shop.read(name) for name in before}
    await shop.acme.change(commission_rate=33)
    changed = await shop.svc("init", "--json")
    await connect(shop)
    connected = await shop.svc("init", "--json")
    env_then = shop.read(".svc/.env")
    await shop.acme.store.write(accounts.disconnect, shop.acme.program_id, by=BY)
    dropped = await shop.svc("init", "--json")

    assert [each.json["changed"] for each in (again, changed, connected, dropped)] == [
        [],
        [".svc/AGENTS.md", ".svc/skills.md"],
        *([".svc/.env"], [".svc/.env"]),
    ]
    assert unchanged == before
    assert before[".gitignore"] == "node_modules\n.svc/.env\n"
    assert shop.read(".svc/AGENTS.md").startswith("# Ours\n")
    assert shop.read(".svc/AGENTS.md").endswith("\nMore of ours.\n")
    assert "33%" in shop.read(".svc/AGENTS.md")
    assert "SERVICE_PAYMENT_ACCOUNT" not in before[".svc/.env"]
    assert env_then.startswith("OTHER=1\n")
    assert "SERVICE_PAYMENT_ACCOUNT=acct_1\n" in env_then
    assert shop.read(".svc/.env") == before[".svc/.env"]
    assert f"[errors]({shop.server.base_url}/docs/errors)" in shop.read(".svc/AGENTS.md")


async def test_a_key_is_generated_only_on_request(shop: Shop):
    await shop.sign_in()
    without = await shop.svc("init", "--json")
    assert (without.code, without.json["has_key"]) == (0, False)
    assert "SERVICE_API_KEY" not in shop.read(".svc/.env")

    done = await shop.svc("init", "--generate-key")

    found = re.search(r"^SERVICE_API_KEY=(aff_\S+)$", shop.read(".svc/.env"), re.MULTILINE)
    assert found
    assert found[1] not in done.stdout + done.stderr
    assert (await shop.svc("status")).code == 0
    old = await shop.svc("status", "--json", SERVICE_API_KEY=shop.acme.key)
    assert old.json["error"]["code"] == "invalid_key"


async def test_an_impossible_command_says_why_and_writes_nothing(shop: Shop):
    for email, arguments, ended in (
        (OLGA, ["--program", "404"], (1, "program_not_found")),
        (OLGA, ["--generate-key", "--api-key-stdin"], (2, "usage")),
        (MAX, ["--generate-key"], (1, "owner_required")),
    ):
        await shop.sign_in(email)

        done = await shop.svc("init", "--json", *arguments)

        assert (done.code, done.json["error"]["code"]) == ended
        assert not (shop.project / ".svc").exists()


async def test_of_several_programs_one_is_named(shop: Shop):
    await shop.sign_in()
    made = await shop.svc("programs", "create", "--name", "Second", "--domain", "second.example", "--json")
    assert "api_token" not in made.json

    unclear = await shop.svc("init", "--json")
    clear = await shop.svc("init", "--program", made.json["id"], "--json")

    assert (unclear.code, unclear.json["error"]["code"]) == (1, "program_required")
    assert clear.json["program_id"] == made.json["id"]
    assert (await shop.svc("init", "--json")).json["program_id"] == made.json["id"]
