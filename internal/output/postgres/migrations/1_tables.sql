-- Identities are the first 16 bytes of a SHA-256 unless something else is said. A URL
-- or a key is too long for an index that is sorted, so rows are found by an identity.

CREATE TABLE seine_schema (
	version int NOT NULL -- of these tables: one row
);

-- Each writer, and what it reads. Two of one stream would write everything twice.
CREATE TABLE writers (
	name   text PRIMARY KEY,
	source text NOT NULL UNIQUE -- records or results
);

-- A partition of one life of a stream, as a writer reads it.
CREATE TABLE feeds (
	id        int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	writer    text NOT NULL,
	partition int NOT NULL,
	created   text NOT NULL, -- when the stream was, to the nanosecond
	UNIQUE (writer, partition, created)
);

-- The log. Its primary key is the name of the entry.
CREATE TABLE commits (
	id           bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
	writer       text NOT NULL,
	partition    int NOT NULL,
	epoch        text NOT NULL,
	life         int NOT NULL,
	first_seq    bigint NOT NULL,
	last_seq     bigint NOT NULL,
	records      int NOT NULL,
	committed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
	entry        text NOT NULL, -- JSON
	PRIMARY KEY (writer, partition, epoch, life, first_seq)
);

-- That a record, or the result of a request, was committed. Rows are only added.
CREATE TABLE events (
	feed          int NOT NULL,
	id            bytea NOT NULL, -- of the Nats-Msg-Id
	commit_id     bigint NOT NULL,
	crawl         text NOT NULL,
	kind          text NOT NULL,
	item          bytea NOT NULL, -- id of its row in pages or records
	url           text,
	visit         text,
	fetched_at    timestamptz NOT NULL,
	status        int,
	class         text, -- this and what follows: of results
	attempt       int,
	error         text,
	detail        text,
	bytes_wire    bigint,
	bytes_body    bigint,
	dns_ms        bigint,
	connect_ms    bigint,
	tls_ms        bigint,
	first_byte_ms bigint,
	total_ms      bigint,
	data          jsonb,
	PRIMARY KEY (feed, id)
);

CREATE TABLE pages (
	crawl        text NOT NULL,
	id           bytea NOT NULL, -- hash of the URL, as visits have it
	url          text,
	host         text,
	status       int,
	content_type text,
	title        text,
	description  text,
	canonical    text,
	language     text,
	charset      text,
	noindex      boolean,
	text         text,
	fetched_at   timestamptz NOT NULL,
	depth        int,
	referrer     text,
	visit        text,
	round        bigint NOT NULL,
	duplicate_of text,
	record       jsonb NOT NULL, -- all of it
	commit_id    bigint NOT NULL,
	PRIMARY KEY (crawl, id)
);

CREATE TABLE records (
	crawl        text NOT NULL,
	kind         text NOT NULL,
	id           bytea NOT NULL, -- of the key, else of the page and the place on it
	key          text,
	place        int, -- on its page, from 0, if it has no key
	url          text,
	fetched_at   timestamptz NOT NULL,
	visit        text,
	round        bigint NOT NULL,
	duplicate_of text,
	data         jsonb NOT NULL, -- all of it
	commit_id    bigint NOT NULL,
	PRIMARY KEY (crawl, kind, id)
);

CREATE TABLE sources (
	crawl      text NOT NULL,
	host       text NOT NULL,
	first_seen timestamptz NOT NULL,
	last_seen  timestamptz NOT NULL,
	pages      bigint NOT NULL,
	PRIMARY KEY (crawl, host)
);
