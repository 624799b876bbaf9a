-- Make a month of clicks beside the table and attach it: this locks the default partition, and not the others.
CREATE TABLE {name} (LIKE clicks INCLUDING DEFAULTS);
-- Tracking calls wait behind this lock, so give up soon.
SET LOCAL lock_timeout = '2s';
LOCK TABLE clicks_other IN ACCESS EXCLUSIVE MODE;
WITH moved AS (DELETE FROM clicks_other WHERE click_id >= '{first}' AND click_id < '{end}' RETURNING {columns})
INSERT INTO {name} ({columns}) SELECT {columns} FROM moved;
ALTER TABLE clicks ATTACH PARTITION {name} FOR VALUES FROM ('{first}') TO ('{end}')
