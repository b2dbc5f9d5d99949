-- What version 2 brought.

CREATE TABLE records ( -- documents beside the tools; see store.Record
	workspace TEXT NOT NULL,
	tool TEXT NOT NULL, -- a name, for the table is also read by people
	kind TEXT NOT NULL,
	id TEXT NOT NULL,
	revision INTEGER NOT NULL,
	expires INTEGER,
	data BLOB NOT NULL,
	PRIMARY KEY (workspace, tool, kind, id));

CREATE INDEX records_expires ON records (expires) WHERE expires IS NOT NULL;
