"""What people send from the portal: questions about missing sales, and applications to become a partner."""

from typing import Any

import httpx

from storage.lists.applications import APPLICATIONS
from storage.lists.sale_questions import SALE_QUESTIONS
from tests.tracking_api.dashboard.reading import follow, send, words
from tests.tracking_api.portal.conftest import Portal

MISSING = "/portal/missing-sale"
NORA = {"name": "Nora Berg", "email": "Nora@blog.example", "site": "https://blog.example", "reason": "I write reviews"}


async def ask(anna: httpx.AsyncClient, transaction_id: str = "inv-1", sold_on: str = "2026-05-19") -> httpx.Response:
    return await send(anna, MISSING, "Ask", transaction_id=transaction_id, sold_on=sold_on, note="She told me <b>")


async def test_a_question_reaches_the_manager_with_its_story_and_the_answer_the_partner(served: Portal):
    await served.acme.customer()
    await served.acme.sale()
    async with await served.anna() as anna:
        asked = await follow(anna, await ask(anna))
        overview = words((await served.olga.get(served.pages)).text)
        [question] = (await served.acme.listed(SALE_QUESTIONS)).data
        place = f"{served.pages}/sale-questions/{question.id}"
        shown = await served.olga.get(place)
        answered = await follow(served.olga, await send(served.olga, place, "Answer", text="It counts from June 4."))
        read = words((await anna.get(MISSING)).text)

    assert "inv-1 , May 19 waits for an answer" in asked
    assert "1 question about missing sales" in overview.replace("questions", "question")
    assert "Credited" in words(shown.text)
    assert "She told me &lt;b&gt;" in shown.text
    assert "olga@acme.example" in answered
    assert "It counts from June 4." in read
    assert "olga@acme.example" not in read
    assert (await served.get("./sale-questions", open="true")).json()["data"] == []


async def test_a_partner_asks_for_no_one_else_about_a_day_that_was_and_has_few_questions_open(served: Portal):
    async with await served.anna() as anna:
        wrong = [await ask(anna, sold_on=day) for day in ("2026-05-21", "soon")]
        forged = await send(anna, MISSING, "Ask", transaction_id="x", sold_on="2026-05-01", partner_id=served.acme.ben)
        answers = [(await ask(anna, f"inv-{n}")).status_code for n in range(20)]

    assert [each.status_code for each in (*wrong, forged)] == [400, 400, 303]
    for answer, said in zip(wrong, ("yet to come", "day"), strict=True):
        assert said in words(answer.text).partition("Ask about")[0]
    assert answers == [303] * 19 + [400]
    questions = (await served.acme.listed(SALE_QUESTIONS)).data
    assert {each.partner_id for each in questions} == {served.acme.anna}


async def apply(served: Portal, **form: str) -> httpx.Response:
    async with served.visitor() as someone:
        return await someone.post(f"/portal/programs/{served.acme.program_id}/apply", data=NORA | form)


async def decide(served: Portal, action: str, **form: Any) -> httpx.Response:
    [application] = (await served.acme.listed(APPLICATIONS, state="waiting")).data
    button = f"{action} {application.name}"
    return await send(served.olga, f"{served.pages}/applications", button, **form)


async def test_who_applies_once_the_program_has_opened_its_page_is_approved_enrolled_and_invited(served: Portal):
    async with served.visitor() as someone:
        paths = [f"/portal/programs/{each}/apply" for each in (served.acme.program_id, 987_654, "x")]
        early = [await someone.get(path) for path in paths] + [await apply(served)]
    none_yet = (await served.acme.listed(APPLICATIONS)).data
    await served.acme.change(partners_may_apply=True)
    sent, again = await apply(served), await apply(served)
    waiting = words((await served.olga.get(served.pages)).text)
    approved = await decide(served, "Approve")
    [nora] = (await served.get("./partners", q="nora")).json()["data"]

    assert ({each.status_code for each in early}, none_yet) == ({404}, [])
    assert "Thank you." in words(sent.text)
    assert sent.text == again.text
    assert "1 application" in waiting
    assert approved.status_code == 303
    assert (nora["code"], nora["email"]) == ("nora-berg", "nora@blog.example")
    assert served.mailbox.messages[-1]["to"] == "nora@blog.example"
    assert served.mailed()


async def test_a_code_that_is_taken_is_said_and_a_declined_application_can_be_sent_again(served: Portal):
    await served.acme.change(partners_may_apply=True)
    await apply(served)
    taken = await decide(served, "Approve", code="anna")
    declined = await decide(served, "Decline")
    await apply(served)

    assert (taken.status_code, "Another partner of this program has this code" in taken.text) == (400, True)
    assert declined.status_code == 303
    states = [each.state for each in (await served.acme.listed(APPLICATIONS)).data]
    assert states == ["waiting", "declined"]
    [old] = (await served.acme.listed(APPLICATIONS, state="declined")).data
    late = await served.patch(f"./applications/{old.id}", state="approved")
    assert (late.status_code, late.json()["error"]["message"]) == (400, "The application is declined already.")


async def test_applications_are_limited_by_network(served: Portal):
    await served.acme.change(partners_may_apply=True)
    answers = [(await apply(served, email=f"n{n}@blog.example")).status_code for n in range(40)]

    assert answers[0] == 200
    assert answers[-1] == 429
