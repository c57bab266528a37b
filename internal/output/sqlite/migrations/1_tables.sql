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

-- That a record, or the result of a request, was committed. Rows are only added.
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
	PRIMARY KEY (feed, id)
) STRICT;

CREATE TABLE pages (
	crawl        TEXT NOT NULL,
	id           BLOB NOT NULL, -- hash of the URL, as visits have it
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
	text         TEXT,
	fetched_at   TEXT NOT NULL,
	depth        INTEGER,
	referrer     TEXT,
	visit        TEXT,
	round        INTEGER NOT NULL,
	duplicate_of TEXT,
	record       TEXT NOT NULL, -- JSON, all of it
	commit_id    INTEGER NOT NULL,
	PRIMARY KEY (crawl, id)
) STRICT;

CREATE TABLE records (
	crawl        TEXT NOT NULL,
	kind         TEXT NOT NULL,
	id           BLOB NOT NULL, -- of the key, else of the page and the place on it
	key          TEXT,
	place        INTEGER, -- on its page, from 0, if it has no key
	url          TEXT,
	fetched_at   TEXT NOT NULL,
	visit        TEXT,
	round        INTEGER NOT NULL,
	duplicate_of TEXT,
	data         TEXT NOT NULL, -- JSON, all of it
	commit_id    INTEGER NOT NULL,
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
