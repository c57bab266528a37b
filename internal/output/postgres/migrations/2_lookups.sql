-- What people look for: a page by its URL, the records of a page, and records by
-- their key. A hash takes a text of any length. The last is small: events come in
-- about the order of their times.
CREATE INDEX pages_url ON pages USING hash (url);
CREATE INDEX records_url ON records USING hash (url);
CREATE INDEX records_key ON records USING hash (key) WHERE key IS NOT NULL;
CREATE INDEX events_fetched_at ON events USING brin (fetched_at);
