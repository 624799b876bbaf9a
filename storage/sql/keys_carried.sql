-- The keys of those customers of a program who carry one of some keys, or are known as it.
SELECT customer_key, known_as
FROM customers
WHERE program_id = :program_id AND (customer_key IN :keys OR known_as IN :keys)
