-- The customer keys of a program's newest sales that were rejected because of them.
SELECT customer_key
FROM refused_calls
WHERE program_id = :program_id AND call = 'sale' AND code IN :codes AND customer_key IS NOT NULL
ORDER BY id DESC
LIMIT :most
