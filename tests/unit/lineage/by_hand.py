"""Thirty-nine views, and what each is built from as a person reads them.

An answer is the tables, the columns with those that their values come from, and the dialect if it
is not PostgreSQL's. Columns that only join, filter, group or order are none of the sources. `?`
before a table: its columns are not known.
"""

SHOP = {
    "store_sales": "ss_sold_date_sk ss_item_sk ss_customer_sk ss_store_sk ss_quantity "
    "ss_sales_price ss_net_profit",
    "store_returns": "sr_returned_date_sk sr_item_sk sr_customer_sk sr_return_amt",
    "web_sales": "ws_sold_date_sk ws_item_sk ws_bill_customer_sk ws_quantity ws_sales_price",
    "date_dim": "d_date_sk d_date d_year d_moy d_day_name",
    "item": "i_item_sk i_item_id i_brand i_category i_current_price i_tags",
    "customer": "c_customer_sk c_customer_id c_first_name c_last_name c_address",
    "store": "s_store_sk s_store_name s_state s_manager_sk",
    "employee": "e_sk e_name e_boss_sk",
    "events": "id payload at",
}

VIEWS: dict[str, tuple[str, ...]] = {
    "revenue a year": (
        """SELECT d.d_year, i.i_brand AS brand, sum(ss.ss_quantity * ss.ss_sales_price) AS revenue
           FROM store_sales ss JOIN date_dim d ON d.d_date_sk = ss.ss_sold_date_sk
           JOIN item i ON i.i_item_sk = ss.ss_item_sk
           WHERE i.i_category = 'Books' GROUP BY d.d_year, i.i_brand ORDER BY 3 DESC""",
        "store_sales date_dim item",
        "d_year: date_dim.d_year; brand: item.i_brand; "
        "revenue: store_sales.ss_quantity store_sales.ss_sales_price",
    ),
    "names of columns that CREATE VIEW gives": (
        "CREATE VIEW sales.v (who, what) AS SELECT ss_customer_sk, ss_item_sk FROM store_sales",
        "store_sales",
        "who: store_sales.ss_customer_sk; what: store_sales.ss_item_sk",
    ),
    "a star, and one more": (
        "SELECT *, s_state || '!' AS loud FROM store",
        "store",
        "s_store_sk: store.s_store_sk; s_store_name: store.s_store_name; s_state: store.s_state; "
        "s_manager_sk: store.s_manager_sk; loud: store.s_state",
    ),
    "stars of one of two tables": (
        "SELECT e.*, s.s_state FROM store s JOIN employee e ON e.e_sk = s.s_manager_sk",
        "store employee",
        "e_sk: employee.e_sk; e_name: employee.e_name; e_boss_sk: employee.e_boss_sk; "
        "s_state: store.s_state",
    ),
    "USING makes one column of two": (
        """SELECT * FROM (SELECT ss_item_sk AS sk, ss_quantity FROM store_sales) a
           JOIN (SELECT sr_item_sk AS sk, sr_return_amt FROM store_returns) b USING (sk)""",
        "store_sales store_returns",
        "sk: store_sales.ss_item_sk; ss_quantity: store_sales.ss_quantity; "
        "sr_return_amt: store_returns.sr_return_amt",
    ),
    "of a FULL JOIN the column may be of either side": (
        """SELECT sk FROM (SELECT ss_item_sk AS sk FROM store_sales) a
           FULL JOIN (SELECT sr_item_sk AS sk FROM store_returns) b USING (sk)""",
        "store_sales store_returns",
        "sk: store_sales.ss_item_sk store_returns.sr_item_sk",
    ),
    "expressions one after the other": (
        """WITH sold AS (SELECT ss_item_sk AS sk, sum(ss_quantity) AS n FROM store_sales
                         GROUP BY 1),
                back AS (SELECT sr_item_sk AS sk, sum(sr_return_amt) AS lost FROM store_returns
                         GROUP BY 1),
                both_ AS (SELECT s.sk, s.n, b.lost FROM sold s LEFT JOIN back b ON b.sk = s.sk)
           SELECT i.i_item_id, both_.n, coalesce(both_.lost, 0) AS lost
           FROM both_ JOIN item i ON i.i_item_sk = both_.sk""",
        "store_sales store_returns item",
        "i_item_id: item.i_item_id; n: store_sales.ss_quantity; lost: store_returns.sr_return_amt",
    ),
    "an expression that hides a table of its name": (
        """WITH item AS (SELECT s_store_sk AS i_item_sk, s_state AS i_brand FROM store)
           SELECT i_brand FROM item""",
        "store",
        "i_brand: store.s_state",
    ),
    "a table of the hidden name, with its schema": (
        """WITH item AS (SELECT 1 AS x) SELECT i.i_brand, item.x FROM shop.item i, item""",
        "shop.item",
        "i_brand: item.i_brand; x:",
    ),
    "both sides of a union, by position": (
        """SELECT ss_customer_sk AS who, ss_quantity AS n FROM store_sales
           UNION ALL SELECT ws_bill_customer_sk, ws_quantity FROM web_sales""",
        "store_sales web_sales",
        "who: store_sales.ss_customer_sk web_sales.ws_bill_customer_sk; "
        "n: store_sales.ss_quantity web_sales.ws_quantity",
    ),
    "three of them, with parentheses and EXCEPT": (
        """(SELECT ss_item_sk AS sk FROM store_sales UNION SELECT ws_item_sk FROM web_sales)
           EXCEPT SELECT sr_item_sk FROM store_returns""",
        "store_sales web_sales store_returns",
        "sk: store_sales.ss_item_sk web_sales.ws_item_sk store_returns.sr_item_sk",
    ),
    "a recursive expression: bosses of bosses": (
        """WITH RECURSIVE up (sk, top, depth) AS (
               SELECT e_sk, e_boss_sk, 1 FROM employee
               UNION ALL
               SELECT up.sk, e.e_boss_sk, up.depth + 1 FROM up JOIN employee e ON e.e_sk = up.top)
           SELECT sk, top, depth FROM up""",
        "employee",
        "sk: employee.e_sk; top: employee.e_boss_sk; depth:",
    ),
    "a subquery for a value, which knows the row outside": (
        """SELECT c_customer_id, (SELECT max(ss_sales_price) FROM store_sales
                                  WHERE ss_customer_sk = c_customer_sk) AS dearest FROM customer""",
        "customer store_sales",
        "c_customer_id: customer.c_customer_id; dearest: store_sales.ss_sales_price",
    ),
    "EXISTS and IN only filter": (
        """SELECT i_item_id FROM item WHERE i_item_sk IN (SELECT ws_item_sk FROM web_sales)
           AND NOT EXISTS (SELECT 1 FROM store_returns WHERE sr_item_sk = i_item_sk)""",
        "item web_sales store_returns",
        "i_item_id: item.i_item_id",
    ),
    "LATERAL reads what stands before it": (
        """SELECT c.c_customer_id, last.price FROM customer c CROSS JOIN LATERAL (
               SELECT ss_sales_price AS price FROM store_sales WHERE ss_customer_sk =
               c.c_customer_sk ORDER BY ss_sold_date_sk DESC LIMIT 1) last""",
        "customer store_sales",
        "c_customer_id: customer.c_customer_id; price: store_sales.ss_sales_price",
    ),
    "unnest with a name for its column": (
        "SELECT i.i_item_id, t.tag FROM item i CROSS JOIN unnest(i.i_tags) AS t(tag)",
        "item",
        "i_item_id: item.i_item_id; tag: item.i_tags",
    ),
    "a function for a table, and VALUES": (
        """SELECT g.n, v.label FROM generate_series(1, 12) AS g(n)
           JOIN (VALUES (1, 'Jan'), (2, 'Feb')) AS v(m, label) ON v.m = g.n""",
        "",
        "n:; label:",
    ),
    "windows": (
        """SELECT ss_item_sk, rank() OVER (PARTITION BY ss_store_sk ORDER BY ss_net_profit) AS place
           FROM store_sales""",
        "store_sales",
        "ss_item_sk: store_sales.ss_item_sk; "
        "place: store_sales.ss_store_sk store_sales.ss_net_profit",
    ),
    "CASE, casts and FILTER": (
        """SELECT d_year, sum(ss_quantity) FILTER (WHERE d_moy = 1) AS january,
                  CASE WHEN s_state = 'TN' THEN ss_net_profit::numeric ELSE 0 END AS tn
           FROM store_sales, date_dim, store
           WHERE ss_sold_date_sk = d_date_sk AND ss_store_sk = s_store_sk""",
        "store_sales date_dim store",
        "d_year: date_dim.d_year; january: store_sales.ss_quantity date_dim.d_moy; "
        "tn: store.s_state store_sales.ss_net_profit",
    ),
    "a table twice": (
        """SELECT a.e_name AS name, b.e_name AS boss FROM employee a
           LEFT JOIN employee b ON b.e_sk = a.e_boss_sk""",
        "employee",
        "name: employee.e_name; boss: employee.e_name",
    ),
    "an alias list that renames a table's columns": (
        "SELECT e.x, e.y FROM employee AS e(x, y)",
        "employee",
        "x: employee.e_sk; y: employee.e_name",
    ),
    "parentheses around joins": (
        """SELECT s_state, e_name FROM ((store JOIN employee ON e_sk = s_manager_sk)
           JOIN store_sales ON ss_store_sk = s_store_sk)""",
        "store employee store_sales",
        "s_state: store.s_state; e_name: employee.e_name",
    ),
    "a column of a table that nobody knows": (
        "SELECT h.note, s.s_state FROM elsewhere.hidden h, store s",
        "elsewhere.hidden store",
        "note: ?hidden.note; s_state: store.s_state",
    ),
    "quotes keep capitals, all else is lower in PostgreSQL": (
        """SELECT S_STATE AS "State", "Odd".X FROM STORE, "Odd Table" AS "Odd" """,
        'store "Odd Table"',
        "State: store.s_state; x: ?Odd Table.x",
    ),
    "all is upper in Snowflake, and an alias can be used at once": (
        """SELECT i.i_item_sk * 2 AS twice, twice + 1 AS more FROM db.shop.item i
           QUALIFY row_number() OVER (PARTITION BY i_brand ORDER BY i_item_sk) = 1""",
        "DB.SHOP.ITEM",
        "TWICE: ITEM.I_ITEM_SK; MORE: ITEM.I_ITEM_SK",
        "snowflake",
    ),
    "FLATTEN of Snowflake": (
        "SELECT e.id, f.value AS v FROM events e, LATERAL FLATTEN(input => e.payload) f",
        "EVENTS",
        "ID: EVENTS.ID; V: EVENTS.PAYLOAD",
        "snowflake",
    ),
    "BigQuery: one pair of quotes, EXCEPT, REPLACE, a field": (
        """SELECT e.* EXCEPT (at) REPLACE (upper(id) AS id), e.payload.kind AS kind
           FROM `proj.shop.events` e""",
        "proj.shop.events",
        "id: events.id; payload: events.payload; kind: events.payload",
        "bigquery",
    ),
    "BigQuery: UNNEST of what stands before it": (
        "SELECT i.i_item_id, tag FROM shop.item i, UNNEST(i.i_tags) AS tag",
        "shop.item",
        "i_item_id: item.i_item_id; tag: item.i_tags",
        "bigquery",
    ),
    "Spark: LATERAL VIEW explode": (
        "SELECT i_item_id, t.tag FROM shop.item LATERAL VIEW explode(i_tags) t AS tag",
        "shop.item",
        "i_item_id: item.i_item_id; tag: item.i_tags",
        "databricks",
    ),
    "DuckDB: FROM first, EXCLUDE, nobody named the query": (
        "FROM (SELECT * EXCLUDE (s_manager_sk) FROM Store) SELECT s_STATE, s_store_name",
        "store",
        "s_state: store.s_state; s_store_name: store.s_store_name",
        "duckdb",
    ),
    "T-SQL: CROSS APPLY and brackets": (
        """CREATE VIEW [dbo].[v] AS SELECT c.[c_customer_id], x.top_price FROM [shop].[customer] c
           CROSS APPLY (SELECT TOP 1 ss_sales_price AS top_price FROM store_sales s
                        WHERE s.ss_customer_sk = c.c_customer_sk) x""",
        "shop.customer store_sales",
        "c_customer_id: customer.c_customer_id; top_price: store_sales.ss_sales_price",
        "tsql",
    ),
    "Snowflake: a column of a star renamed": (
        """SELECT * EXCLUDE (s_store_sk, s_store_name, s_manager_sk) RENAME s_state AS land
           FROM store""",
        "STORE",
        "LAND: STORE.S_STATE",
        "snowflake",
    ),
    "a field of a column": (
        "SELECT (c_address).city FROM customer",
        "customer",
        "city: customer.c_address",
    ),
    "arrays of types that no parser knows": (
        """SELECT '{0}'::oid[] AS none, i_tags::pg_catalog.regclass[][] AS tags,
           i_item_sk::text[] AS sk, ARRAY[]::text[] AS empty, i_brand::oid AS b FROM item""",
        "item",
        "none:; tags: item.i_tags; sk: item.i_item_sk; empty:; b: item.i_brand",
    ),
    "a star over two columns of one name": (
        "SELECT * FROM (SELECT s.s_state, t.s_state FROM store s, store_sales, store t) x",
        "store store_sales",
        "s_state: store.s_state; s_state: store.s_state",
    ),
    "USING over stars of tables that nobody knows": (
        """WITH a AS (SELECT * FROM raw_a), b AS (SELECT * FROM raw_b)
           SELECT k, s_state FROM a JOIN b USING (k), store""",
        "raw_a raw_b store",
        "k: raw_a.k; s_state: store.s_state",
    ),
    "a union with a star over a table that nobody knows": (
        "SELECT e_sk, e_name FROM employee UNION SELECT * FROM hidden",
        "employee hidden",
        "e_sk: employee.e_sk; e_name: employee.e_name",
    ),
    "a list that names the columns of LATERAL": (
        "SELECT x.top FROM customer c CROSS JOIN LATERAL (SELECT c.c_last_name) AS x(top)",
        "customer",
        "top: customer.c_last_name",
    ),
    "MySQL: capitals of columns do not count": (
        "SELECT S.S_STATE AS State, STATE || '!' AS loud FROM store S",
        "store",
        "state: store.s_state; loud: store.s_state",
        "mysql",
    ),
}
