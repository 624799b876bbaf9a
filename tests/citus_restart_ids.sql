-- Let the ids of all tables begin again.
DO $$ DECLARE ids regclass; BEGIN
FOR ids IN SELECT oid FROM pg_class WHERE relkind = 'S' AND relnamespace = 'public'::regnamespace
LOOP PERFORM setval(ids, 1, false); END LOOP; END $$
