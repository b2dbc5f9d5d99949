package rules

import (
	"strings"

	"memoryd/internal/errortext"
	"memoryd/internal/phrases"
)

// sqlPhrases are messages of database engines: SQLite, PostgreSQL, MySQL,
// SQL Server, Oracle, DuckDB, BigQuery, Snowflake, and their drivers.
var sqlPhrases = []string{
	"no such table:", "no such column:", "syntax error at or near", "error in your sql syntax", "sqlstate[",
	"sqlstate:", "unique constraint failed", "violates unique constraint", "violates foreign key", "violates not-null",
	"violates check constraint", "foreign key constraint fails", "constraint failed", "duplicate entry",
	"ambiguous column name", "column reference", "unknown column", "unknown table", "incorrect syntax near",
	"invalid object name", "invalid column name", "sql compilation error", "catalog error:", "binder error:",
	"parser error:", "no database selected", "must appear in the group by", "operationalerror", "programmingerror",
	"psycopg2.errors", "sqlite3.", "unrecognized token:", "unrecognized name:", "invalid identifier",
	"database is locked", "relation \"", "misuse of aggregate", "ora-0", "ora-1", "permission denied for",
	"incomplete input", "cannot drop", "table already exists",
}

// sqlError: the message stands in one of the first two lines or the last one of
// a text that is no listing.
func sqlError(v *view, t *text) (finding, bool) {
	if t.total > 25 || v.quotes(t) && v.ask.troubled {
		return finding{}, false
	}
	for i := range t.lines {
		l := &t.lines[i]
		if i > 1 && i != len(t.lines)-1 {
			continue
		}
		p, ok := l.find(hasSQL, sqlPhrases)
		if !ok || p == "relation \"" && !strings.Contains(l.low(), "does not exist") || p == "column reference" && !strings.Contains(l.low(), "ambiguous") || v.echoes(l.s) {
			if !isEngineError(l.low()) {
				continue
			}
		}
		return fails("sql-error", l.s, "the database rejected the statement"), true
	}
	return finding{}, false
}

// isEngineError recognises "ERROR 1064 (42000): …" and `near "x": syntax error`.
func isEngineError(low string) bool {
	rest, ok := strings.CutPrefix(low, "error ")
	if ok && len(rest) > 5 && phrases.IsDigit(rest[0]) && phrases.IsDigit(rest[3]) && strings.Contains(rest[:min(len(rest), 14)], "(") {
		return true
	}
	return strings.HasPrefix(errortext.Strip(low), "near \"") && strings.HasSuffix(strings.TrimRight(low, "."), "syntax error")
}
