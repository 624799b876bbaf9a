"""`svc init`: what it writes, what it leaves alone, and that no secret reaches a file that is committed."""

import re

import pytest

from tests.cli.integrator.conftest import MAX, Shop
from tests.cli.integrator.test_stripe import connect

COMMITTED = (".svc/AGENTS.md", ".svc/skills.md", ".svc/.env.example", ".gitignore")


async def test_the_files_contain_what_a_coding_agent_needs(shop: Shop):
    await shop.sign_in()

    done = await shop.svc("init", "--api-key-stdin", "--json", stdin=f"{shop.acme.key}\n")

    agents = shop.read(".svc/AGENTS.md")
    assert done.code == 0, done.stderr
    assert agents == shop.read(".svc/skills.md")
    for wanted in (
        f"`{shop.acme.program_id}`",
        "acme.example",
        "20%",
        "60 days",
        shop.server.base_url,
        "svc_customer_key",
    ):
        assert wanted in agents
    assert f"SERVICE_API_KEY={shop.acme.key}\n" in shop.read(".svc/.env")
    assert (shop.project / ".svc/.env").stat().st_mode & 0o777 == 0o600
    assert shop.read(".gitignore") == ".svc/.env\n"


async def test_agents_md_contains_the_whole_integration(shop: Shop):
    await shop.sign_in()

    await shop.svc("init", "--json")

    agents = shop.read(".svc/AGENTS.md")
    wanted = ("payment_intent_data: { metadata }", "subscription_data: { metadata }", "Idempotency-Key", "refund_id")
    assert [each for each in wanted if each not in agents] == []
    assert f"loadSvc({shop.acme.program_id})" in agents
    assert "Start here" not in agents


@pytest.mark.parametrize(
    ("file", "title", "code", "exposed"),
    [
        (("package.json", '{"dependencies": {"next": "16", "react": "19"}}'), "Next.js", "next/script", "NEXT_PUBLIC_"),
        (("package.json", '{"devDependencies": {"vite": "7"}}'), "Vite", "fetch(", "VITE_"),
        (("requirements.txt", "Django==5.2\n"), "Django", "def track(call, **body):\n", ""),
        (("pyproject.toml", 'dependencies = ["fastapi>=0.1"]'), "FastAPI", "urllib.request", ""),
        (("Gemfile", 'gem "rails"'), "Rails", "Net::HTTP", ""),
        (("composer.json", '{"require": {"laravel/framework": "^12"}}'), "Laravel", "curl_init", ""),
    ],
)
async def test_agents_md_leads_with_the_projects_framework(
    shop: Shop, file: tuple[str, str], title: str, code: str, exposed: str
):
    await shop.sign_in()
    (shop.project / file[0]).write_text(file[1])

    await shop.svc("init", "--json")

    lead = shop.read(".svc/AGENTS.md").partition("## Start here: ")[2].partition("\n## ")[0]
    assert lead.startswith(f"{title}\n")
    assert code in lead
    lines = shop.read(".svc/.env")
    assert (f"{exposed}SERVICE_BASE_URL={shop.server.base_url}\n" in lines) is True
    assert f"\n{exposed}SERVICE_BASE_URL=\n" in shop.read(".svc/.env.example")
    assert lines.count("SERVICE_BASE_URL=") == (2 if exposed else 1)


@pytest.mark.parametrize("file", ["index.php", "composer.json"])
async def test_plain_php_is_found_by_its_files(shop: Shop, file: str):
    await shop.sign_in()
    (shop.project / file).write_text("")

    await shop.svc("init", "--json")

    assert "## Start here: PHP\n" in shop.read(".svc/AGENTS.md")


