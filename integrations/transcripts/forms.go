package transcripts

import (
	"cmp"
	"context"
	"database/sql"
	_ "embed"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"memoryd/internal/accounts"
	"memoryd/internal/loosejson"

	"github.com/go-json-experiment/json/jsontext"
	_ "modernc.org/sqlite" // the databases in which hosts keep their sessions
)

// form says where the messages of a program hold calls and results. Its members are paths of
// an object.
type form struct {
	// Parts leads from a message to the list of parts, or to the only one; "" is the
	// message itself.
	Parts string
	// Kind leads to what tells parts apart; Call and Result are the kinds that make a
	// call and end one. A kind that ends with - is a prefix.
	Kind         string
	Call, Result []string
	ID, Tool     string
	Input        string
	// Output is what the tool returned. Failed leads to what is true, or there at all, in
	// a part that failed; of path=value to that value.
	Output string
	Failed []string
	Exit   string // code of a command
	Notes  bool   // it may stand at the end of the output
	Begun  string
	Done   string
}

// host is the messages of one program.
type host struct {
	// Conversation and At lead from a message to the session and the time.
	Conversation, At string
	Forms            []form
}

//go:embed hosts.json
var hostTable []byte

// hosts are the programs whose messages are read by their forms alone.
var hosts = sync.OnceValue(func() (all map[string]host) {
	_ = json.Unmarshal(hostTable, &all) // it is embedded, and tested
	return all
})

// elementsOf is the elements of an array, or a value alone.
func elementsOf(v jsontext.Value) []jsontext.Value {
	if v.Kind() != '[' && loosejson.There(v) {
		return []jsontext.Value{v}
	}
	return loosejson.Elements(v)
}

// readHost reads messages by the forms of their program.
func readHost(f *file) reader {
	h, chats, last := hosts()[f.format], map[string]*chat{}, ""
	return func(d loosejson.Members, doc []byte) {
		name := loosejson.Text(d.At(h.Conversation))
		if f.format == "pi" && loosejson.Text(d["type"]) == "session" {
			name = loosejson.Text(d["id"])
		}
		if last = cmp.Or(name, last); last == "" {
			last = f.base + "-" + accounts.Digest(doc)
		}
		c := chats[last]
		if c == nil {
			c = f.chat(last)
			chats[last] = c
		}
		messages := []loosejson.Members{d}
		if held := elementsOf(d["messages"]); len(held) > 0 {
			messages = loosejson.Objects(loosejson.Join(held))
		}
		for _, m := range messages {
			for i := range h.Forms {
				h.Forms[i].read(c, m, m.At(h.At))
			}
		}
	}
}

// read takes the calls and results of a message.
func (m *form) read(c *chat, message loosejson.Members, stamp jsontext.Value) {
	parts := []loosejson.Members{message}
	if m.Parts != "" {
		parts = loosejson.Objects(loosejson.Join(elementsOf(message.At(m.Parts))))
	}
	for _, p := range parts {
		kind := loosejson.Text(p.At(m.Kind))
		id, tool := p.Text(m.ID), strings.TrimSuffix(strings.TrimPrefix(loosejson.Text(p.At(m.Tool)), "tool-"), "ToolCall")
		at := func(path string) time.Time {
			if path == "" {
				return loosejson.Time(stamp)
			}
			return loosejson.Time(p.At(path))
		}
		if is(kind, m.Call) {
			c.call(id, tool, p.At(m.Input), at(m.Begun))
		}
		if is(kind, m.Result) {
			r := result{output: contentText(p.At(m.Output))}
			if m.Notes {
				r = unwrapEnd(r.output)
			}
			r.outcome = max(r.outcome, accounts.Claimed)
			if slices.ContainsFunc(m.Failed, func(path string) bool { return meets(p, path) }) {
				r.outcome = accounts.Failed
			}
			if m.Exit != "" {
				r.exited(string(p.At(m.Exit)))
			}
			c.result(id, tool, r, at(m.Done))
		}
	}
}

// is reports whether a kind is one of some.
func is(kind string, of []string) bool {
	return kind != "" && slices.ContainsFunc(of, func(k string) bool {
		return k == kind || k == "-" || strings.HasSuffix(k, "-") && strings.HasPrefix(kind, k)
	})
}

// meets reports whether what a path leads to is the value after =, or, without one, is
// there and not false.
func meets(o loosejson.Members, path string) bool {
	path, want, given := strings.Cut(path, "=")
	now := o.At(path)
	if given {
		return loosejson.Text(now) == want || string(now) == want
	}
	no, known := loosejson.Truth(now)
	return loosejson.There(now) && (!known || no)
}

// databases are the hosts that keep messages in a database, each with the question that it answers with them.
var databases = [...]struct{ format, query string }{
	{"opencode", `SELECT json_object('sessionID', session_id, 'parts', json_array(json(data))) FROM part ORDER BY time_created, id`},
	{"goose", `SELECT json_object('session_id', session_id, 'created', created_timestamp, 'content', json(content_json)) FROM messages ORDER BY created_timestamp, id`},
}

// readDatabase reads the sessions in an SQLite database of a host.
func readDatabase(ctx context.Context, path string, o Options) (Stats, error) {
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", OmitHost: true, Path: path, RawQuery: "mode=ro&_pragma=query_only(1)"}).String())
	if err != nil {
		return Stats{}, err
	}
	defer db.Close() //nolint:errcheck // it was only read
	for _, d := range databases {
		rows, err := db.QueryContext(ctx, d.query)
		if err != nil {
			continue // it has no such table
		}
		defer rows.Close() //nolint:errcheck,sqlclosecheck // as above
		if o.Format == "" || o.Format == Auto {
			o.Format = d.format
		}
		return read(ctx, path, o, func(s scanner) error {
			for rows.Next() {
				var doc string
				if err := rows.Scan(&doc); err != nil {
					s.broken(0, err.Error())
					continue
				}
				s.document(0, []byte(doc))
			}
			return rows.Err()
		})
	}
	return Stats{}, &UnknownShape{Found: "an SQLite database", Expected: o.Format}
}
