package sqlite

import (
	_ "embed"
	"errors"
	"fmt"
)

// applicationID marks the file as memoryd's ("memd"), and schemaVersion the
// newest layout that this program reads and the one it writes.
const (
	applicationID = 0x6d656d64
	schemaVersion = 6
)

// The layout of an empty store, by the versions that brought its parts. A commit writes rows
// of calls, one row of log and nothing else of other tools: all counters follow from the log,
// and are folded into state in the background. That is what keeps the cost of a call the same
// however many are stored.
var (
	//go:embed layout.sql
	createTables string
	//go:embed records.sql
	createRecords string
	//go:embed runs.sql
	createRuns string
)

// upgrades gives, at n-1, the statements that turn layout version n into n+1.
//
// Version 4 has checksums in its pages, which only a new file does: another goes without until it is
// exported and restored. Version 5 has no index of words any more, and
// in version 6 inputs and outputs may be packed.
func upgrades() [schemaVersion - 1][]string {
	return [schemaVersion - 1][]string{
		{
			`ALTER TABLE calls ADD COLUMN extra TEXT`,
			`ALTER TABLE verdicts ADD COLUMN extra TEXT`,
			createRecords,
		},
		{createRuns},
		{},
		{`DROP TABLE IF EXISTS search`},
		{},
	}
}

// createSchema lays an empty file out, all or nothing.
func createSchema(c *conn) error {
	return inTransaction(c, []string{
		createTables, createRecords, createRuns,
		fmt.Sprintf(`PRAGMA application_id = %d`, applicationID),
		fmt.Sprintf(`PRAGMA user_version = %d`, schemaVersion),
	})
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
		if err := c.wiping(func() error { return inTransaction(c, append(steps, next)) }); err != nil {
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
