-- What integrations leave (tests, logs, rejected and repeated calls), payment accounts, and notes of processes.
-- storage/tables/schema.py reads it: a TIMESTAMP is stored as milliseconds.
-- A batch without a response to its COMMIT is looked up by its token. On a distributed database, the row of a program's
-- place shows a statement where to store rows, and tokens lie beside the events.

-- 0 while the event names no program
CREATE TABLE test_events (
    program_id BIGINT,
    id BIGINT,
    kind VARCHAR(16) NOT NULL,
    is_test BOOLEAN NOT NULL,
    with_key BOOLEAN NOT NULL,
    transaction_id VARCHAR(255),
    amount_cents BIGINT,
    event_name TEXT,
    customer_key VARCHAR(255),
    click_id VARCHAR(255),
    email_mask VARCHAR(255),
    refunded_cents BIGINT DEFAULT 0 NOT NULL,
    at TIMESTAMP NOT NULL,
    PRIMARY KEY (program_id, id)
);
CREATE INDEX ix_test_events_transaction ON test_events (program_id, transaction_id);

CREATE TABLE tracking_log (
    program_id BIGINT,
    id BIGINT,
    call VARCHAR(16) NOT NULL,
    message TEXT NOT NULL,
    event_id BIGINT,
    at TIMESTAMP NOT NULL,
    PRIMARY KEY (program_id, id)
);

CREATE TABLE refused_calls (
    program_id BIGINT,
    id BIGINT,
    call VARCHAR(16) NOT NULL,
    code VARCHAR(64) NOT NULL,
    message TEXT NOT NULL,
    fields TEXT,
    customer_key VARCHAR(255),
    click_id VARCHAR(255),
    transaction_id VARCHAR(255),
    amount_cents BIGINT,
    currency VARCHAR(3),
    coupon_code VARCHAR(255),  -- null before version 0.4.0
    same_payload BOOLEAN,  -- of a repeated sale: whether it was the recorded one again
    request_id VARCHAR(64),
    caller VARCHAR(192),  -- as on a sale; null before version 0.4.0
    occurred_at TIMESTAMP,  -- of a backfill
    at TIMESTAMP NOT NULL,
    PRIMARY KEY (program_id, id)
);

-- What a replay needs of a rejected call, under the id that it has in refused_calls; of one with a replaced key, too.
CREATE TABLE kept_calls (
    program_id BIGINT,
    id BIGINT,
    call VARCHAR(16) NOT NULL,
    code VARCHAR(64) NOT NULL,
    state VARCHAR(16) NOT NULL,  -- see storage/tracking/kept_calls.py
    sealed TEXT,  -- the call, encrypted; null once it is replayed or discarded
    caller VARCHAR(192),
    tried_at TIMESTAMP,  -- of the last replay or decision
    at TIMESTAMP NOT NULL,
    PRIMARY KEY (program_id, id)
);
CREATE INDEX ix_kept_calls_state ON kept_calls (program_id, state, tried_at, id);

CREATE TABLE idempotent_calls (
    program_id BIGINT,
    idempotency_key VARCHAR(255),
    request_hash VARCHAR(64) NOT NULL,
    body TEXT NOT NULL,
    at TIMESTAMP NOT NULL,
    PRIMARY KEY (program_id, idempotency_key)
);

CREATE TABLE key_callers (
    program_id BIGINT,
    key_hash VARCHAR(64),
    call VARCHAR(16),
    user_agent VARCHAR(160),
    network_hash VARCHAR(24),
    calls BIGINT NOT NULL,
    first_at TIMESTAMP NOT NULL,
    last_at TIMESTAMP NOT NULL,
    PRIMARY KEY (program_id, key_hash, call, user_agent, network_hash)
);

CREATE TABLE key_caller_weeks (
    program_id BIGINT,
    key_hash VARCHAR(64),
    caller VARCHAR(192),
    week DATE,  -- its Monday
    calls BIGINT NOT NULL,
    PRIMARY KEY (program_id, key_hash, caller, week)
);

CREATE TABLE payment_accounts (
    program_id BIGINT PRIMARY KEY,
    provider VARCHAR(16) NOT NULL,
    account_id VARCHAR(255) NOT NULL,
    sealed_secrets TEXT NOT NULL,
    connected_at TIMESTAMP NOT NULL,
    FOREIGN KEY (program_id) REFERENCES programs (id)
);

CREATE TABLE payment_events (
    program_id BIGINT,
    event_id VARCHAR(255),
    id BIGINT NOT NULL,
    type VARCHAR(64) NOT NULL,
    outcome VARCHAR(64) NOT NULL,
    transaction_id VARCHAR(255),
    waits_for VARCHAR(255),
    payment TEXT,
    is_test BOOLEAN DEFAULT '0' NOT NULL,
    occurred_at TIMESTAMP NOT NULL,
    received_at TIMESTAMP NOT NULL,
    PRIMARY KEY (program_id, event_id)
);
CREATE UNIQUE INDEX ix_payment_events_newest ON payment_events (program_id, id);
CREATE INDEX ix_payment_events_outcome ON payment_events (program_id, outcome, id);
CREATE INDEX ix_payment_events_waiting ON payment_events (program_id, waits_for);

CREATE TABLE payment_event_names (
    program_id BIGINT,
    name VARCHAR(300),
    event_id VARCHAR(255),
    PRIMARY KEY (program_id, name, event_id)
);

CREATE TABLE payment_references (
    program_id BIGINT,
    reference VARCHAR(255),
    transaction_id VARCHAR(255) NOT NULL,
    PRIMARY KEY (program_id, reference)
);
CREATE INDEX ix_payment_references_transaction ON payment_references (program_id, transaction_id);

CREATE TABLE payment_customers (
    program_id BIGINT,
    processor_customer VARCHAR(255),
    click_id VARCHAR(64) NOT NULL,
    PRIMARY KEY (program_id, processor_customer)
);

CREATE TABLE payment_returns (
    program_id BIGINT,
    reference VARCHAR(255),
    return_id VARCHAR(255),
    kind VARCHAR(16) NOT NULL,
    amount_cents BIGINT NOT NULL,
    stands BOOLEAN NOT NULL,
    totals TEXT,  -- of a charge, all that were reported; null where `amount_cents` is the only one
    told_at TIMESTAMP NOT NULL,
    PRIMARY KEY (program_id, reference, return_id)
);

CREATE TABLE committed_batches (
    lane VARCHAR(32) PRIMARY KEY,
    token VARCHAR(32) NOT NULL,
    at TIMESTAMP NOT NULL
);

CREATE TABLE program_places (
    program_id BIGINT REFERENCES programs (id) PRIMARY KEY
);

CREATE TABLE program_batches (
    program_id BIGINT,
    lane VARCHAR(32),
    token VARCHAR(32) NOT NULL,
    at TIMESTAMP NOT NULL,
    PRIMARY KEY (program_id, lane)
);

CREATE TABLE recurring_tasks (
    name VARCHAR(64) PRIMARY KEY,
    started_at TIMESTAMP NOT NULL
);
