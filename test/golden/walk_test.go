package golden

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"memoryd/test/crash/daemon"
)

// adminKey is the key of the walk.
var adminKey = "mrd_walk_" + strings.Repeat("0123456789abcdef", 4)

// A walk asks one server for all that it can do. Each file of testdata/api is a part of
// it, in the order of their names: requests, and what they were answered.
//
//	> POST /v1/workspaces/w/tools        a request; {name} is a value that an earlier answer gave
//	> Accept: text/plain                 its headers
//	> {"by":"kim"}                       and its body
//	= name members.0.id                  a value of the answer that later requests need
//	< 200 application/json               the answer
//	...
//
// A removed operation takes its file with it; a new one brings a file with requests,
// and -update writes the answers below them.
type walk struct {
	server *daemon.Process
	values map[string]string
	began  time.Time
}

// request is one of a file.
type request struct {
	method, path string
	header       http.Header
	body         string
	keep         [][2]string // name, place in the answer
}

func readRequests(t *testing.T, text string) (all []*request) {
	t.Helper()
	for line := range strings.SplitSeq(text, "\n") {
		sign, rest, _ := strings.Cut(line, " ")
		switch sign {
		case ">":
			method, path, _ := strings.Cut(rest, " ")
			name, value, isHeader := strings.Cut(rest, ": ")
			switch {
			case strings.HasPrefix(path, "/") && method == strings.ToUpper(method):
				all = append(all, &request{method: method, path: path, header: http.Header{}})
			case isHeader && !strings.ContainsAny(name, `{" `):
				all[len(all)-1].header.Set(name, value)
			default:
				all[len(all)-1].body += rest
			}
		case "=":
			name, place, _ := strings.Cut(rest, " ")
			r := all[len(all)-1]
			r.keep = append(r.keep, [2]string{name, place})
		}
	}
	if len(all) == 0 {
		t.Fatal("a file without a request")
	}
	return all
}

// play asks, and gives the file as it is now.
func (w *walk) play(t *testing.T, requests []*request) (lines []string) {
	t.Helper()
	for _, r := range requests {
		if len(lines) > 0 {
			lines = append(lines, "")
		}
		lines = append(lines, "> "+r.method+" "+r.path)
		for _, name := range keysOf(r.header) {
			lines = append(lines, "> "+name+": "+r.header.Get(name))
		}
		if r.body != "" {
			lines = append(lines, "> "+r.body)
		}
		status, header, body := w.ask(t, r)
		for tries := 0; bytes.Contains(body, []byte(`"reading":true`)) && tries < 400; tries++ { // each waits a little
			status, header, body = w.ask(t, r)
		}
		for _, k := range r.keep {
			lines = append(lines, "= "+k[0]+" "+k[1])
			value := valueAt(body, k[1])
			if value == "" {
				t.Errorf("%s %s: the answer has no %s: %s", r.method, r.path, k[1], body)
				continue
			}
			w.values[k[0]] = value
		}
		kind, _, _ := strings.Cut(header.Get("Content-Type"), ";")
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("< %d %s", status, kind)))
		lines = append(lines, w.answer(kind, body)...)
	}
	return lines
}

