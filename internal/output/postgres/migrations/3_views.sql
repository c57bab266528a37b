-- What a view of a kind of record shows: its fields, as the specs of the crawls have
-- declared them so far. A field that a later spec drops stays: older records have it.
CREATE TABLE fields (
	kind  text NOT NULL,
	place int NOT NULL, -- in the view, from 0
	name  text NOT NULL,
	type  text NOT NULL, -- text, integer, number, boolean, time or json; with [] a list of such
	PRIMARY KEY (kind, name)
);

ALTER TABLE records ADD COLUMN host text; -- of the URL
UPDATE records SET host = (SELECT host FROM pages WHERE pages.url = records.url LIMIT 1);

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
