package main

import (
	"database/sql"
	"encoding/json"
	"errors"
	"slices"
)

// keptCalls is how many calls a history keeps, here and in the product.
const keptCalls = 100

// openRewrite restates the algorithm of tool memories that keep a tool as one
// record with its calls inside: each add reads the record, appends to it, drops
// the oldest calls, deletes the record and inserts the new one. What is left out
// favours it: no search by embedding, no model call, and one commit for all that
// wait.
func openRewrite(dir string) (sink, func() error, error) {
	db, err := openDatabase(dir, `CREATE TABLE IF NOT EXISTS memory (workspace TEXT, tool TEXT, record BLOB, PRIMARY KEY (workspace, tool))`)
	if err != nil {
		return nil, nil, err
	}
	c := newCommitter(func(requests []*wireRequest) error {
		return inTransaction(db, func(tx *sql.Tx) error {
			for _, r := range requests {
				if err := rewrite(tx, r); err != nil {
					return err
				}
			}
			return nil
		})
	})
	take := func(_ []byte, r *wireRequest) error { return c.add(r) }
	return take, func() error { c.close(); return db.Close() }, nil
}

func rewrite(tx *sql.Tx, r *wireRequest) error {
	var record []byte
	err := tx.QueryRow(`SELECT record FROM memory WHERE workspace = ? AND tool = ?`, r.Workspace, r.ToolName).Scan(&record)
	var calls []wireCall
	switch {
	case errors.Is(err, sql.ErrNoRows):
	case err != nil:
		return err
	default:
		if err := json.Unmarshal(record, &calls); err != nil {
			return err
		}
	}
	calls = append(calls, r.Calls...)
	calls = slices.Clone(calls[max(0, len(calls)-keptCalls):])
	if record, err = json.Marshal(calls); err != nil {
		return err
	}
	if _, err := tx.Exec(`DELETE FROM memory WHERE workspace = ? AND tool = ?`, r.Workspace, r.ToolName); err != nil {
		return err
	}
	_, err = tx.Exec(`INSERT INTO memory (workspace, tool, record) VALUES (?, ?, ?)`, r.Workspace, r.ToolName, record)
	return err
}
