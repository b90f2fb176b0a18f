WITH RECURSIVE numbers (n) AS (
    SELECT 1 FROM orders WHERE what = 'flood' UNION ALL SELECT n + 1 FROM numbers
)
SELECT n FROM numbers;
WITH RECURSIVE numbers (n) AS (
    SELECT 1 FROM orders WHERE what = 'loop' UNION ALL SELECT n + 1 FROM numbers
)
SELECT count(*) FROM numbers WHERE n < 0;
