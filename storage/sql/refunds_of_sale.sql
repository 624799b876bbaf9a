-- How many refunds a sale has.
SELECT COUNT(*) AS refunds FROM refunds WHERE refunds.program_id = :program_id AND refunds.sale_id = :sale_id
