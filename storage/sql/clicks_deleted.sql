-- How far the clicks of a program are deleted: the latest time counts.
INSERT INTO click_retention (program_id, deleted_before)
VALUES (:program_id, :until)
ON CONFLICT (program_id) DO UPDATE SET deleted_before = CASE
    WHEN excluded.deleted_before > click_retention.deleted_before THEN excluded.deleted_before
    ELSE click_retention.deleted_before
END
