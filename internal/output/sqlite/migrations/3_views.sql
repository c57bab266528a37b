-- What a view of a kind of record shows: its fields, as the specs of the crawls have
-- declared them so far. A field that a later spec drops stays: older records have it.
CREATE TABLE fields (
	kind  TEXT NOT NULL,
	place INTEGER NOT NULL, -- in the view, from 0
	name  TEXT NOT NULL,
	type  TEXT NOT NULL, -- text, integer, number, boolean, time or json; with [] a list of such
	PRIMARY KEY (kind, name)
) STRICT;

ALTER TABLE records ADD COLUMN host TEXT; -- of the URL
UPDATE records SET host = (SELECT host FROM pages WHERE pages.url = records.url LIMIT 1);

-- What happened when, and what is of a host.
CREATE INDEX pages_host ON pages (host);
CREATE INDEX pages_fetched_at ON pages (fetched_at);
CREATE INDEX records_host ON records (host);
CREATE INDEX records_fetched_at ON records (kind, fetched_at);
CREATE INDEX events_fetched_at ON events (fetched_at);
