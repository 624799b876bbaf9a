-- The codes of the partners who have codes in another spelling, by the places of these in the batch.
SELECT link.n AS n, partners.code AS code
FROM jsonb_to_recordset(:rows) AS link (program_id bigint, n bigint, code_key text)
JOIN partners ON partners.program_id = link.program_id AND partners.code_key = link.code_key
