-- The kinds of calls of which a program has rejected ones, without sales of customers whom no partner sent.
SELECT DISTINCT refused_calls.call
FROM refused_calls
WHERE refused_calls.program_id = :program_id
    AND NOT (refused_calls.call = 'sale' AND refused_calls.code = 'customer_not_found')
