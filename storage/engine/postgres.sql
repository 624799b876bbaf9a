-- What the lanes and the commands send to PostgreSQL and Citus, each statement after its name. The statement that stores
-- a token is prepared once and sent with BEGIN, so that the token needs no extra round trip.

-- store_token
PREPARE store_token (text, text, bigint) AS
INSERT INTO committed_batches (lane, token, at) VALUES ($1, $2, $3)
ON CONFLICT (lane) DO UPDATE SET token = excluded.token, at = excluded.at

-- It waits for a transaction that locks the lane's row, and then reads the committed token.
-- find_token
INSERT INTO committed_batches (lane, token, at) VALUES ($1, '', 0)
ON CONFLICT (lane) DO UPDATE SET lane = excluded.lane RETURNING token

-- On a distributed database the token lies beside the program's rows. A batch of an unknown program stores none.
-- store_program_token
PREPARE store_program_token (bigint, text, text, bigint) AS
INSERT INTO program_batches (program_id, lane, token, at)
SELECT program_id, $2, $3, $4 FROM program_places WHERE program_id = $1
ON CONFLICT (program_id, lane) DO UPDATE SET token = excluded.token, at = excluded.at

-- It waits for a transaction that locks the lane's row of this program.
-- find_program_token
INSERT INTO program_batches (program_id, lane, token, at) VALUES ($1, $2, '', 0)
ON CONFLICT (program_id, lane) DO UPDATE SET lane = excluded.lane RETURNING token

-- lacks_citus
SELECT to_regclass('pg_dist_partition') IS NULL

-- is_distributed
SELECT partmethod = 'h' FROM pg_dist_partition WHERE logicalrelid = to_regclass('clicks')

-- A worker that does not respond must not hold up the programs of the others longer than a statement may take.
-- be_impatient
SET citus.node_connection_timeout = 2000

-- workers
SELECT count(*) FROM pg_dist_node WHERE isactive AND shouldhaveshards AND noderole = 'primary'

-- nodes
SELECT nodename || ':' || nodeport AS name, citus_check_connection_to_node(nodename, nodeport) AS responds
FROM pg_dist_node WHERE groupid <> 0 AND noderole = 'primary' ORDER BY 1

-- Each node opens a new connection for it, as it does for a batch.
-- node_settings
SELECT nodename || ':' || nodeport AS node, result, success
FROM run_command_on_all_nodes('SELECT string_agg(name || ''='' || setting, '','') FROM pg_settings WHERE name IN ({})')
JOIN pg_dist_node USING (nodeid) ORDER BY 1

-- Citus takes tables that refer to a copied one for "local": it knows them, and they stay where they are.
-- placed
SELECT logicalrelid::regclass::text AS name, CASE
WHEN partmethod = 'h' THEN 'distributed' WHEN repmodel = 't' THEN 'copied' ELSE 'local' END AS kind
FROM pg_dist_partition

-- Programs that an older version of the service has created have none.
-- fill_places
INSERT INTO program_places (program_id) SELECT id FROM programs ON CONFLICT DO NOTHING

-- foreign_keys
SELECT conrelid::regclass::text, conname FROM pg_constraint WHERE contype = 'f' AND conparentid = 0

-- The parts of the clicks, and the ids in each.
-- click_months
SELECT relname AS name, pg_get_expr(relpartbound, pg_class.oid) AS bound
FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid WHERE inhparent = 'clicks'::regclass

-- The tables that have rows and were never analyzed. A larger one takes long, and is not planned as if it were empty.
-- new_tables
SELECT relid::regclass::text FROM pg_stat_user_tables JOIN pg_class ON pg_class.oid = relid
WHERE reltuples < 0 AND n_live_tup BETWEEN 200 AND 1000000 ORDER BY relid
