-- Who calls with a program's replaced key, and how many of their calls wait for an owner.
SELECT caller, COUNT(*) AS calls, MIN(at) AS first_at, MAX(at) AS last_at
FROM kept_calls
WHERE program_id = :program_id AND state = 'waiting'
GROUP BY caller
ORDER BY MAX(at) DESC
LIMIT :most
