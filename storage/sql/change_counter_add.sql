-- Takes the next numbers of programs' feeds; the time of a feed never goes back.
INSERT INTO change_counters (program_id, seq, at)
SELECT taken.*
FROM jsonb_to_recordset(:rows) AS taken (program_id bigint, seq bigint, at bigint)
WHERE true
ON CONFLICT (program_id) DO UPDATE SET
    seq = change_counters.seq + excluded.seq,
    at = CASE WHEN excluded.at > change_counters.at THEN excluded.at ELSE change_counters.at END
RETURNING program_id, seq, at
