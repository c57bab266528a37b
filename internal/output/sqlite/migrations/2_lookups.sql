-- What people look for: a page by its URL, the records of a page, and records by
-- their key.
CREATE INDEX pages_url ON pages (url);
CREATE INDEX records_url ON records (url);
CREATE INDEX records_key ON records (key) WHERE key IS NOT NULL;
