package sqlite

import (
	"context"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"time"

	"modernc.org/sqlite"
)

// conn is one connection with its prepared statements. It belongs to one
// goroutine at a time. The driver is used without database/sql, whose pool has
// no place beside one writer and a fixed set of readers.
type conn struct {
	dc    driver.Conn
	stmts map[string]statement
	execs int64 // how many statements it has run
}

type statement interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// connect opens the file and runs the pragmas.
func connect(path string, pragmas ...string) (*conn, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	address := &url.URL{Scheme: "file", Path: filepath.ToSlash(abs)}
	if sums, err := summed(path); err != nil {
		return nil, err
	} else if sums {
		if _, err := registerSums(); err != nil {
			return nil, err
		}
		address.RawQuery = "vfs=" + sumsVFS
	}
	name := address.String()
	dc, err := (&sqlite.Driver{}).Open(name)
	if err != nil {
		return nil, err
	}
	c := &conn{dc: dc, stmts: map[string]statement{}}
	for _, p := range append([]string{"busy_timeout = 10000"}, pragmas...) {
		if err := c.exec("PRAGMA " + p); err != nil {
			return nil, errors.Join(fmt.Errorf("pragma %s: %w", p, err), c.close())
		}
	}
	return c, nil
}

func (c *conn) close() error {
	var errs []error
	for _, st := range c.stmts {
		errs = append(errs, st.Close())
	}
	return errors.Join(append(errs, c.dc.Close())...)
}

// prepare gives the statement for the query, made on first use.
func (c *conn) prepare(query string) (statement, error) {
	if st, ok := c.stmts[query]; ok {
		return st, nil
	}
	raw, err := c.dc.Prepare(query)
	if err != nil {
		return nil, err
	}
	st, ok := raw.(statement)
	if !ok {
		return nil, errors.Join(fmt.Errorf("sqlite driver: statement of type %T", raw), raw.Close())
	}
	c.stmts[query] = st
	return st, nil
}

// exec runs a statement to its end, whatever happens to any context.
func (c *conn) exec(query string, values ...driver.Value) error {
	return c.execNamed(query, ordinals(values))
}

func (c *conn) execNamed(query string, args []driver.NamedValue) error {
	st, err := c.prepare(query)
	if err != nil {
		return err
	}
	c.execs++
	_, err = st.ExecContext(context.Background(), args)
	return err
}

// query calls row for each row of the answer; what row gets is valid until it
// returns.
func (c *conn) query(ctx context.Context, query string, row func([]driver.Value) error, values ...driver.Value) (err error) {
	st, err := c.prepare(query)
	if err != nil {
		return err
	}
	rows, err := st.QueryContext(ctx, ordinals(values))
	if err != nil {
		return err
	}
	defer func() {
		if cerr := rows.Close(); err == nil {
			err = cerr
		}
	}()
	dest := make([]driver.Value, len(rows.Columns()))
	for {
		if err := rows.Next(dest); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if err := row(dest); err != nil {
			return err
		}
	}
}

// number reads a single integer; no row and NULL are 0.
func (c *conn) number(query string, values ...driver.Value) (n int64, err error) {
	err = c.query(context.Background(), query, func(v []driver.Value) error {
		n = integer(v[0])
		return nil
	}, values...)
	return n, err
}

// limited ends a query with a limit to bind. SQLite plans a query anew for each value of a
// bare LIMIT ?, which takes longer than most answers.
const limited = `LIMIT ? + 0`

// inList holds for what is in a list of listOf.
const inList = `IN (SELECT value FROM json_each(?))`

// listOf is whole numbers as a value to bind.
func listOf(numbers []int64) driver.Value {
	list, _ := json.Marshal(numbers) // it cannot fail
	return string(list)
}

func ordinals(values []driver.Value) []driver.NamedValue {
	args := make([]driver.NamedValue, len(values))
	for i, v := range values {
		args[i] = driver.NamedValue{Ordinal: i + 1, Value: v}
	}
	return args
}

// How Go values stand in columns: an empty string, a zero time and a nil slice
// are NULL; a time is microseconds since 1970, in UTC.

func text(s string) driver.Value {
	if s == "" {
		return nil
	}
	return s
}

// raw keeps nil and empty apart.
func raw(b []byte) driver.Value {
	if b == nil {
		return nil
	}
	return string(b)
}

func micros(t time.Time) driver.Value {
	if t.IsZero() {
		return nil
	}
	return t.UnixMicro()
}

func flag(b bool) driver.Value {
	if b {
		return int64(1)
	}
	return int64(0)
}

func integer(v driver.Value) int64 {
	n, _ := v.(int64)
	return n
}

func float(v driver.Value) float64 {
	switch x := v.(type) {
	case float64:
		return x
	case int64:
		return float64(x)
	}
	return 0
}

func str(v driver.Value) string {
	s, _ := v.(string)
	return s
}

func rawOf(v driver.Value) []byte {
	if s, ok := v.(string); ok {
		return []byte(s)
	}
	return nil
}

func blob(v driver.Value) []byte {
	b, _ := v.([]byte)
	return b
}

func timeOf(v driver.Value) time.Time {
	n, ok := v.(int64)
	if !ok {
		return time.Time{}
	}
	return time.UnixMicro(n).UTC()
}
