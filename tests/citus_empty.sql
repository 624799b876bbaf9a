-- Delete all rows of a distributed database on one node, past the cluster.
SET citus.override_table_visibility = off;
SET citus.enable_manual_changes_to_shards = on;
SET session_replication_role = replica;
DO $$ DECLARE shard regclass; BEGIN
FOR shard IN SELECT oid FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
    AND relname NOT LIKE 'alembic_version%' AND oid NOT IN (SELECT logicalrelid FROM pg_dist_partition)
LOOP EXECUTE format('DELETE FROM %s', shard); END LOOP; END $$
