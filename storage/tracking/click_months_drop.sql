-- Drop months of clicks. Those that customers came with are copied to a table of their own; its check spares a scan
-- when it is attached. Other transactions wait from LOCK TABLE on, for a few milliseconds.
CREATE TABLE clicks_new (LIKE clicks INCLUDING DEFAULTS INCLUDING INDEXES);
ALTER TABLE clicks_new ADD CONSTRAINT old CHECK (click_id < '{end}');
INSERT INTO clicks_new ({columns})
SELECT {columns}
FROM clicks
JOIN (SELECT program_id AS of_program_id, click_id AS of_click_id FROM customers WHERE click_id < '{end}') AS came_with
    ON of_program_id = program_id AND of_click_id = click_id
WHERE click_id < '{end}';
-- Tracking calls wait behind this lock, so give up soon.
SET LOCAL lock_timeout = '2s';
LOCK TABLE clicks IN ACCESS EXCLUSIVE MODE;
{detach}ALTER TABLE clicks_new RENAME TO clicks_kept;
ALTER TABLE clicks ATTACH PARTITION clicks_kept FOR VALUES FROM (MINVALUE) TO ('{end}');
ALTER TABLE clicks_kept DROP CONSTRAINT old
