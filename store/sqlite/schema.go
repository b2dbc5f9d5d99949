package sqlite

import (
	"errors"
	"fmt"
	"slices"
)

// applicationID marks the file as memoryd's ("memd"), and schemaVersion the
// newest layout that this program reads and the one it writes.
const (
	applicationID = 0x6d656d64
	schemaVersion = 4
)

// layout makes an empty store. A commit writes rows of calls, one row of log
// and nothing else of other tools: all counters follow from the log, and are
// folded into state in the background. That is what keeps the cost of a call
// the same however many are stored.
func layout() []string { return slices.Concat(historyTables(), workTables()) }

// historyTables hold tools and their calls.
func historyTables() []string {
	return []string{
		`CREATE TABLE tools (
		id INTEGER PRIMARY KEY, -- never given twice
		workspace TEXT NOT NULL,
		name TEXT NOT NULL,
		created INTEGER NOT NULL)`,
		`CREATE TABLE state ( -- what is known of a tool's history through log row "mark"
		tool INTEGER PRIMARY KEY,
		mark INTEGER NOT NULL,
		lifetime INTEGER NOT NULL, -- also the newest call's seq
		duplicates INTEGER NOT NULL,
		revision INTEGER NOT NULL,
		modified INTEGER NOT NULL,
		slots BLOB) -- ids of the kept calls, oldest first: varint differences`,
		`CREATE TABLE guidelines (
		tool INTEGER PRIMARY KEY,
		revision INTEGER NOT NULL,
		content TEXT,
		author TEXT,
		based_on INTEGER NOT NULL,
		through_seq INTEGER NOT NULL,
		written INTEGER)`,
		`CREATE TABLE calls ( -- a full history overwrites its oldest row in place
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
		metadata TEXT, input TEXT, output TEXT,
		extra TEXT)`, // see extra.go
		`CREATE TABLE pending ( -- kept calls without a verdict, in the order of acceptance
		id INTEGER PRIMARY KEY,
		tool INTEGER NOT NULL,
		slot INTEGER NOT NULL, -- calls.id
		seq INTEGER NOT NULL,
		key BLOB NOT NULL,
		not_before INTEGER)`,
	}
}

// workTables hold what the store needs for its work, and records.
func workTables() []string {
	return []string{
		`CREATE TABLE log ( -- one row a commit: what it changed beyond calls; see record.go
		id INTEGER PRIMARY KEY,
		at INTEGER NOT NULL,
		records BLOB NOT NULL)`,
		`CREATE TABLE seen ( -- identities of the newest accepted calls, out of folded log rows
		id INTEGER PRIMARY KEY,
		through INTEGER NOT NULL, -- the newest log row that is in here
		entries BLOB NOT NULL)`,
		`CREATE TABLE purge ( -- calls that nothing refers to any more and that are to be deleted
		id INTEGER PRIMARY KEY,
		slots BLOB NOT NULL)`,
		`CREATE TABLE verdicts (
		id INTEGER PRIMARY KEY,
		key BLOB NOT NULL UNIQUE,
		state INTEGER NOT NULL,
		score REAL NOT NULL,
		judged_by TEXT, rule TEXT, judge_version TEXT, judged_at INTEGER,
		attempts INTEGER NOT NULL, not_before INTEGER, last_error TEXT,
		summary TEXT, evaluation TEXT,
		extra TEXT)`,
		createRecords,
		indexRecords,
		createSearch,
		createRuns,
		createCommits,
		fmt.Sprintf(`PRAGMA application_id = %d`, applicationID),
		fmt.Sprintf(`PRAGMA user_version = %d`, schemaVersion),
	}
}

// The parts of the layout that versions 2 and 3 brought.
const (
	createRecords = `CREATE TABLE records ( -- documents beside the tools; see store.Record
		workspace TEXT NOT NULL,
		tool TEXT NOT NULL, -- a name, for the table is also read by people
		kind TEXT NOT NULL,
		id TEXT NOT NULL,
		revision INTEGER NOT NULL,
		expires INTEGER,
		data BLOB NOT NULL,
		PRIMARY KEY (workspace, tool, kind, id))`
	indexRecords = `CREATE INDEX records_expires ON records (expires) WHERE expires IS NOT NULL`
	createSearch = `CREATE VIRTUAL TABLE search USING fts5( -- rowid: tools.id
		space, words, content='', contentless_delete=1, tokenize="unicode61 remove_diacritics 0")`
	createCommits = `CREATE TABLE commits ( -- of commits that write no log row; see counter.go
		id INTEGER PRIMARY KEY,
		n INTEGER NOT NULL)`
	createRuns = `CREATE TABLE runs ( -- of which run calls are, out of folded log rows; see runs.go
		id INTEGER PRIMARY KEY, -- the newest log row that is in here
		entries BLOB NOT NULL)`
)

// upgrades gives, at n-1, the statements that turn layout version n into n+1.
//
// Version 4 has checksums in its pages, which only a new file gets: one of version 3
// stays as it is until it is exported and restored.
func upgrades() [schemaVersion - 2][]string {
	return [schemaVersion - 2][]string{
		{
			`ALTER TABLE calls ADD COLUMN extra TEXT`,
			`ALTER TABLE verdicts ADD COLUMN extra TEXT`,
			createRecords,
			indexRecords,
			createSearch,
			`INSERT INTO search (rowid, space, words)
				SELECT t.id, 'w' || lower(hex(t.workspace)), t.name || char(10) || coalesce(g.content, '')
				FROM tools t LEFT JOIN guidelines g ON g.tool = t.id`,
		},
		{createRuns},
	}
}

// createSchema lays an empty file out, all or nothing.
func createSchema(c *conn) error {
	return inTransaction(c, layout())
}

// checkSchema refuses files that are not ours or newer than we are, and brings
// older ones up to date.
func checkSchema(c *conn) error {
	id, err := c.number(`PRAGMA application_id`)
	if err != nil {
		return err
	}
	if id != applicationID {
		return errors.New("it is an SQLite file of another program, or it is empty")
	}
	version, err := c.number(`PRAGMA user_version`)
	if err != nil {
		return err
	}
	if version < 1 || version > schemaVersion {
		return fmt.Errorf("it has format version %d; this program reads versions 1 to %d", version, schemaVersion)
	}
	for from, steps := range upgrades() {
		if int64(from)+1 < version {
			continue
		}
		next := fmt.Sprintf(`PRAGMA user_version = %d`, from+2)
		if err := inTransaction(c, append(steps, next)); err != nil {
			return fmt.Errorf("upgrading from format version %d: %w", from+1, err)
		}
	}
	return nil
}

func inTransaction(c *conn, statements []string) error {
	if err := c.exec(`BEGIN IMMEDIATE`); err != nil {
		return err
	}
	for _, st := range statements {
		if err := c.exec(st); err != nil {
			return errors.Join(err, c.exec(`ROLLBACK`))
		}
	}
	return c.exec(`COMMIT`)
}
