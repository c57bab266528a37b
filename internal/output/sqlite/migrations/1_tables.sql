-- Times are text, in UTC and of one length, so that they sort. Identities are the
-- first 16 bytes of a SHA-256 unless something else is said.

-- Each writer, and what it reads. Two of one stream would write everything twice.
CREATE TABLE writers (
	name   TEXT PRIMARY KEY,
	source TEXT NOT NULL UNIQUE -- records or results
) STRICT;

-- A partition of one life of a stream, as a writer reads it.
CREATE TABLE feeds (
	id        INTEGER PRIMARY KEY,
	writer    TEXT NOT NULL,
	partition INTEGER NOT NULL,
	created   TEXT NOT NULL, -- when the stream was
	UNIQUE (writer, partition, created)
) STRICT;

-- The log. Its primary key is the name of the entry.
CREATE TABLE commits (
	id           INTEGER NOT NULL UNIQUE,
	writer       TEXT NOT NULL,
	partition    INTEGER NOT NULL,
	epoch        TEXT NOT NULL,
	life         INTEGER NOT NULL,
	first_seq    INTEGER NOT NULL,
	last_seq     INTEGER NOT NULL,
	records      INTEGER NOT NULL,
	committed_at TEXT NOT NULL,
	entry        TEXT NOT NULL, -- JSON
	PRIMARY KEY (writer, partition, epoch, life, first_seq)
) STRICT;

-- That a record, or the result of a request, was committed. Where a visit finds an item gone, or as it was
-- without a record of it, the commit adds a row for the item. Rows stay: verify looks for them.
CREATE TABLE events (
	feed          INTEGER NOT NULL,
	id            BLOB NOT NULL, -- of the Nats-Msg-Id
	commit_id     INTEGER NOT NULL,
	crawl         TEXT NOT NULL,
	kind          TEXT NOT NULL,
	item          BLOB NOT NULL, -- id of its row in pages or records
	url           TEXT,
	visit         TEXT,
	fetched_at    TEXT NOT NULL,
	status        INTEGER,
	class         TEXT, -- this and what follows: of results
	attempt       INTEGER,
	error         TEXT,
	detail        TEXT,
	bytes_wire    INTEGER,
	bytes_body    INTEGER,
	dns_ms        INTEGER,
	connect_ms    INTEGER,
	tls_ms        INTEGER,
	first_byte_ms INTEGER,
	total_ms      INTEGER,
	data          TEXT, -- JSON
	run           INTEGER, -- when the run of the visit was due, in Unix seconds; 0 is the first
	digest        BLOB, -- of the fields of the record
	found         INTEGER, -- the item is there, or gone; NULL for results, and for what a replay has replaced
	since         TEXT, -- of an item that is gone: when it was found last
	PRIMARY KEY (feed, id)
) STRICT;

CREATE TABLE pages (
	crawl        TEXT NOT NULL,
	id           BLOB NOT NULL, -- hash of the URL, as visits have it
	first_seen   TEXT NOT NULL,
	changed_at   TEXT NOT NULL, -- when its fields changed last
	url          TEXT,
	host         TEXT,
	status       INTEGER,
	content_type TEXT,
	title        TEXT,
	description  TEXT,
	canonical    TEXT,
	language     TEXT,
	charset      TEXT,
	noindex      INTEGER,
	fetched_at   TEXT NOT NULL,
	depth        INTEGER,
	referrer     TEXT,
	visit        TEXT,
	round        INTEGER NOT NULL,
	duplicate_of TEXT,
	run          INTEGER NOT NULL, -- of the last check
	checked_at   TEXT NOT NULL,
	gone_at      TEXT, -- when a visit of its page did not find it any more
	digest       BLOB NOT NULL, -- of its fields
	commit_id    INTEGER NOT NULL,
	text         TEXT,
	record       TEXT NOT NULL, -- JSON, all of it
	PRIMARY KEY (crawl, id)
) STRICT;

CREATE TABLE records (
	crawl        TEXT NOT NULL,
	kind         TEXT NOT NULL,
	id           BLOB NOT NULL, -- of the key, else of the page and the place on it
	first_seen   TEXT NOT NULL,
	changed_at   TEXT NOT NULL, -- when its fields changed last
	key          TEXT,
	place        INTEGER, -- on its page, from 0, if it has no key
	url          TEXT,
	host         TEXT,
	fetched_at   TEXT NOT NULL,
	visit        TEXT,
	round        INTEGER NOT NULL,
	duplicate_of TEXT,
	run          INTEGER NOT NULL, -- of the last check
	checked_at   TEXT NOT NULL,
	gone_at      TEXT, -- when a visit of its page did not find it any more
	digest       BLOB NOT NULL, -- of its fields
	commit_id    INTEGER NOT NULL,
	data         TEXT NOT NULL, -- JSON, all of it
	PRIMARY KEY (crawl, kind, id)
) STRICT;

