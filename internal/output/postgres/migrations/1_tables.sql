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

-- That a record, or the result of a request, was committed. Where a visit finds an item gone, or as it was
-- without a record of it, the commit adds a row for the item. Rows stay: verify looks for them.
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
	run           bigint, -- when the run of the visit was due, in Unix seconds; 0 is the first
	digest        bytea, -- of the fields of the record
	found         boolean, -- the item is there, or gone; NULL for results, and for what a replay has replaced
	since         timestamptz, -- of an item that is gone: when it was found last
	PRIMARY KEY (feed, id)
);

CREATE TABLE pages (
	crawl        text NOT NULL,
	id           bytea NOT NULL, -- hash of the URL, as visits have it
	first_seen   timestamptz NOT NULL,
	changed_at   timestamptz NOT NULL, -- when its fields changed last
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
	fetched_at   timestamptz NOT NULL,
	depth        int,
	referrer     text,
	visit        text,
	round        bigint NOT NULL,
	duplicate_of text,
	run          bigint NOT NULL, -- of the last check
	checked_at   timestamptz NOT NULL,
	gone_at      timestamptz, -- when a visit of its page did not find it any more
	digest       bytea NOT NULL, -- of its fields
	commit_id    bigint NOT NULL,
	text         text,
	record       jsonb NOT NULL, -- all of it
	PRIMARY KEY (crawl, id)
);

CREATE TABLE records (
	crawl        text NOT NULL,
	kind         text NOT NULL,
	id           bytea NOT NULL, -- of the key, else of the page and the place on it
	first_seen   timestamptz NOT NULL,
	changed_at   timestamptz NOT NULL, -- when its fields changed last
	key          text,
	place        int, -- on its page, from 0, if it has no key
	url          text,
	host         text,
	fetched_at   timestamptz NOT NULL,
	visit        text,
	round        bigint NOT NULL,
	duplicate_of text,
	run          bigint NOT NULL, -- of the last check
	checked_at   timestamptz NOT NULL,
	gone_at      timestamptz, -- when a visit of its page did not find it any more
	digest       bytea NOT NULL, -- of its fields
	commit_id    bigint NOT NULL,
	data         jsonb NOT NULL, -- all of it
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

-- What people look for: a page by its URL, the records of a page, and records by
-- their key. A hash takes a text of any length. The last is small: events come in
-- about the order of their times.
CREATE INDEX pages_url ON pages USING hash (url);
CREATE INDEX records_url ON records USING hash (url);
CREATE INDEX records_key ON records USING hash (key) WHERE key IS NOT NULL;
CREATE INDEX events_fetched_at ON events USING brin (fetched_at);
CREATE INDEX events_item ON events (item, fetched_at) WHERE found IS NOT NULL;
CREATE INDEX events_url ON events USING hash (url) WHERE found IS NOT NULL;
CREATE INDEX events_run ON events (run, kind) WHERE found IS NOT NULL;

-- What a view of a kind of record shows: its fields, as the specs of the crawls have
-- declared them so far. A field that a later spec drops stays: older records have it.
CREATE TABLE fields (
	kind  text NOT NULL,
	place int NOT NULL, -- in the view, from 0
	name  text NOT NULL,
	type  text NOT NULL, -- text, integer, number, boolean, time or json; with [] a list of such
	rev   bigint NOT NULL, -- the revision of the spec that has the type
	PRIMARY KEY (kind, name)
);

-- What happened when, and what is of a host.
CREATE INDEX pages_host ON pages USING hash (host);
CREATE INDEX pages_fetched_at ON pages (fetched_at);
CREATE INDEX records_host ON records USING hash (host);
CREATE INDEX records_fetched_at ON records (kind, fetched_at);

-- A time of RFC 3339, or a date, which is its midnight in UTC; NULL for any other text.
-- A cast would end the whole query at a text that is no time. It is inlined, and fit for
-- parallel queries, which a function that catches errors is not.
CREATE FUNCTION seine_time(v text) RETURNS timestamptz LANGUAGE sql STABLE STRICT PARALLEL SAFE AS $$
	SELECT CASE WHEN v ~ '^(?!0000)\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])(T([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d{1,9})?(Z|[+-](0\d|1[0-4]):[0-5]\d))?$'
	THEN CASE WHEN substr(v, 9, 2)::int <= extract(day FROM (substr(v, 1, 7) || '-01')::date + interval '1 month' - interval '1 day')
	THEN (v || CASE length(v) WHEN 10 THEN 'T00:00:00Z' ELSE '' END)::timestamptz END END
$$;

-- What each run of a crawl has found, as far as it has come: rows are replaced.
CREATE TABLE runs (
	crawl      text NOT NULL,
	run        bigint NOT NULL, -- when it was due, in Unix seconds; 0 is the first
	started    timestamptz NOT NULL,
	ended      timestamptz, -- NULL while it goes on
	requests   jsonb NOT NULL, -- by class
	records    jsonb NOT NULL, -- by kind
	pages      bigint NOT NULL,
	new        bigint NOT NULL,
	changed    bigint NOT NULL,
	same       bigint NOT NULL,
	gone       bigint NOT NULL,
	failed     bigint NOT NULL,
	bytes_wire bigint NOT NULL,
	bytes_body bigint NOT NULL,
	PRIMARY KEY (crawl, run)
);

-- What the visits have found of items. Of a visit that was replayed, what the last replay made of it. An item that
-- was found on another page in the same run has moved: it is not gone.
CREATE VIEW sightings AS SELECT * FROM events e WHERE e.found IS NOT NULL
	AND NOT EXISTS (SELECT 1 FROM events n WHERE n.item = e.item AND n.fetched_at = e.fetched_at AND n.found IS NOT NULL
		AND n.crawl = e.crawl AND n.kind = e.kind AND n.visit = e.visit AND (n.commit_id, n.id) > (e.commit_id, e.id))
	AND (e.found OR NOT EXISTS (SELECT 1 FROM events f WHERE f.item = e.item AND f.fetched_at > e.since AND f.found
		AND f.crawl = e.crawl AND f.kind = e.kind AND f.run = e.run AND f.url <> e.url));
