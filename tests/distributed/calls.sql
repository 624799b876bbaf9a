-- What the tests of calls on a cluster run past the service.

-- 20,000 clicks of a program, from a number on
INSERT INTO clicks (program_id, click_id, partner_id, at, landing_url)
SELECT p.program_id, lpad(to_hex(n), 32, '0'), :partner, :at, :url
FROM program_places AS p, generate_series(:first, :first + 19999) AS n
WHERE p.program_id = :program;

-- the port of the node that has a program
SELECT nodeport FROM pg_dist_shard_placement
WHERE shardid = get_shard_id_for_distribution_column('clicks', CAST(:program AS BIGINT));
