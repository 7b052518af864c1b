-- The state file as the first version made it.
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE tables (
    table_id TEXT PRIMARY KEY,
    source TEXT NOT NULL,
    location TEXT NOT NULL,
    format TEXT NOT NULL,
    version TEXT NOT NULL,
    context_locations TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('pending', 'indexed', 'failed', 'gone')),
    attempts INTEGER NOT NULL DEFAULT 0,
    claimed_by TEXT,
    claimed_version TEXT,
    columns TEXT,
    row_count INTEGER,
    comment TEXT NOT NULL DEFAULT '',
    notes TEXT NOT NULL DEFAULT '[]',
    indexed_version TEXT,
    indexed_schema_hash TEXT,
    indexed_row_count INTEGER,
    sampled_row_count INTEGER,
    deaths INTEGER NOT NULL DEFAULT 0,
    indexed_at REAL,
    block_count INTEGER
) WITHOUT ROWID;
CREATE INDEX tables_by_state ON tables (state, table_id);
CREATE INDEX tables_by_claim ON tables (claimed_by) WHERE claimed_by IS NOT NULL;
CREATE TABLE documents (
    table_id TEXT NOT NULL, kind TEXT NOT NULL, ordinal INTEGER NOT NULL, text TEXT NOT NULL,
    PRIMARY KEY (table_id, kind, ordinal)
) WITHOUT ROWID;
CREATE TABLE narrations (
    model TEXT NOT NULL, schema_hash TEXT NOT NULL, position INTEGER NOT NULL, text TEXT NOT NULL,
    PRIMARY KEY (model, schema_hash, position)
) WITHOUT ROWID;
CREATE TABLE table_narrations (
    table_id TEXT NOT NULL, model TEXT NOT NULL, column_name TEXT NOT NULL,
    column_type TEXT NOT NULL, text TEXT NOT NULL,
    PRIMARY KEY (table_id, column_name)
) WITHOUT ROWID;
CREATE TABLE staged_blocks (
    table_id TEXT NOT NULL, kind TEXT NOT NULL, ordinal INTEGER NOT NULL,
    text TEXT NOT NULL, vector BLOB NOT NULL, encoder TEXT NOT NULL,
    PRIMARY KEY (table_id, kind, ordinal)
);
CREATE TABLE problems (
    subject TEXT NOT NULL, source TEXT NOT NULL, stage TEXT NOT NULL, cause TEXT NOT NULL,
    PRIMARY KEY (subject, stage)
) WITHOUT ROWID;
CREATE TABLE runs (
    run_id TEXT PRIMARY KEY, started_at REAL NOT NULL, reading TEXT
) WITHOUT ROWID;
CREATE TABLE stages (
    run_id TEXT NOT NULL, stage TEXT NOT NULL, seconds REAL NOT NULL, figures TEXT NOT NULL,
    PRIMARY KEY (run_id, stage)
) WITHOUT ROWID;
CREATE TABLE user_contexts (
    table_id TEXT NOT NULL, name TEXT NOT NULL, text TEXT NOT NULL,
    PRIMARY KEY (table_id, name)
) WITHOUT ROWID;
PRAGMA user_version = 1;
