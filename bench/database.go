package main

import (
	"database/sql"
	"path/filepath"

	_ "modernc.org/sqlite" // the driver that the product uses, too
)

// openDatabase opens a SQLite file as durably as the product's: a write-ahead
// log that each commit flushes.
func openDatabase(dir, schema string) (*sql.DB, error) {
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "bench.db")+
		"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=wal_autocheckpoint(4000)&_pragma=cache_size(-16384)")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	if _, err := db.Exec(schema); err != nil {
		_ = db.Close()
		return nil, err
	}
	return db, nil
}

// inTransaction commits what change did, or nothing.
func inTransaction(db *sql.DB, change func(*sql.Tx) error) error {
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	if err := change(tx); err != nil {
		_ = tx.Rollback()
		return err
	}
	return tx.Commit()
}
