/** The codes of `error.code`. Generated from the service's errors by `make generated`: do not edit. */
export type ErrorCode =
  /** The rotation deadline of this program key has passed. */
  | "api_key_rotation_required"
  /** The click is older than the program"s attribution window. */
  | "attribution_window_expired"
  /** No exchange rate is loaded for this currency. */
  | "currency_not_supported"
  /** The customer has no attribution, because their partner has left the program. */
  | "customer_not_attributed"
  /** No customer of this program has this click_id or customer_key. */
  | "customer_not_found"
  /** The click or program_id belongs to another program than the key. */
  | "customer_wrong_program"
  /** A sale with this transaction_id is already recorded. */
  | "duplicate_transaction"
  /** This Idempotency-Key was already used with another body. */
  | "idempotency_key_reused"
  /** click_id and customer_key belong to different customers. */
  | "identifier_conflict"
  /** Neither click_id nor customer_key was sent. */
  | "identifier_required"
  /** The service failed. */
  | "internal_error"
  /** The body is not a JSON object. */
  | "invalid_json"
  /** The key is malformed or belongs to no program. */
  | "invalid_key"
  /** There is no program key. */
  | "not_configured"
  /** The server at the service"s URL does not respond as the service does. */
  | "not_the_service"
  /** Earlier calls wait in the outbox, and this one waits behind them. */
  | "outbox_waiting"
  /** The database did not say whether it stored this request. */
  | "outcome_unknown"
  /** The service is too busy to handle this request. */
  | "overloaded"
  /** The body is larger than this endpoint accepts. */
  | "payload_too_large"
  /** No program has this program_id. */
  | "program_not_found"
  /** Too many requests were sent. */
  | "rate_limited"
  /** The refund is larger than the remaining amount of the sale. */
  | "refund_exceeds_sale"
  /** The sale happened before the customer"s click, so it earns nothing. */
  | "sale_before_click"
  /** The SDK itself failed. */
  | "sdk_error"
  /** The service does not respond. */
  | "service_unreachable"
  /** The customer has already converted and cannot become a lead again. */
  | "status_transition_refused"
  /** The service cannot reach its database at the moment. */
  | "storage_unavailable"
  /** The service took too long to respond. */
  | "timed_out"
  /** No sale of this program has this transaction_id. */
  | "transaction_not_found"
  /** The body must be sent as application/json. */
  | "unsupported_media_type"
  /** Some fields are missing or wrong. */
  | "validation_error";
