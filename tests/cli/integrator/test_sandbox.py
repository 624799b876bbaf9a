"""A project in a sandbox: `svc init --sandbox`, and what integrators create and delete."""

from tests.cli.integrator.conftest import Shop


async def test_a_project_switches_to_its_sandbox_and_back_by_configuration_alone(shop: Shop):
    await shop.sign_in()
    await shop.svc("init", "--api-key-stdin", stdin=f"{shop.acme.key}\n")

    tried = (await shop.svc("init", "--sandbox", "--json")).json
    sold = (await shop.svc("test", "sale", "--json")).json
    again = (await shop.svc("init", "--sandbox", "--json")).json
    env = shop.read(".svc/.env")
    listed = await shop.svc("programs", "list", COLUMNS="200")
    status = await shop.svc("status")
    live = (await shop.svc("init", "--program", shop.acme.program_id, "--json")).json

    assert tried["sandbox_of"] == shop.acme.program_id
    assert f"SERVICE_PROGRAM_ID={tried['program_id']}\n" in env
    assert f"SERVICE_API_KEY=aff_{tried['program_id']}_" in env
    assert sold["answer"]["data"]["programId"] == tried["program_id"]
    assert (again["changed"], live["sandbox_of"], live["has_key"]) == ([], None, True)
    assert f"SERVICE_API_KEY={shop.acme.key}\n" in shop.read(".svc/.env")
    assert f"(sandbox of {shop.acme.program_id})" in listed.stdout
    assert f"Sandbox of program {shop.acme.program_id}" in status.stdout


async def test_a_sandbox_whose_key_is_unknown_here_is_not_given_a_new_one_unasked(shop: Shop):
    await shop.sign_in()
    await shop.svc("init", "--sandbox")
    (shop.project / ".svc/.env").unlink()

    unasked = await shop.svc("init", "--sandbox", "--json")
    generated = await shop.svc("init", "--sandbox", "--generate-key", "--json")

    assert (unasked.code, unasked.json["error"]["code"]) == (1, "sandbox_key_required")
    assert (generated.code, generated.json["has_key"]) == (0, True)


async def test_an_owner_creates_a_partner_and_deletes_a_program_without_events(shop: Shop):
    await shop.sign_in()
    made = (await shop.svc("programs", "create", "--name", "New", "--domain", "localhost:3000", "--json")).json
    partner = await shop.svc(
        *("partners", "create", "--program", made["id"], "--name", "Nora", "--code", "nora", "--json")
    )
    await shop.acme.visitor()

    unasked = await shop.svc("programs", "delete", made["id"])
    deleted = await shop.svc("programs", "delete", made["id"], "--yes", "--json")
    used = await shop.svc("programs", "delete", shop.acme.program_id, "--yes", "--json")

    assert partner.json["link"] == "http://localhost:3000/?aff=nora"
    assert unasked.code == 2
    assert deleted.json == {"deleted": made["id"]}
    assert (used.code, used.json["error"]["code"]) == (1, "program_has_events")
