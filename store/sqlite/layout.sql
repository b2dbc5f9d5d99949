-- Tools and their calls, and what the store needs for its work.

CREATE TABLE tools (
	id INTEGER PRIMARY KEY, -- never given twice
	workspace TEXT NOT NULL,
	name TEXT NOT NULL,
	created INTEGER NOT NULL);

CREATE TABLE state ( -- what is known of a tool's history through log row "mark"
	tool INTEGER PRIMARY KEY,
	mark INTEGER NOT NULL,
	lifetime INTEGER NOT NULL, -- also the newest call's seq
	duplicates INTEGER NOT NULL,
	revision INTEGER NOT NULL,
	modified INTEGER NOT NULL,
	slots BLOB); -- ids of the kept calls, oldest first: varint differences

CREATE TABLE guidelines (
	tool INTEGER PRIMARY KEY,
	revision INTEGER NOT NULL,
	content TEXT,
	author TEXT,
	based_on INTEGER NOT NULL,
	through_seq INTEGER NOT NULL,
	written INTEGER);

CREATE TABLE calls ( -- a full history overwrites its oldest row in place
	id INTEGER PRIMARY KEY,
	tool INTEGER NOT NULL,
	seq INTEGER NOT NULL,
	success INTEGER NOT NULL,
	state INTEGER NOT NULL, -- 0 pending, 1 judged, 2 failed
	score REAL NOT NULL,
	time_cost REAL NOT NULL,
	token_cost INTEGER NOT NULL,
	time INTEGER,
	key BLOB NOT NULL,
	hash TEXT,
	create_time TEXT,
	judged_by TEXT, rule TEXT, judge_version TEXT, judged_at INTEGER,
	attempts INTEGER NOT NULL, not_before INTEGER, last_error TEXT,
	summary TEXT, evaluation TEXT,
	metadata TEXT, input TEXT, output TEXT, -- the last two may be packed blobs, see row.go
	extra TEXT); -- see row.go

CREATE TABLE pending ( -- kept calls without a verdict, in the order of acceptance
	id INTEGER PRIMARY KEY,
	tool INTEGER NOT NULL,
	slot INTEGER NOT NULL, -- calls.id
	seq INTEGER NOT NULL,
	key BLOB NOT NULL,
	not_before INTEGER);

CREATE TABLE log ( -- one row a commit: what it changed beyond calls; see load.go
	id INTEGER PRIMARY KEY,
	at INTEGER NOT NULL,
	records BLOB NOT NULL);

CREATE TABLE seen ( -- identities of the newest accepted calls, out of folded log rows
	id INTEGER PRIMARY KEY,
	through INTEGER NOT NULL, -- the newest log row that is in here
	entries BLOB NOT NULL);

CREATE TABLE purge ( -- calls that nothing refers to any more and that are to be deleted
	id INTEGER PRIMARY KEY,
	slots BLOB NOT NULL);

CREATE TABLE verdicts (
	id INTEGER PRIMARY KEY,
	key BLOB NOT NULL UNIQUE,
	state INTEGER NOT NULL,
	score REAL NOT NULL,
	judged_by TEXT, rule TEXT, judge_version TEXT, judged_at INTEGER,
	attempts INTEGER NOT NULL, not_before INTEGER, last_error TEXT,
	summary TEXT, evaluation TEXT,
	extra TEXT);
