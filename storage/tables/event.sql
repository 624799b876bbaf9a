-- Clicks, customers, leads, sales and refunds; commissions, the ledger, exchange rates and daily totals.
-- storage/tables/schema.py reads it: a TIMESTAMP is stored as milliseconds.
-- The unique keys decide what is a duplicate. Every change of a balance is a signed entry of the ledger. A customer is
-- made from a click at the first lead or sale, and linked to that click's partner for good.

-- On PostgreSQL it is partitioned by month (storage/tracking/click_retention.py) and has no foreign key.
CREATE TABLE clicks (
    program_id BIGINT,
    click_id VARCHAR(64),
    partner_id BIGINT NOT NULL,
    at TIMESTAMP NOT NULL,
    filtered VARCHAR(16),
    landing_url TEXT NOT NULL,
    page_url TEXT,
    page_title TEXT,
    referrer_url TEXT,
    visitor TEXT,
    referrer_host VARCHAR(253),
    ad_markers VARCHAR(128),
    address_hash VARCHAR(24),
    dimensions TEXT,  -- JSON, see storage/rules/click_details.py
    PRIMARY KEY (program_id, click_id)
);
-- of clicks from before `dimensions`: a new click adds nothing to this index
CREATE INDEX ix_clicks_unfilled ON clicks (program_id, click_id) WHERE dimensions IS NULL;

CREATE TABLE click_retention (
    program_id BIGINT PRIMARY KEY,
    deleted_before TIMESTAMP NOT NULL
);

CREATE TABLE used_handovers (
    program_id BIGINT,
    nonce VARCHAR(32),
    expires_at TIMESTAMP NOT NULL,
    PRIMARY KEY (program_id, nonce)
);

CREATE TABLE customers (
    program_id BIGINT,
    id BIGINT,
    partner_id BIGINT NOT NULL,
    click_id VARCHAR(64) NOT NULL,
    clicked_at TIMESTAMP NOT NULL,
    customer_key VARCHAR(255),
    known_as VARCHAR(255),  -- the customer_key of a sale that named the click, too; a lead alone saves one
    confirmed BOOLEAN DEFAULT '0' NOT NULL,
    email_hash VARCHAR(64),
    email_mask VARCHAR(255),
    mailbox_hash VARCHAR(64),  -- of the address without what mail providers ignore; NULL before version 0.4.0
    status VARCHAR(16) NOT NULL,
    settlement VARCHAR(16) NOT NULL,
    signup_at TIMESTAMP,
    first_purchase_at TIMESTAMP,
    revision INTEGER NOT NULL,
    created_at TIMESTAMP NOT NULL,
    PRIMARY KEY (program_id, id),
    UNIQUE (program_id, click_id),
    UNIQUE (program_id, customer_key),
    FOREIGN KEY (program_id, partner_id) REFERENCES partners (program_id, id)
);
CREATE INDEX ix_customers_email ON customers (program_id, email_hash);
-- few are: a lead or sale of any other customer adds nothing to this index
CREATE UNIQUE INDEX ix_customers_known_as ON customers (program_id, known_as) WHERE known_as IS NOT NULL;
CREATE INDEX ix_customers_mailbox ON customers (program_id, mailbox_hash);
CREATE INDEX ix_customers_partner ON customers (program_id, partner_id);
CREATE INDEX ix_customers_status ON customers (program_id, status, id);

CREATE TABLE leads (
    program_id BIGINT,
    id BIGINT,
    customer_id BIGINT NOT NULL,
    partner_id BIGINT NOT NULL,
    settlement VARCHAR(16) NOT NULL,
    with_key BOOLEAN NOT NULL,
    event_name TEXT,
    address_hash VARCHAR(24),  -- of a browser, as on a click
    outranked_by BIGINT,
    outranked_at TIMESTAMP,
    at TIMESTAMP NOT NULL,
    PRIMARY KEY (program_id, id),
    UNIQUE (program_id, customer_id, settlement),
    FOREIGN KEY (program_id, customer_id) REFERENCES customers (program_id, id) DEFERRABLE INITIALLY DEFERRED
);
CREATE INDEX ix_leads_outranked_by ON leads (program_id, outranked_by);

CREATE TABLE sales (
    program_id BIGINT,
    id BIGINT,
    transaction_id VARCHAR(255) NOT NULL,
    customer_id BIGINT NOT NULL,
    partner_id BIGINT NOT NULL,
    amount_cents BIGINT NOT NULL,
    currency VARCHAR(3) NOT NULL,
    program_cents BIGINT NOT NULL,
    tax_cents BIGINT DEFAULT 0 NOT NULL,
    shipping_cents BIGINT DEFAULT 0 NOT NULL,
    refunded_cents BIGINT DEFAULT 0 NOT NULL,
    details TEXT,
    customer_key VARCHAR(255),
    payload_hash VARCHAR(64) NOT NULL,
    provenance VARCHAR(16) DEFAULT 'api' NOT NULL,
    caller VARCHAR(192),  -- the program and the network that called with the key
    occurred_at TIMESTAMP NOT NULL,
    at TIMESTAMP NOT NULL,
    PRIMARY KEY (program_id, id),
    UNIQUE (program_id, transaction_id),
    FOREIGN KEY (program_id, customer_id) REFERENCES customers (program_id, id) DEFERRABLE INITIALLY DEFERRED
);
CREATE INDEX ix_sales_customer ON sales (program_id, customer_id);

