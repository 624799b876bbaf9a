"""The members page in a real browser: invite and join, suspend, hand over, and a link for a lost password."""

from playwright.async_api import expect

from tests.tracking_api.dashboard.pages.conftest import MAX, Site

EVA = "eva@acme.example"
WORDS = "several unrelated words"


async def test_an_owner_invites_and_the_invited_person_joins(site: Site):
    owner = await site.sign_in()
    await owner.goto(f"{site.program}/settings/members")
    await owner.get_by_text("Invite a member").click()
    await owner.get_by_label("E-mail address").fill(EVA)
    await owner.get_by_role("button", name="Invite").click()
    link = await owner.locator("#invitation-link").inner_text()
    await expect(owner.get_by_role("region", name="Invitations", exact=True)).to_contain_text(EVA)

    guest = await site.visit()
    await guest.goto(link)
    await guest.get_by_label("New password", exact=True).fill(WORDS)
    await guest.get_by_label("New password again").fill(WORDS)
    await guest.get_by_role("button", name="Create the account and join").click()

    await guest.wait_for_url("**/programs")
    await expect(guest.get_by_role("status")).to_contain_text("Welcome")
    await guest.goto(f"{site.program}/settings/members")
    await expect(guest.get_by_role("button", name="Invite")).to_have_count(0)
    await expect(guest.get_by_role("row", name=EVA)).to_contain_text("Member")
    assert not site.said


async def test_an_owner_suspends_a_member_who_then_sees_nothing(site: Site):
    owner, member = await site.sign_in(), await site.sign_in(MAX)
    await owner.goto(f"{site.program}/settings/members")

    await owner.get_by_role("button", name=f"Suspend {MAX}").click()
    await member.reload()

    await expect(owner.get_by_role("row", name=MAX)).to_contain_text("Suspended")
    assert "/sign-in" in member.url


async def test_the_last_owner_stays_an_owner(site: Site):
    owner = await site.sign_in()
    await owner.goto(f"{site.program}/settings/members")
    for other in await owner.get_by_role("button", name="Make a member").all_inner_texts():
        await owner.get_by_role("button", name=other).first.click()

    await expect(owner.get_by_role("alert")).to_contain_text("owner")


async def test_a_member_who_lost_the_password_gets_a_link_from_an_owner(site: Site):
    owner = await site.sign_in()
    await owner.goto(f"{site.program}/settings/members")
    await owner.get_by_role("button", name=f"Password link {MAX}").click()
    link = await owner.locator("#reset-link").inner_text()

    member = await site.visit()
    await member.goto(link)
    await member.get_by_label("New password", exact=True).fill(WORDS)
    await member.get_by_label("New password again").fill(WORDS)
    await member.get_by_role("button", name="Set password").click()

    await expect(member.get_by_text("The new password is set")).to_be_visible()
