"""Statements about the tables of `hostile_sql` that a model may well write, and that must run."""

HONEST = [
    "SELECT name FROM people",
    "SELECT * FROM people",
    "SELECT p.* FROM shop.people p",
    "SELECT shop.people.name FROM shop.people",
    "SELECT NAME, \"Pay Grade\" FROM People WHERE Name ILIKE 'a%' LIMIT 5",
    "SELECT count(*) FROM people",
    "SELECT city, count(*) AS n FROM people GROUP BY city HAVING count(*) > 1 ORDER BY n DESC",
    "SELECT city, count(*) FROM people GROUP BY 1 ORDER BY 2 DESC NULLS LAST LIMIT 3",
    "SELECT p.name, c.country FROM people p JOIN cities c ON p.city = c.city",
    "SELECT name, country FROM people LEFT JOIN cities USING (city)",
    "SELECT p.name FROM people p, cities c WHERE p.city = c.city AND c.country = 'Italy'",
    "SELECT name FROM people WHERE city IN (SELECT city FROM cities WHERE inhabitants > 1e6)",
    "SELECT c.city FROM cities c WHERE NOT EXISTS (SELECT 1 FROM people p WHERE p.city = c.city)",
    "SELECT name FROM people WHERE joined = (SELECT max(joined) FROM people)",
    "WITH big AS (SELECT city FROM cities WHERE inhabitants > 10) "
    "SELECT count(*) FROM people JOIN big ON people.city = big.city",
    "WITH people AS (SELECT name AS who FROM people) SELECT who FROM people",
    "SELECT q.n FROM (SELECT city, count(*) AS n FROM people GROUP BY city) AS q WHERE q.n > 1",
    "SELECT q.a FROM (SELECT name, city FROM people) AS q(a, b)",
    "SELECT name FROM people UNION SELECT city FROM cities ORDER BY name LIMIT 4",
    "(SELECT name FROM people) EXCEPT (SELECT city FROM cities)",
    "SELECT CASE WHEN \"Pay Grade\" > 3 THEN 'high' ELSE 'low' END AS grade FROM people",
    'SELECT CAST(sum("Pay Grade") AS DECIMAL(10, 2)) / NULLIF(count(*), 0) FROM people',
    "SELECT extract(year FROM joined) AS y, count(DISTINCT name) FROM people GROUP BY y",
    "SELECT date_trunc('month', joined), avg(\"Pay Grade\") FROM people GROUP BY 1",
    "SELECT name, row_number() OVER (PARTITION BY city ORDER BY joined DESC) FROM people",
    'SELECT name, sum("Pay Grade") OVER w FROM people WINDOW w AS (ORDER BY joined)',
    "SELECT upper(trim(name)) || ', ' || coalesce(city, '?') FROM people",
    "SELECT lpad(cast(id AS varchar), 5, '0'), round(\"Pay Grade\", 1) FROM people",
    "SELECT name FROM people WHERE joined BETWEEN DATE '2020-01-01' AND current_date",
    "SELECT name FROM people WHERE joined > current_date - INTERVAL '30 days'",
    "SELECT a.name FROM people a JOIN people b ON a.city = b.city AND a.id <> b.id",
    "SELECT people.name FROM people CROSS JOIN (SELECT avg(id) AS m FROM people) AS q WHERE id > m",
    "SELECT string_agg(name, ', ' ORDER BY name) FROM people",
    "SELECT count(*) FILTER (WHERE city = 'Rome') FROM people",
    "SELECT name FROM people WHERE name ~ '^[A-C]' -- the first letters",
    "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY inhabitants) FROM cities",
    "SELECT unnest(string_to_array(name, ' ')) AS word FROM people",
    "SELECT u.word, count(*) FROM people p, unnest(string_to_array(p.name, ' ')) AS u(word) "
    "GROUP BY u.word",
    "SELECT name, word FROM people CROSS JOIN unnest(string_to_array(name, ' ')) AS u(word)",
    "SELECT id, unnest(ARRAY[name, city]) AS said FROM people",
    "SELECT m.day, count(p.id) FROM generate_series(TIMESTAMP '2020-01-01', "
    "TIMESTAMP '2022-12-31', INTERVAL '1 day') AS m(day) LEFT JOIN people p "
    "ON date_trunc('day', p.joined) = m.day GROUP BY m.day",
    "WITH n AS (SELECT unnest(ARRAY[1, 2]) AS i) SELECT name FROM people JOIN n ON n.i = id",
    "SELECT name, n FROM people CROSS JOIN generate_series(1, 3) AS g(n)",
    "SELECT d.day, count(p.id) FROM generate_series('2020-01-01'::date, current_date, "
    "'1 month'::interval) AS d(day) LEFT JOIN people p ON p.joined = d.day GROUP BY d.day",
    "WITH m AS (SELECT n FROM generate_series(10, 1, -1) AS g(n)), "
    "people AS (SELECT * FROM people WHERE id > 3) "
    "SELECT m.n FROM m JOIN people ON people.id = m.n WHERE m.n < (SELECT max(m.n) FROM m)",
    "SELECT 'it''s; DROP TABLE people' AS said FROM people;",
]
