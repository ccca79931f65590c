package sqlite

const (
	applicationID = 'v'<<24 | 'a'<<16 | 'd'<<8 | 'e'
	schemaVersion = 1
)

// settings are those of a connection; the file keeps none of them.
const settings = `synchronous=FULL fullfsync=ON checkpoint_fullfsync=ON secure_delete=FAST
	journal_size_limit=16777216 cache_size=-16384 temp_store=MEMORY`

// schema is what the file holds: what was put, a row a part, times in
// microseconds since 1970; and the words of its text and tags, of which only the
// index is kept. Text comes last, so that the rest is read without it.
const schema = `
CREATE TABLE items (
	key        INTEGER PRIMARY KEY,
	id         TEXT NOT NULL,
	part       INTEGER NOT NULL,
	parts      INTEGER NOT NULL,
	version    TEXT NOT NULL,
	vault      TEXT NOT NULL,
	title      TEXT NOT NULL,
	type       TEXT NOT NULL,
	tier       TEXT NOT NULL,
	tags       TEXT NOT NULL, -- JSON: a list
	workspace  TEXT NOT NULL,
	scope_type TEXT NOT NULL,
	scope_id   TEXT NOT NULL,
	origin     TEXT NOT NULL, -- JSON: user, agent, host, session, turn
	created    INTEGER,
	updated    INTEGER,
	expires    INTEGER,
	text       TEXT NOT NULL,
	UNIQUE (id, part)
);
CREATE INDEX items_expires ON items (expires) WHERE expires IS NOT NULL;
CREATE VIRTUAL TABLE words USING fts5 (
	text, content = '', contentless_delete = 1, tokenize = "porter unicode61 remove_diacritics 2 categories 'L* N* Co Mn Mc'"
);
CREATE TRIGGER items_gone AFTER DELETE ON items BEGIN
	DELETE FROM words WHERE rowid = old.key;
END;
`