CREATE TABLE refunds (
    program_id BIGINT,
    id BIGINT,
    sale_id BIGINT NOT NULL,
    refund_id VARCHAR(255),
    amount_cents BIGINT NOT NULL,
    program_cents BIGINT NOT NULL,
    reversed_cents BIGINT NOT NULL,
    reason TEXT,
    request_id VARCHAR(64),  -- of the call: the unique key rejects a second run of it
    reported_cents BIGINT,  -- what the API said, if another report had taken some of it back
    caller VARCHAR(192),
    in_account BOOLEAN,  -- whether the processor reports it, too; null while that follows from its reports
    at TIMESTAMP NOT NULL,
    PRIMARY KEY (program_id, id),
    UNIQUE (program_id, sale_id, refund_id),
    FOREIGN KEY (program_id, sale_id) REFERENCES sales (program_id, id)
);
CREATE UNIQUE INDEX ix_refunds_request ON refunds (program_id, request_id);

CREATE TABLE commissions (
    program_id BIGINT,
    id BIGINT,
    partner_id BIGINT NOT NULL,
    customer_id BIGINT NOT NULL,
    sale_id BIGINT,
    lead_id BIGINT,
    terms_version INTEGER NOT NULL,
    amount_cents BIGINT NOT NULL,
    currency VARCHAR(3) NOT NULL,
    status VARCHAR(16) NOT NULL,
    approved_by_key_id BIGINT,
    credited_by VARCHAR(512),  -- who credited it by hand; NULL: the sale or lead was reported
    created_at TIMESTAMP NOT NULL,
    hold_until TIMESTAMP NOT NULL,
    paid_at TIMESTAMP,
    PRIMARY KEY (program_id, id),
    FOREIGN KEY (program_id, terms_version) REFERENCES commission_terms (program_id, version)
);
CREATE UNIQUE INDEX ix_commissions_lead ON commissions (program_id, lead_id);
CREATE UNIQUE INDEX ix_commissions_sale ON commissions (program_id, sale_id);
CREATE INDEX ix_commissions_status ON commissions (program_id, status, id);

CREATE TABLE ledger_entries (
    program_id BIGINT,
    id BIGINT,
    partner_id BIGINT NOT NULL,
    commission_id BIGINT,
    payout_id BIGINT,
    kind VARCHAR(32) NOT NULL,
    amount_cents BIGINT NOT NULL,
    corrects_id BIGINT,
    refund_id BIGINT,
    reason TEXT,  -- of a bonus, a correction or a move
    at TIMESTAMP NOT NULL,
    PRIMARY KEY (program_id, id),
    FOREIGN KEY (program_id, commission_id) REFERENCES commissions (program_id, id)
);
CREATE INDEX ix_ledger_entries_commission ON ledger_entries (program_id, commission_id);
CREATE INDEX ix_ledger_entries_partner ON ledger_entries (program_id, partner_id);

CREATE TABLE currency_rates (
    currency VARCHAR(3),
    day DATE,
    per_euro VARCHAR(32) NOT NULL,
    PRIMARY KEY (currency, day)
);

-- `changes` counts what changed the day besides clicks: it says that the totals by dimension are out of date.
CREATE TABLE rollups (
    program_id BIGINT,
    day DATE,
    clicks BIGINT DEFAULT 0 NOT NULL,
    leads BIGINT DEFAULT 0 NOT NULL,
    conversions BIGINT DEFAULT 0 NOT NULL,
    sales BIGINT DEFAULT 0 NOT NULL,
    revenue_cents BIGINT DEFAULT 0 NOT NULL,
    commission_cents BIGINT DEFAULT 0 NOT NULL,
    partners BIGINT DEFAULT 0 NOT NULL,
    changes BIGINT DEFAULT 0 NOT NULL,
    PRIMARY KEY (program_id, day)
);

CREATE TABLE partner_rollups (
    program_id BIGINT,
    day DATE,
    partner_id BIGINT,
    clicks BIGINT DEFAULT 0 NOT NULL,
    leads BIGINT DEFAULT 0 NOT NULL,
    conversions BIGINT DEFAULT 0 NOT NULL,
    sales BIGINT DEFAULT 0 NOT NULL,
    revenue_cents BIGINT DEFAULT 0 NOT NULL,
    commission_cents BIGINT DEFAULT 0 NOT NULL,
    partners BIGINT DEFAULT 0 NOT NULL,
    PRIMARY KEY (program_id, day, partner_id)
);

CREATE TABLE dimension_rollups (
    program_id BIGINT,
    dimension VARCHAR(16),
    day DATE,
    totals TEXT NOT NULL,  -- JSON, see storage/rules/reports/dimension_totals.py
    PRIMARY KEY (program_id, dimension, day)
);

-- How far a day's totals by dimension are: `clicks` of those before the click id `until`, and its `changes`.
CREATE TABLE grouped_days (
    program_id BIGINT,
    day DATE,
    phase VARCHAR(8) NOT NULL,  -- which 0.3.0 reads beside this version
    until VARCHAR(64) NOT NULL,
    clicks BIGINT NOT NULL,
    changes BIGINT NOT NULL,
    PRIMARY KEY (program_id, day)
);
