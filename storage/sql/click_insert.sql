INSERT INTO clicks (
    program_id, click_id, partner_id, at, filtered, landing_url, page_url, page_title, referrer_url, visitor,
    referrer_host, ad_markers, address_hash, dimensions
)
SELECT click.*
FROM jsonb_to_recordset(:rows) AS click (
    program_id bigint, click_id varchar(64), partner_id bigint, at bigint, filtered varchar(16), landing_url text,
    page_url text, page_title text, referrer_url text, visitor text, referrer_host varchar(253),
    ad_markers varchar(128), address_hash varchar(24), dimensions text
)
