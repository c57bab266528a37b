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
