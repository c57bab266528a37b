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
