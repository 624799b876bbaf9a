"""Questions of partners about missing sales, as members read and managers answer them, with the sale's story."""

from starlette.responses import Response

from presentation.api_request import ApiRequest
from presentation.operations import operation
from storage.access.workspaces import MANAGERS
from storage.diagnosis.explanation import explain
from storage.lists.find import get
from storage.lists.sale_questions import SALE_QUESTIONS, SaleQuestion
from storage.management import sale_questions
from tracking_api.dashboard.pages.buttons import Button, FormOutcome, FormPage
from tracking_api.dashboard.pages.lists import ListPage
from tracking_api.dashboard.pages.page_context import PageContext
from tracking_api.dashboard.pages.records import story_of
from web.body import Body, Text


class SaleAnswer(Body):
    """The answer to a partner's question about a missing sale, which they read in the portal."""

    text: Text


@operation(notice="sale-answered")
async def answer_sale_question(call: ApiRequest, sent: SaleAnswer) -> SaleQuestion:
    """Answer a partner's question about a missing sale."""
    return await call.write(sale_questions.answer, call.path_id("question_id"), text=sent.text)


async def _question(context: PageContext, outcome: FormOutcome) -> Response:
    """Show a question with what is known of the sale. Raises NotFound."""
    question = await context.storage.read(get, SALE_QUESTIONS, context.scope, context.path_id("question_id"))
    found = await context.report(explain, at=context.at, transaction_id=question.transaction_id)
    story = story_of(context.program, found)
    return outcome.page(context, "sale_question.html", question=question, story=story)


QUESTION_LIST = ListPage(SALE_QUESTIONS, "sale_questions.html")
QUESTION = FormPage(
    _question,
    Button(answer_sale_question, then="/programs/{program_id}/sale-questions/{question_id}"),
    roles=MANAGERS,
)
