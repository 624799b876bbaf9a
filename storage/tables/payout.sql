-- Payouts: how partners are paid, the runs in which they were, a line for each partner, and what each line settles.
-- storage/tables/schema.py reads it: a TIMESTAMP is stored as milliseconds.
-- A run is a draft until it is sent. The unique keys allow a program one open draft, and a commission one live item.

-- `sealed` is encrypted JSON (storage/engine/sealing.py), `masked` what people see of it.
CREATE TABLE payout_methods (
    program_id BIGINT,
    partner_id BIGINT,
    kind VARCHAR(16) NOT NULL,
    sealed TEXT NOT NULL,
    masked VARCHAR(255) NOT NULL,
    changed_at TIMESTAMP NOT NULL,
    held_until TIMESTAMP NOT NULL,
    release_reason TEXT,
    PRIMARY KEY (program_id, partner_id),
    FOREIGN KEY (program_id, partner_id) REFERENCES partners (program_id, id)
);

CREATE TABLE payouts (
    program_id BIGINT,
    id BIGINT,
    state VARCHAR(16) NOT NULL,
    earned_until DATE NOT NULL,
    minimum_cents BIGINT,  -- NULL: that of the program and its partners
    left_out TEXT NOT NULL,  -- JSON: the number of partners who stay out, by reason
    created_by VARCHAR(512) NOT NULL,
    created_by_id VARCHAR(80) NOT NULL,  -- the type of the actor and its id
    created_at TIMESTAMP NOT NULL,
    confirmed_by VARCHAR(512),
    confirmed_at TIMESTAMP,
    paid_on DATE,
    reference VARCHAR(255),
    sent_by VARCHAR(512),
    sent_at TIMESTAMP,
    reopened_at TIMESTAMP,
    PRIMARY KEY (program_id, id)
);
CREATE UNIQUE INDEX ix_payouts_draft ON payouts (program_id) WHERE state = 'draft';

-- A line that `corrects_id` takes back what another line paid. A line gets the number of its statement when it is paid.
CREATE TABLE payout_lines (
    program_id BIGINT,
    id BIGINT,
    payout_id BIGINT NOT NULL,
    partner_id BIGINT NOT NULL,
    number INTEGER,
    state VARCHAR(16) NOT NULL,
    commissions INTEGER NOT NULL,
    approved_cents BIGINT NOT NULL,
    set_off_cents BIGINT NOT NULL,
    adjusted_cents BIGINT NOT NULL,
    to_pay_cents BIGINT NOT NULL,
    method VARCHAR(16),  -- NULL: paid without one
    method_sealed TEXT,
    method_masked VARCHAR(255),
    method_changed_at TIMESTAMP,
    failure TEXT,
    corrects_id BIGINT,
    created_at TIMESTAMP NOT NULL,
    mail_is_due BOOLEAN DEFAULT '0' NOT NULL,  -- the partner's statement is to be sent by e-mail
    PRIMARY KEY (program_id, id),
    FOREIGN KEY (program_id, payout_id) REFERENCES payouts (program_id, id),
    FOREIGN KEY (program_id, partner_id) REFERENCES partners (program_id, id)
);
CREATE UNIQUE INDEX ix_payout_lines_corrects ON payout_lines (program_id, corrects_id);
CREATE UNIQUE INDEX ix_payout_lines_number ON payout_lines (program_id, number);
CREATE INDEX ix_payout_lines_mail ON payout_lines (program_id, number) WHERE mail_is_due;
CREATE INDEX ix_payout_lines_partner ON payout_lines (program_id, partner_id);
CREATE INDEX ix_payout_lines_payout ON payout_lines (program_id, payout_id, partner_id);

-- What a commission was worth when a line froze it. The item of a failed or discarded line is no longer live.
CREATE TABLE payout_items (
    program_id BIGINT,
    payout_id BIGINT,
    partner_id BIGINT,
    commission_id BIGINT,
    net_cents BIGINT NOT NULL,
    is_live BOOLEAN NOT NULL,
    PRIMARY KEY (program_id, payout_id, partner_id, commission_id),
    FOREIGN KEY (program_id, commission_id) REFERENCES commissions (program_id, id)
);
CREATE UNIQUE INDEX ix_payout_items_live ON payout_items (program_id, commission_id) WHERE is_live;
