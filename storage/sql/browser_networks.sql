-- The hashes of the networks from which browsers sent customers' leads.
SELECT leads.customer_id, leads.address_hash
FROM leads
WHERE leads.program_id = :program_id AND leads.customer_id IN :customer_ids AND leads.address_hash IS NOT NULL
