"""Each verdict in words: what it means, and the smallest change that would have credited the sale."""

from storage.rules.outcome import Meaning, Verdict

MEANINGS: dict[Verdict, Meaning] = {
    Verdict.CREDITED: Meaning("The sale is recorded and its commission credited.", None),
    Verdict.CREDITED_IN_PART: Meaning(
        "The sale is credited; a refund took its share of the commission back.",
        "None: the refunded part earns nothing. A refund made in error is corrected by a new sale.",
    ),
    Verdict.FULLY_REFUNDED: Meaning(
        "The sale was credited, then refunded whole: its commission was taken back.",
        "No refund. A refund made in error is corrected by a new sale with its own transaction_id.",
    ),
    Verdict.COMMISSION_REJECTED: Meaning(
        "The sale was credited; somebody then rejected the commission.",
        "The decision itself: the audit log says who rejected it. A rejection is final.",
    ),
    Verdict.COMMISSION_RATE_ZERO: Meaning(
        "The sale is recorded, but the rate in force paid nothing.",
        "A commission_rate above 0 before the sale; a change now holds for later sales only.",
    ),
    Verdict.COMMISSION_ROUNDS_TO_ZERO: Meaning(
        "The sale is recorded; its commission is less than half a cent.",
        "A larger amount_cents (it is in cents, not in whole units of the currency), or a higher commission_rate.",
    ),
    Verdict.RECURRING_PERIOD_OVER: Meaning(
        "The sale is recorded, but came after the months in which later sales of a customer earn.",
        "A longer recurring_months (null: for life) before the sale; a change now holds for later sales only.",
    ),
    Verdict.ONLY_A_TEST: Meaning(
        "Only a test-mode call with this transaction_id was received.",
        "Send the same sale without additional_data.test_mode.",
    ),
    Verdict.NO_SALE: Meaning(
        "The customer is a settled lead; no sale of theirs has reached the service.",
        "Send POST /api/v1/track/sale with this customer_key and the program key.",
    ),
    Verdict.LEAD_PROVISIONAL: Meaning(
        "A browser sent the lead and no server has confirmed it: it is provisional, and no sale has arrived.",
        "Send POST /api/v1/track/lead with the program key, the click_id and the customer_key; then the sale.",
    ),
    Verdict.NO_LEAD: Meaning(
        "The click is recorded; nobody has signed up or paid with it.",
        "Send a lead with this click_id and the program key at signup, or the click_id with the sale.",
    ),
    Verdict.CLICK_FILTERED: Meaning(
        "The click came from a known bot or a prefetch: it is stored, and not counted.",
        "A click by a person's browser. A lead or sale with this click_id would still be attributed.",
    ),
    Verdict.NOT_RECORDED: Meaning(
        "No call with this identifier has reached the service, nor was one refused in the last 30 days.",
        "Send the call. If it was sent: check that it carries this program's key and this exact identifier.",
    ),
    Verdict.INVALID_JSON: Meaning("The call's body was no JSON object.", "Send one JSON object, encoded as UTF-8."),
    Verdict.VALIDATION_ERROR: Meaning(
        "Fields of the call were missing or wrong; the refused call names them.",
        "Send the fields that the refused call names as the API describes them, with the same transaction_id.",
    ),
    Verdict.PAYLOAD_TOO_LARGE: Meaning("The call was too large.", "Send less than 64 KiB; leave out line_items."),
    Verdict.UNSUPPORTED_MEDIA_TYPE: Meaning(
        "The call was not sent as JSON.", "Set the header Content-Type: application/json."
    ),
    Verdict.RATE_LIMITED: Meaning(
        "Too many public calls came from one address.", "Wait as long as Retry-After says; servers use the key."
    ),
    Verdict.OVERLOADED: Meaning(
        "The service had more writes waiting than it can hold.", "Send the same call again: nothing was recorded."
    ),
    Verdict.INTERNAL_ERROR: Meaning(
        "The service failed.", "Send the same call again; if it persists, give the operator the request_id."
    ),
    Verdict.INVALID_KEY: Meaning(
        "The call carried a key that was replaced or never existed.",
        "Deploy the program's present key; an owner regenerates one that is lost. Then send the call again.",
    ),
    Verdict.API_KEY_ROTATION_REQUIRED: Meaning(
        "The call carried a key past its rotation deadline.",
        "An owner regenerates the key; deploy the new value and send the call again.",
    ),
    Verdict.PROGRAM_ID_REQUIRED: Meaning("The click named no program.", "Send program_id with the click."),
    Verdict.PROGRAM_NOT_FOUND: Meaning(
        "The call named a program that does not exist.", "Send this program's id as program_id."
    ),
    Verdict.AFFILIATE_URL_REQUIRED: Meaning(
        "The click carried no landing page.", "Send affiliate_url: the landing page with its ?aff=<partner code>."
    ),
    Verdict.INVALID_AFFILIATE_URL: Meaning(
        "The click's landing page is no absolute http or https address.", "Send affiliate_url as the browser shows it."
    ),
    Verdict.AFF_MISSING: Meaning(
        "The landing page's address carried no partner code.", "Keep ?aff=<partner code> through redirects."
    ),
    Verdict.PARTNER_NOT_FOUND: Meaning(
        "No partner of the program has the code of this link.", "Use a code from the program's list of partners."
    ),
    Verdict.IDENTIFIER_REQUIRED: Meaning(
        "The lead named neither a click nor a customer.", "Send click_id and customer_key, or either."
    ),
    Verdict.IDENTIFIER_CONFLICT: Meaning(
        "click_id and customer_key name different customers.",
        "Send the customer_key that was used at this customer's lead, or the click_id alone.",
    ),
    Verdict.CUSTOMER_NOT_FOUND: Meaning(
        "No customer of the program has the identifier that was sent: no lead was recorded with it.",
        "Send the customer_key of the lead, unchanged, with the sale; or the click_id of the cookie beside it.",
    ),
    Verdict.CUSTOMER_WRONG_PROGRAM: Meaning(
        "The click or program_id belongs to another program.",
        "Use the key of the program that recorded the click.",
    ),
    Verdict.CUSTOMER_NOT_ATTRIBUTED: Meaning(
        "The partner who sent this customer has left the program.",
        "An active or paused partner at the time of the call.",
    ),
    Verdict.STATUS_TRANSITION_REFUSED: Meaning(
        "The customer had paid already and cannot become a lead again.",
        "Send the lead before the first sale.",
    ),
    Verdict.ATTRIBUTION_WINDOW_EXPIRED: Meaning(
        "More days lie between the click and the call than the attribution window has.",
        "A longer attribution_window_days before the call, or a new click by the customer.",
    ),
    Verdict.CURRENCY_NOT_SUPPORTED: Meaning(
        "No exchange rate is loaded for the sale's currency.",
        "The operator loads rates (`svc admin rates import FILE`), or the sale is sent in USD; then send it again.",
    ),
    Verdict.DUPLICATE_TRANSACTION: Meaning(
        "Another sale of the program holds this transaction_id.",
        "A transaction_id of its own for each sale. A repeat of the same sale needs nothing.",
    ),
    Verdict.TRANSACTION_NOT_FOUND: Meaning(
        "A refund named a sale that is not recorded.", "Send the sale first, with the same transaction_id."
    ),
    Verdict.REFUND_EXCEEDS_SALE: Meaning(
        "A refund asked for more than remains of the sale; it was not recorded.",
        "None for the sale. Leave refund_amount_cents out to refund what remains.",
    ),
}