async def test_agents_md_of_a_framework_is_short_and_names_every_case(shop: Shop):
    await shop.sign_in()
    (shop.project / "manage.py").write_text("import django\n")

    await shop.svc("init", "--json")

    agents = shop.read(".svc/AGENTS.md")
    assert len(agents.splitlines()) < 350
    for wanted in (
        *(".svc/.env", "data-svc-consent", "Content Security Policy", "svc.decorate", "data-svc-calls", "7 days"),
        *("set_cookie", "guest", "identifier_conflict", "headless", "sandbox", "subscription_data", "trial", "Refunds"),
        *("svc doctor", "svc explain"),
    ):
        assert wanted in agents
    for page in ("docs", "docs/errors", "llms.txt", "openapi.json"):
        assert f"]({shop.server.base_url}/{page})" in agents
    assert set(re.findall(r"^```\w+ (?!python|django|flask)([a-z]+)_", agents, re.MULTILINE)) <= {
        *("cases", "nginx", "stripe")
    }
    assert re.findall(r"\]\((?!https?:|#)", agents) == []


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


async def test_a_payment_account_that_is_connected_later_is_written_into_env(shop: Shop):
    await shop.sign_in()
    await shop.svc("init", "--api-key-stdin", stdin=f"{shop.acme.key}\n")
    before = shop.read(".svc/.env")
    await connect(shop)

    again = await shop.svc("init", "--json")

    assert "SERVICE_PAYMENT_ACCOUNT" not in before
    assert again.json["changed"] == [".svc/.env"]
    assert "SERVICE_PAYMENT_ACCOUNT=acct_1\n" in shop.read(".svc/.env")
    assert f"[errors]({shop.server.base_url}/docs/errors)" in shop.read(".svc/AGENTS.md")


async def test_no_run_of_the_key_is_in_a_file_that_is_committed(shop: Shop):
    await shop.sign_in()
    await shop.svc("init", "--api-key-stdin", stdin=f"{shop.acme.key}\n")

    text = "".join(map(shop.read, COMMITTED))

    runs = {shop.acme.key[start : start + 12] for start in range(len(shop.acme.key) - 11)}
    assert [run for run in runs if run in text] == []


async def test_running_it_again_changes_nothing_and_preserves_other_text(shop: Shop):
    await shop.sign_in()
    (shop.project / ".gitignore").write_text("node_modules\n")
    await shop.svc("init", "--api-key-stdin", stdin=f"{shop.acme.key}\n")
    agents = shop.project / ".svc" / "AGENTS.md"
    agents.write_text(f"# Ours\n\n{agents.read_text()}\nMore of ours.\n")
    env = shop.project / ".svc" / ".env"
    env.write_text(f"OTHER=1\n{env.read_text()}")
    before = {name: shop.read(name) for name in (".svc/AGENTS.md", ".svc/.env", ".gitignore")}

    again = await shop.svc("init", "--json")

    assert again.json["changed"] == []
    assert {name: shop.read(name) for name in before} == before
    assert shop.read(".gitignore") == "node_modules\n.svc/.env\n"


async def test_changes_on_the_service_are_written_only_into_the_marked_section(shop: Shop):
    await shop.sign_in()
    await shop.svc("init", "--api-key-stdin", stdin=f"{shop.acme.key}\n")
    agents = shop.project / ".svc" / "AGENTS.md"
    agents.write_text(f"# Ours\n\n{agents.read_text()}")
    await shop.change(commission_rate=33)

    again = await shop.svc("init", "--json")

    assert again.json["changed"] == [".svc/AGENTS.md", ".svc/skills.md"]
    assert shop.read(".svc/AGENTS.md").startswith("# Ours\n")
    assert "33%" in shop.read(".svc/AGENTS.md")


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
    old = await shop.call("/api/v1/track/refund", {"transaction_id": "x"})
    assert old.json()["error"]["code"] == "invalid_key"


async def test_a_member_may_not_generate_a_key(shop: Shop):
    await shop.sign_in(MAX)

    done = await shop.svc("init", "--generate-key", "--json")

    assert (done.code, done.json["error"]["code"]) == (1, "owner_required")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [(["--program", "404"], "program_not_found"), (["--generate-key", "--api-key-stdin"], "usage")],
)
async def test_an_impossible_command_says_why_and_writes_nothing(shop: Shop, arguments: list[str], code: str):
    await shop.sign_in()

    done = await shop.svc("init", "--json", *arguments)

    assert (done.code > 0, done.json["error"]["code"]) == (True, code)
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