CREATE TABLE sources (
	crawl      TEXT NOT NULL,
	host       TEXT NOT NULL,
	first_seen TEXT NOT NULL,
	last_seen  TEXT NOT NULL,
	pages      INTEGER NOT NULL,
	PRIMARY KEY (crawl, host)
) STRICT;

-- What people look for: a page by its URL, the records of a page, and records by
-- their key.
CREATE INDEX pages_url ON pages (url);
CREATE INDEX records_url ON records (url);
CREATE INDEX records_key ON records (key) WHERE key IS NOT NULL;
CREATE INDEX events_item ON events (item, fetched_at) WHERE found IS NOT NULL;
CREATE INDEX events_url ON events (url) WHERE found IS NOT NULL;
CREATE INDEX events_run ON events (run, kind) WHERE found IS NOT NULL;

-- What a view of a kind of record shows: its fields, as the specs of the crawls have
-- declared them so far. A field that a later spec drops stays: older records have it.
CREATE TABLE fields (
	kind  TEXT NOT NULL,
	place INTEGER NOT NULL, -- in the view, from 0
	name  TEXT NOT NULL,
	type  TEXT NOT NULL, -- text, integer, number, boolean, time or json; with [] a list of such
	rev   INTEGER NOT NULL, -- the revision of the spec that has the type
	PRIMARY KEY (kind, name)
) STRICT;

-- What happened when, and what is of a host.
CREATE INDEX pages_host ON pages (host);
CREATE INDEX pages_fetched_at ON pages (fetched_at);
CREATE INDEX records_host ON records (host);
CREATE INDEX records_fetched_at ON records (kind, fetched_at);
CREATE INDEX events_fetched_at ON events (fetched_at);

-- What each run of a crawl has found, as far as it has come: rows are replaced.
CREATE TABLE runs (
	crawl      TEXT NOT NULL,
	run        INTEGER NOT NULL, -- when it was due, in Unix seconds; 0 is the first
	started    TEXT NOT NULL,
	ended      TEXT, -- NULL while it goes on
	requests   TEXT NOT NULL, -- JSON: by class
	records    TEXT NOT NULL, -- JSON: by kind
	pages      INTEGER NOT NULL,
	new        INTEGER NOT NULL,
	changed    INTEGER NOT NULL,
	same       INTEGER NOT NULL,
	gone       INTEGER NOT NULL,
	failed     INTEGER NOT NULL,
	bytes_wire INTEGER NOT NULL,
	bytes_body INTEGER NOT NULL,
	PRIMARY KEY (crawl, run)
) STRICT;

-- What the visits have found of items. Of a visit that was replayed, what the last replay made of it. An item that
-- was found on another page in the same run has moved: it is not gone.
CREATE VIEW sightings AS SELECT e.rowid AS place, e.* FROM events e WHERE e.found IS NOT NULL
	AND NOT EXISTS (SELECT 1 FROM events n WHERE n.item = e.item AND n.fetched_at = e.fetched_at AND n.found IS NOT NULL
		AND n.crawl = e.crawl AND n.kind = e.kind AND n.visit = e.visit AND (n.commit_id, n.id) > (e.commit_id, e.id))
	AND (e.found OR NOT EXISTS (SELECT 1 FROM events f WHERE f.item = e.item AND f.fetched_at > e.since AND f.found
		AND f.crawl = e.crawl AND f.kind = e.kind AND f.run = e.run AND f.url <> e.url));

-- What the planner expects, rows and rows of a value: without figures it reads all rows of a kind to find a key.
ANALYZE sqlite_schema;
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
	('records', 'sqlite_autoindex_records_1', '1000000 500000 200000 1'), ('pages', 'sqlite_autoindex_pages_1', '1000000 500000 1'),
	('records', 'records_fetched_at', '1000000 200000 10'), ('records', 'records_key', '1000000 2'),
	('records', 'records_url', '1000000 10'), ('records', 'records_host', '1000000 10000'),
	('events', 'events_run', '10000000 100000 50000'), ('events', 'events_item', '10000000 20 1'),
	('events', 'events_url', '10000000 20'), ('events', 'events_fetched_at', '10000000 10');
ANALYZE sqlite_schema;
