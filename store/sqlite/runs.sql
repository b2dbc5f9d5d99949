-- What version 3 brought.

CREATE TABLE runs ( -- of which run calls are, out of folded log rows; see runs.go
	id INTEGER PRIMARY KEY, -- the newest log row that is in here
	entries BLOB NOT NULL);
