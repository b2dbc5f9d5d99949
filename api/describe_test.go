package api

import (
	"cmp"
	"encoding/json"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"

	"memoryd"
	"memoryd/api/wire"
	"memoryd/compact"
	"memoryd/internal/access"
	"memoryd/internal/stats"
	"memoryd/llm/usage"
	"memoryd/ops"
	"memoryd/ops/survey"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

var update = flag.Bool("update", false, "write openapi.json and docs.html anew")

// TestTheDescriptionIsMadeFromTheTypes writes openapi.json, and the page that shows it, from the routes, the types of
// their handlers and the comments on them. With -update it keeps what it wrote.
func TestTheDescriptionIsMadeFromTheTypes(t *testing.T) {
	d := describer{schemas: map[string]any{}, told: map[string]string{}, docs: readComments(t)}
	doc := d.document((&server{}).endpoints())
	for _, missing := range d.missing {
		t.Error("not described: " + missing)
	}
	for name, doc := range d.told {
		if ofCode.MatchString(brands.Replace(doc)) {
			t.Errorf("%s: the comment %q names things of the code: readers see only JSON", name, doc)
		}
	}
	want, err := jsonv2.Marshal(doc, jsonv2.Deterministic(true), jsontext.WithIndent(" "))
	if err != nil {
		t.Fatal(err)
	}
	want = append(want, '\n')
	for name, want := range map[string][]byte{"openapi.json": want, "docs.html": pageOf(t, want)} {
		if *update {
			if err := os.WriteFile(name, want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(name); err != nil || string(got) != string(want) {
			t.Errorf("%s is not what the types say (%v): go test ./api -run %s -update", name, err, t.Name())
		}
	}
}

type object = map[string]any

// describer turns types into schemas.
type describer struct {
	schemas object // by name
	docs    map[string]string
	missing []string
	told    map[string]string // what is said of each field
	answers bool              // what is described is an answer, not a request
}

// What a tag says must be what the code takes.
func TestTheDescribedVerdictsAreThoseThatCallsAreFoundBy(t *testing.T) {
	f, _ := reflect.TypeFor[callQuery]().FieldByName("Verdict")
	if described := strings.Split(f.Tag.Get("enum"), ","); !slices.Equal(described, survey.Verdicts()) {
		t.Errorf("described %q, known %q", described, survey.Verdicts())
	}
}

// groups are the groups of endpoints.
var groups = [][2]string{
	{"tool memory", "What agents and the clients of ReMe ask."},
	{"conversations", "Compaction, and what it removed."},
	{"workspaces", "Workspaces and their tools, in pages."},
	{"calls", "Recorded calls, their verdicts, and corrections."},
	{"guidelines", "Versions of guidelines, with their evidence."},
	{"judging", "What judging costs."},
	{"telemetry", "OpenTelemetry and the hooks of hosts: other ways in for calls."},
	{"access", "Keys, sessions and the record of what was done."},
	{"service", "Probes, metrics and this description."},
}

const about = "Records the tool calls of agents, judges each one, keeps a history, statistics and a usage guideline for every tool.\n\n" +
	"The tool-memory endpoints (POST, at the root) answer `{answer, success, messages, metadata}`. A request that is understood but " +
	"cannot be served as asked is HTTP 200 with `success: false` and the reason in `answer`; a body that does not fit is 422. " +
	"Every other endpoint answers errors as `application/problem+json` (RFC 9457)."

func (d *describer) document(list []endpoint) object {
	paths, tags := object{}, []any{}
	for _, g := range groups {
		tags = append(tags, object{"name": g[0], "description": g[1]})
	}
	for _, e := range list {
		if e.group == "" {
			continue
		}
		path := pathVariable.ReplaceAllString(e.path, "{$1}")
		if paths[path] == nil {
			paths[path] = object{}
		}
		paths[path].(object)[strings.ToLower(e.method)] = d.operation(e)
	}
	return object{
		"openapi": "3.1.0",
		"info": object{
			"title": "memoryd", "version": "0.1.0", "description": about,
			"license": object{"name": "Apache-2.0", "identifier": "Apache-2.0"},
		},
		"servers":  []any{object{"url": "/", "description": "The server that this description comes from."}},
		"security": []any{object{}, object{"key": []any{}}},
		"tags":     tags, "paths": paths,
		"components": object{
			"responses": d.failures(), "schemas": d.schemas,
			"securitySchemes": object{"key": object{
				"type": "http", "scheme": "bearer",
				"description": "An API key, `mrd_<id>_<secret>`; the header X-API-Key takes it too. Needed where the server asks for keys.",
			}},
		},
	}
}

func (d *describer) operation(e endpoint) object {
	doc := d.docs["memoryd/api."+e.name]
	if doc == "" {
		d.missing = append(d.missing, e.name)
	}
	summary, more, _ := strings.Cut(doc, "\n\n")
	op := object{"operationId": e.name, "tags": []any{e.group}, "summary": strings.TrimSuffix(summary, "."), "responses": d.responses(e)}
	if more != "" {
		op["description"] = more
	}
	d.answers = false
	var params []any
	body, optionalBody := e.in, false
	for _, f := range reflect.VisibleFields(e.in) {
		if f.Anonymous {
			continue
		}
		if f.Name == "Body" {
			body, optionalBody = f.Type, f.Tag.Get("body") == "optional"
		}
		for _, in := range []string{"path", "query", "header"} {
			if name := f.Tag.Get(in); name != "" && name != "Accept" {
				params = append(params, d.parameter(e.in, f, in, name))
			}
		}
		if f.Tag.Get("path")+f.Tag.Get("query")+f.Tag.Get("header") != "" && body == e.in {
			body = nil
		}
	}
	if params != nil {
		op["parameters"] = params
	}
	named := map[string]bool{}
	for _, p := range params {
		named[p.(object)["name"].(string)] = true
	}
	for _, variable := range pathVariable.FindAllStringSubmatch(e.path, -1) {
		if !named[variable[1]] {
			d.missing = append(d.missing, e.name+" reads no "+variable[1])
		}
	}
	if e.traits&withBody != 0 && body != nil {
		content := object{"application/json": object{"schema": d.schema(body)}}
		if e.traits&telemetry != 0 {
			content[protobufType] = object{"schema": object{"type": "string", "format": "binary"}}
		}
		op["requestBody"] = object{"required": !optionalBody, "content": content}
	}
	return op
}

func (d *describer) parameter(of reflect.Type, f reflect.StructField, in, name string) object {
	p := object{"name": name, "in": in, "schema": d.field(f)}
	if in == "path" || f.Tag.Get("required") != "" {
		p["required"] = true
	}
	if doc := d.fieldDoc(of, f.Index); doc != "" {
		p["description"] = doc
	}
	return p
}

// fieldDoc is the comment on a field of a struct, or of one within it.
func (d *describer) fieldDoc(t reflect.Type, index []int) string {
	for _, i := range index[:len(index)-1] {
		t = t.Field(i).Type
	}
	return d.docs[t.PkgPath()+"."+t.Name()+"."+t.Field(index[len(index)-1]).Name]
}

// responses are what a route can answer. Errors follow from what it is.
func (d *describer) responses(e endpoint) object {
	out := object{}
	fail := func(kind string, statuses ...string) {
		for _, status := range statuses {
			out[status] = object{"$ref": "#/components/responses/" + kind}
		}
	}
	problem, denied, refused, later, overQuota := "Problem", "Problem", "Problem", "Problem", "Problem"
	switch {
	case e.traits&toolMemory != 0:
		problem, denied, refused, later, overQuota = "Unprocessable", "Denied", "Refused", "RetryLater", "OverQuota"
		fail("Forbidden", "403")
	case e.traits&telemetry != 0:
		problem, denied, refused, later, overQuota = "TelemetryProblem", "TelemetryProblem", "TelemetryProblem", "TelemetryProblem", "TelemetryProblem"
		fail("TelemetryProblem", "403")
	case e.traits&free == 0:
		fail("Problem", "403")
	}
	fail(denied, "421")
	if e.traits&free == 0 {
		fail(denied, "401", "404")
		fail(problem, "422")
		fail(later, "429", "503")
	}
	if e.traits&withBody != 0 {
		fail(refused, "413", "415")
	}
	if e.role&access.Record != 0 || e.name == "vectorStore" { // what brings more into the store
		fail(overQuota, "507")
	}
	if e.role&(access.Curate|access.Admin) != 0 && e.method != "GET" {
		fail(denied, "409")
	}
	d.answers = true
	out["200"] = d.success(e)
	switch {
	case e.name == "readyz":
		out["503"] = object{"description": "Unready.", "content": out["200"].(object)["content"]}
	case e.traits&tagged != 0:
		out["304"] = object{"description": "The answer is the one that `If-None-Match` names by its `ETag`."}
	case e.out.Kind() == reflect.Pointer, e.name == "receiveHook":
		out["204"] = object{"description": "Done; there is nothing to say."}
	}
	return out
}

func (d *describer) success(e endpoint) object {
	t, contentType := e.out, jsonType
	switch {
	case strings.HasPrefix(t.Name(), "lines["):
		t, contentType = typeArgument(t), "application/x-ndjson"
	case strings.HasPrefix(t.Name(), "exactly["):
		t = typeArgument(t)
	case t.Kind() == reflect.String:
		contentType = "text/plain"
	}
	schema := d.schema(t)
	if e.traits&toolMemory != 0 {
		schema = object{"anyOf": []any{schema, d.schema(reflect.TypeFor[wire.Refusal]())}}
	}
	content := object{contentType: object{"schema": schema}}
	switch {
	case e.traits&telemetry != 0:
		content[protobufType] = object{"schema": object{"type": "string", "format": "binary"}}
	case e.name == "compactConversation":
		content["text/event-stream"] = object{"schema": object{"type": "string"}}
	}
	said := "The answer."
	if name := t.Name(); name != "" && d.docs[t.PkgPath()+"."+name] != "" {
		said = d.docs[t.PkgPath()+"."+name]
	}
	return object{"description": said, "content": content}
}

// typeArgument is what an answer is lines of, or exactly.
func typeArgument(t reflect.Type) reflect.Type {
	for _, known := range []reflect.Type{reflect.TypeFor[wire.CallRequest](), reflect.TypeFor[wire.Conversation](), reflect.TypeFor[map[string]any]()} {
		if strings.HasSuffix(t.Name(), "["+strings.ReplaceAll(known.String(), "wire.", "memoryd/api/wire.")+"]") {
			return known
		}
	}
	panic("what is in " + t.Name() + "?")
}

// failures are the answers to what went wrong.
func (d *describer) failures() object {
	d.answers = true
	answer := func(description, contentType string, t reflect.Type) object {
		return object{"description": description, "content": object{contentType: object{"schema": d.schema(t)}}}
	}
	refusal, problem := reflect.TypeFor[wire.Refusal](), reflect.TypeFor[wire.Problem]()
	later := answer("Too many requests are under way (429), or the store cannot accept writes now (503). Nothing was written.", jsonType, refusal)
	later["headers"] = object{"Retry-After": object{"description": "Seconds to wait.", "schema": object{"type": "integer"}}}
	telemetry := answer("What went wrong, in the form of the request, a google.rpc.Status for protobuf.", problemType, problem)
	telemetry["content"].(object)[protobufType] = object{"schema": object{"type": "string", "format": "binary"}}
	return object{
		"Denied":           answer("No valid key (401), a workspace that the key does not know (404), or a host that is not this server's (421).", jsonType, refusal),
		"Forbidden":        answer("The request comes from a web page of another site, or its key has not the role that is needed.", jsonType, refusal),
		"Refused":          answer("The body is larger than the limit after decompression (413), or encoded in a way that is not known (415).", jsonType, refusal),
		"RetryLater":       later,
		"OverQuota":        answer("A quota of the workspace is reached; the answer names it, its limit and what is used. Nothing was written, and nothing will be until less is kept.", jsonType, refusal),
		"TelemetryProblem": telemetry,
		"Unprocessable":    answer("The body is not JSON, or a field is missing or of the wrong type.", jsonType, reflect.TypeFor[wire.ValidationError]()),
		"Problem":          answer("An error (RFC 9457).", problemType, problem),
	}
}

// foreign are the schemas of what no Go type says. Fields name them with the tag "as".
var foreign = map[string]object{
	"Name": {"type": "string", "description": "At most 1,024 bytes of UTF-8, compared byte for byte."},
	"NewName": {
		"type": "string", "pattern": `^[^\x00-\x1f\x7f-\x9f` + "\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069" + `]*$`,
		"description": "At most 1,024 bytes of UTF-8, compared byte for byte, without control characters.",
	},
	"ToolName": {
		"type": "string", "description": "At most 256 bytes of UTF-8 and five words, compared byte for byte, without control characters. A call of a tool with another name is rejected; a request with no other call is answered 422.",
	},
	"ToolNames": {
		"description": "A comma-separated string, or an array whose elements are names as they stand.",
		"oneOf":       []any{object{"type": "string"}, object{"type": "array", "maxItems": 1000, "items": object{"type": "string"}}},
	},
	"ActionResult": {
		"oneOf": []any{
			object{"type": "array", "items": object{"$ref": "#/components/schemas/Memory"}},
			object{"type": "object", "required": []any{"size"}, "properties": object{"size": object{"type": "integer"}}},
			object{"type": "string"},
		},
	},
	"Interval": {
		"description": "A 95 % interval, [low, high]; null where nothing is known.",
		"oneOf":       []any{object{"type": "array", "items": object{"type": "number"}, "minItems": 2, "maxItems": 2}, object{"type": "null"}},
	},
}

// shared are the types that fields name with the tag "as".
var shared = map[string]reflect.Type{
	"CallMetadata": reflect.TypeFor[wire.CallMetadata](), "AuditEntry": reflect.TypeFor[access.Entry](),
}

// renamed are types that are described under other names than the code has for them.
var renamed = map[reflect.Type]string{
	reflect.TypeFor[survey.Tool](): "RankedTool", fieldOf(reflect.TypeFor[survey.Tool](), "Effect", "Told"): "Side", reflect.TypeFor[ops.OverviewPage](): "Overview",
	reflect.TypeFor[ops.RunsPage](): "Runs", reflect.TypeFor[runsPage](): "Runs", reflect.TypeFor[wire.Run](): "RunCalls", reflect.TypeFor[ops.SourceCounts](): "Sources", reflect.TypeFor[ops.UsageReport](): "Spend",
	reflect.TypeFor[usage.Row](): "SpendRow", reflect.TypeFor[ops.GuidelineItem](): "GuidelineItem", reflect.TypeFor[ops.GuidelineChange](): "GuidelineChange",
	reflect.TypeFor[ops.Compacted](): "CompactResponse", reflect.TypeFor[compact.Report](): "CompactReport", reflect.TypeFor[compact.Fate](): "MessageFate", reflect.TypeFor[compact.Hit](): "OriginalHit",
	reflect.TypeFor[compact.Cache](): "CacheReport", reflect.TypeFor[compact.Breakdown](): "TokenBreakdown", reflect.TypeFor[evidence](): "GuidelineEvidence", reflect.TypeFor[access.Entry](): "AuditEntry",
}

// fieldOf is the type of a field within a field.
func fieldOf(t reflect.Type, names ...string) reflect.Type {
	for _, name := range names {
		f, _ := t.FieldByName(name)
		t = f.Type
	}
	return t
}

// schema describes a type: a reference where it has a name.
func (d *describer) schema(t reflect.Type) object {
	switch t {
	case reflect.TypeFor[time.Time](), reflect.TypeFor[memoryd.CallKey]():
		return object{"type": "string"}
	case reflect.TypeFor[stats.Interval](), reflect.TypeFor[[2]float64]():
		return d.named("Interval")
	case reflect.TypeFor[jsontext.Value](), reflect.TypeFor[json.RawMessage]():
		return object{}
	case reflect.TypeFor[items]():
		item := object{"anyOf": []any{d.schema(reflect.TypeFor[wire.CallRequest]()), object{"description": "Anything else is rejected and reported."}}}
		return object{"type": "array", "maxItems": 1000, "items": item}
	}
	if t.Implements(reflect.TypeFor[interface{ MarshalText() ([]byte, error) }]()) {
		return object{"type": "string"}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return d.schema(t.Elem())
	case reflect.String:
		return object{"type": "string"}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Float64:
		return object{"type": "number"}
	case reflect.Int, reflect.Int64:
		return object{"type": "integer"}
	case reflect.Slice:
		return object{"type": "array", "items": d.schema(t.Elem())}
	case reflect.Map:
		out := object{"type": "object", "additionalProperties": true}
		if t.Elem().Kind() != reflect.Interface {
			out["additionalProperties"] = d.schema(t.Elem())
		}
		if t.Name() != "" {
			return d.reference(t, out)
		}
		return out
	case reflect.Struct:
		return d.reference(t, nil)
	}
	return object{}
}

// reference describes a type that has a name, once.
func (d *describer) reference(t reflect.Type, schema object) object {
	name, _, _ := strings.Cut(t.Name(), "[")
	name = cmp.Or(renamed[t], strings.ToUpper(name[:1])+name[1:])
	ref := object{"$ref": "#/components/schemas/" + name}
	if d.schemas[name] != nil {
		return ref
	}
	d.schemas[name] = object{} // it may hold itself
	if schema == nil {
		schema = d.structure(t)
	}
	doc, example, _ := strings.Cut(d.docs[t.PkgPath()+"."+strings.Split(t.Name(), "[")[0]], "\n\nExample:\n\n")
	if doc != "" {
		schema["description"] = doc
	}
	if example != "" {
		var v any
		if err := json.Unmarshal([]byte(strings.ReplaceAll(example, "\n", " ")), &v); err != nil {
			panic(err)
		}
		schema["examples"] = []any{v}
	}
	d.schemas[name] = schema
	return ref
}

func (d *describer) structure(t reflect.Type) object {
	properties, required := object{}, []any{}
	out := object{"type": "object"}
	var add func(t reflect.Type)
	add = func(t reflect.Type) {
		for f := range t.Fields() {
			name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			switch {
			case f.Anonymous && name == "":
				add(f.Type)
				if success, err := strconv.ParseBool(f.Tag.Get("success")); err == nil { // of a Reply
					properties["success"].(object)["const"] = success
				}
				continue
			case name == "" || name == "-":
				continue
			}
			s := d.field(f)
			if doc := d.docs[t.PkgPath()+"."+strings.Split(t.Name(), "[")[0]+"."+f.Name]; doc != "" {
				s["description"] = doc
				d.told[t.Name()+"."+f.Name] = doc
			}
			properties[name] = s
			if options == "" {
				required = append(required, name)
			}
		}
	}
	add(t)
	out["properties"] = properties
	if len(required) > 0 {
		slices.SortFunc(required, func(a, b any) int { return strings.Compare(a.(string), b.(string)) })
		out["required"] = required
	}
	return out
}

func (d *describer) named(name string) object {
	if schema, ok := foreign[name]; ok {
		d.schemas[name] = schema
		return object{"$ref": "#/components/schemas/" + name}
	}
	return d.schema(shared[name])
}

// field describes a field by its type and its tags. Tags of a list are those of its elements,
// but for the numbers of them.
func (d *describer) field(f reflect.StructField) object {
	schema := maps.Clone(d.schema(f.Type))
	of := schema
	if items, ok := schema["items"].(object); ok {
		of = maps.Clone(items)
		schema["items"] = of
	}
	set := func(schema object) {
		clear(of)
		maps.Copy(of, schema)
	}
	if as := f.Tag.Get("as"); as != "" {
		set(d.named(as))
	}
	if types := f.Tag.Get("type"); types != "" {
		set(typesOf(types))
	}
	_, options, _ := strings.Cut(f.Tag.Get("json"), ",")
	if d.answers && f.Type.Kind() == reflect.Pointer && options == "" && schema["type"] != nil {
		schema["type"] = []any{schema["type"], "null"}
	}
	if words := f.Tag.Get("enum"); words != "" {
		of["enum"] = anys(strings.Split(words, ","))
	}
	for _, name := range []string{"minimum", "maximum", "multipleOf", "minLength", "maxLength"} {
		if v, err := strconv.ParseFloat(f.Tag.Get(name), 64); err == nil {
			of[name] = v
		}
	}
	for _, name := range []string{"minItems", "maxItems"} {
		if v, err := strconv.Atoi(f.Tag.Get(name)); err == nil {
			schema[name] = v
		}
	}
	for _, name := range []string{"pattern", "format"} {
		if v := f.Tag.Get(name); v != "" {
			of[name] = v
		}
	}
	for _, name := range []string{"default", "const"} {
		if text, ok := f.Tag.Lookup(name); ok {
			var v any = text
			if schema["type"] != "string" || strings.HasPrefix(text, `"`) {
				if err := json.Unmarshal([]byte(text), &v); err != nil {
					panic(f.Name + ": " + err.Error())
				}
			}
			schema[name] = v
		}
	}
	return schema
}

// typesOf describes a value of one of some types of JSON.
func typesOf(names string) object {
	list := strings.Split(names, ",")
	out := object{"type": anys(list)}
	if len(list) == 1 {
		out["type"] = list[0]
	}
	if slices.Contains(list, "object") {
		out["additionalProperties"] = true
	}
	return out
}

func anys(list []string) (out []any) {
	for _, v := range list {
		out = append(out, v)
	}
	return out
}

// described are the packages whose types stand in requests and answers.
var describedPackages = []string{
	"", "api", "api/wire", "compact", "guidelines", "guidelines/effect", "guidelines/revisions", "internal/access", "internal/stats",
	"llm/usage", "ops", "ops/survey", "store",
}

// readComments reads what the code says of its types, their fields, and the handlers.
func readComments(t *testing.T) map[string]string {
	t.Helper()
	docs := map[string]string{}
	for _, dir := range describedPackages {
		files, err := filepath.Glob(filepath.Join("..", dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		pkg := strings.TrimSuffix("memoryd/"+dir, "/")
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			for _, decl := range file.Decls {
				readDecl(docs, pkg, decl)
			}
		}
	}
	return docs
}

func readDecl(docs map[string]string, pkg string, decl ast.Decl) {
	switch decl := decl.(type) {
	case *ast.FuncDecl:
		docs[pkg+"."+decl.Name.Name] = sentence(decl.Name.Name, decl.Doc)
	case *ast.GenDecl:
		for _, spec := range decl.Specs {
			if spec, ok := spec.(*ast.TypeSpec); ok {
				doc := spec.Doc
				if doc == nil {
					doc = decl.Doc
				}
				docs[pkg+"."+spec.Name.Name] = sentence(spec.Name.Name, doc)
				readFields(docs, pkg+"."+spec.Name.Name, spec.Type)
			}
		}
	}
}

func readFields(docs map[string]string, of string, t ast.Expr) {
	s, ok := t.(*ast.StructType)
	if !ok {
		return
	}
	for _, f := range s.Fields.List {
		for _, name := range f.Names {
			doc := f.Doc
			if doc == nil {
				doc = f.Comment
			}
			docs[of+"."+name.Name] = sentence(name.Name, doc)
		}
	}
}

// ofCode is the name of a Go field in a sentence, or of two.
var ofCode = regexp.MustCompile(`\b[A-Z][a-z0-9]+[A-Z]\w*|\bmax[A-Z]\w*|^And `)

var brands = strings.NewReplacer("OpenAI", "", "ReMe", "")

var verb = regexp.MustCompile(`^(?:is|are|has) `)

// sentence is a comment without the name that it begins with: what is said as "Key describes an
// API key." is described as "Describes an API key.", and "KeyList is a list." as "A list.".
func sentence(name string, doc *ast.CommentGroup) string {
	paragraphs := strings.Split(strings.TrimSpace(doc.Text()), "\n\n")
	for i, p := range paragraphs {
		paragraphs[i] = strings.ReplaceAll(p, "\n", " ")
	}
	text := strings.Join(paragraphs, "\n\n")
	if rest, ok := strings.CutPrefix(text, name+" "); ok {
		text = verb.ReplaceAllString(rest, "")
	}
	if text == "" {
		return ""
	}
	first := []rune(text)
	first[0] = unicode.ToUpper(first[0])
	return string(first)
}
