-- What version 4 brought.

CREATE TABLE commits ( -- of commits that write no log row; see counter.go
	id INTEGER PRIMARY KEY,
	n INTEGER NOT NULL);