func (w *walk) ask(t *testing.T, r *request) (int, http.Header, []byte) {
	t.Helper()
	path, body := r.path, r.body
	for name, value := range w.values {
		path, body = strings.ReplaceAll(path, "{"+name+"}", value), strings.ReplaceAll(body, "{"+name+"}", value)
	}
	req, err := http.NewRequestWithContext(t.Context(), r.method, w.server.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("Authorization", "Bearer "+adminKey)
	for name := range r.header {
		if req.Header.Set(name, r.header.Get(name)); r.header.Get(name) == "none" {
			req.Header.Del(name)
		}
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, resp.Header, answer
}

// answer gives the lines of an answer: JSON indented, with lists of small values in one
// line; of pages and figures only what they are made of.
func (w *walk) answer(kind string, body []byte) []string {
	switch {
	case len(body) == 0:
		return nil
	case !utf8.Valid(body):
		return []string{"bytes"}
	case bytes.HasPrefix(body, []byte(`{"manifest":`)):
		return []string{"lines of an export, which export.jsonl is the golden of"}
	case kind == "text/html":
		return []string{fmt.Sprintf("a page with the title %q", between(string(body), "<title>", "</title>"))}
	case strings.HasPrefix(kind, "text/plain"):
		return []string{"text of which docs/metrics.md has the golden"}
	case bytes.HasPrefix(body, []byte("{\n \"components\"")):
		return []string{"the description, which lists the operations of these files"}
	}
	var lines []string
	for document := range bytes.SplitSeq(bytes.TrimSpace(body), []byte("\n")) {
		var indented bytes.Buffer
		if json.Indent(&indented, document, "", " ") != nil {
			lines = append(lines, w.normal(string(document)))
			continue
		}
		lines = append(lines, strings.Split(w.normal(joined(indented.String())), "\n")...)
	}
	return lines
}

var smallList = regexp.MustCompile(`\[\n\s+("[^"\n]{0,40}"|[-0-9.e]+)(,\n\s+("[^"\n]{0,40}"|[-0-9.e]+))*\n\s+\]`)

// joined puts a list of small values into one line.
func joined(indented string) string {
	return smallList.ReplaceAllStringFunc(indented, func(list string) string { return strings.Join(strings.Fields(list), " ") })
}

func between(text, from, to string) string {
	_, rest, _ := strings.Cut(text, from)
	inner, _, _ := strings.Cut(rest, to)
	return inner
}

var (
	aTime       = regexp.MustCompile(`20\d\d-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?Z?`)
	aDay        = regexp.MustCompile(`20\d\d-\d\d-\d\d`)
	changing    = regexp.MustCompile(`"(wall_seconds|model_seconds|process_seconds|uptime_seconds)": [-0-9.e+]+`)
	judgeOf     = regexp.MustCompile(`rules-[0-9a-f]{12}`)
	recordData  = regexp.MustCompile(`"data":"[^"]*"`)
	secretHash  = regexp.MustCompile(`\[secret:([a-z_-]+):[0-9a-f]{10}\]`)
	checksum    = regexp.MustCompile(`"(sha256|previous|mac)": ?"[0-9a-f]{64}"`)
	requestID   = regexp.MustCompile(`"request_id": "[-0-9a-f]{36}"`)
	secretToken = regexp.MustCompile(`mrd_[a-z0-9]+_[0-9a-f]{64}`)
)

// normal takes out of a text what another run, or another day, makes otherwise.
func (w *walk) normal(text string) string {
	text = recordData.ReplaceAllStringFunc(text, decoded)
	text = strings.ReplaceAll(text, w.server.URL, "<server>")
	text = secretToken.ReplaceAllString(text, "<key>")
	for _, name := range keysOf(w.values) {
		if len(w.values[name]) > 3 {
			text = strings.ReplaceAll(text, w.values[name], "{"+name+"}")
		}
	}
	text = aTime.ReplaceAllStringFunc(text, func(s string) string { return w.orNow(s, "<time>") })
	text = aDay.ReplaceAllStringFunc(text, func(s string) string { return w.orNow(s, "<day>") })
	text = secretHash.ReplaceAllString(text, "[secret:$1:<hash>]")
	text = checksum.ReplaceAllString(text, `"$1":"<hash>"`)
	text = requestID.ReplaceAllString(text, `"request_id": "<id>"`)
	text = judgeOf.ReplaceAllString(text, "rules-<version>")
	return changing.ReplaceAllString(text, `"$1": <seconds>`)
}

// decoded gives the data of a record in an export as they are, where that is JSON.
func decoded(member string) string {
	data, err := base64.StdEncoding.DecodeString(strings.TrimSuffix(strings.TrimPrefix(member, `"data":"`), `"`))
	if err == nil && json.Valid(data) {
		return `"data":` + string(data)
	}
	return `"data":"<bytes>"`
}

// orNow gives the word for times since the day before the walk began.
func (w *walk) orNow(s, word string) string {
	if s[:10] >= w.began.AddDate(0, 0, -1).Format(time.DateOnly) {
		return word
	}
	return s
}

// valueAt gives what stands at a place such as calls.0.id in a JSON document; * is the
// last element of a list.
func valueAt(body []byte, place string) string {
	var v any
	if json.Unmarshal(body, &v) != nil {
		return ""
	}
	for name := range strings.SplitSeq(place, ".") {
		switch at := v.(type) {
		case map[string]any:
			v = at[name]
		case []any:
			i := len(at) - 1
			if name != "*" {
				_, _ = fmt.Sscan(name, &i)
			}
			if i < 0 || i >= len(at) {
				return ""
			}
			v = at[i]
		}
	}
	if text, isText := v.(string); isText {
		return text
	}
	return ""
}

func keysOf[V any](m map[string]V) []string {
	var keys []string
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// TestEveryOperationAnswersTheSame walks the interface, and exports what it left.
func TestEveryOperationAnswersTheSame(t *testing.T) {
	dir := t.TempDir()
	w := &walk{values: map[string]string{}, began: time.Now().UTC()}
	w.server = binary.Start(t, dir, []string{
		"TZ=UTC", "MEMORYD_HTTP_KEYS=on", "MEMORYD_ADMIN_KEY=" + adminKey, "MEMORYD_OP_VECTOR_STORE_OP_PARAMS_DUMP_DIR=" + t.TempDir(),
	})
	files, err := filepath.Glob("testdata/api/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no files", err)
	}
	asked := map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		requests := readRequests(t, string(text))
		for _, r := range requests {
			path, _, _ := strings.Cut(r.path, "?")
			asked[r.method+" "+path] = true
		}
		compare(t, filepath.Join("api", filepath.Base(file)), w.play(t, requests), plain)
	}
	for _, operation := range w.operations(t) {
		if !slices.ContainsFunc(keysOf(asked), operation.matches) {
			t.Errorf("no file of testdata/api asks for %s %s", operation.method, operation.path)
		}
	}
	if code := w.server.Stop(); code != 0 {
		t.Errorf("exit code %d\n%s", code, w.server.Log())
	}
	file := filepath.Join(t.TempDir(), "export.jsonl")
	if code, _, stderr := binary.Run(t, "", "export", file, "--data", dir); code != 0 {
		t.Fatal(stderr)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(w.normal(strings.TrimSpace(string(text))), "\n")
	lines = slices.DeleteFunc(lines, func(line string) bool { return inBackground.MatchString(line) })
	compare(t, "export.jsonl", lines, plain)
}

// inBackground matches what an export holds or not, by how far the work in the
// background was: a tool's observations, and the count of all records.
var inBackground = regexp.MustCompile(`"kind":"observations"|^{"trailer":`)

// operation is one of the description that the server gives of itself.
type operation struct{ method, path string }

var parameter = regexp.MustCompile(`\\\{[a-z_]+\\\}`)

// matches reports whether a request, "GET /path", asks for the operation.
func (o operation) matches(request string) bool {
	pattern := parameter.ReplaceAllString(regexp.QuoteMeta(o.path), `[^/]+`)
	return regexp.MustCompile("^" + o.method + " " + pattern + "$").MatchString(request)
}

func (w *walk) operations(t *testing.T) (all []operation) {
	t.Helper()
	var description struct {
		Paths map[string]map[string]json.RawMessage `json:"paths"`
	}
	if err := json.Unmarshal(w.server.Get("/openapi.json").Body, &description); err != nil || len(description.Paths) < 10 {
		t.Fatalf("%v, %d paths", err, len(description.Paths))
	}
	for _, path := range keysOf(description.Paths) {
		for _, method := range keysOf(description.Paths[path]) {
			if method != "parameters" {
				all = append(all, operation{strings.ToUpper(method), path})
			}
		}
	}
	return all
}
