package transcripts

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"memoryd"
	"memoryd/internal/accounts"
	"memoryd/internal/loosejson"
)

// Format is a file format in which a program records what its agents did.
type Format struct {
	// Name is the value for --format.
	Name string
	// Expects describes in a few words what such a file looks like.
	Expects string

	signs  string // see table
	reader func(f *file) reader
}

// Auto means: detect the format.
const Auto = "auto"

// table says of each format, in the order in which they are tried, what its files look like, and
// below that the signs of a document of it: alternatives with bars, or a line each, of terms with
// &: a member; !one that is not there; member=the texts it may be; list/the members of one of its
// first elements; ~texts of which the document holds one.
//
//go:embed formats.txt
var table string

// Formats are all supported formats, in the order in which they are tried.
var Formats = sync.OnceValue(func() (formats []Format) {
	of := readers()
	for line := range strings.SplitSeq(strings.TrimSpace(table), "\n") {
		if signs, is := strings.CutPrefix(line, "\t"); is {
			f := &formats[len(formats)-1]
			f.signs = strings.TrimPrefix(f.signs+" | "+signs, " | ")
			continue
		}
		name, expects, _ := strings.Cut(line, ": ")
		formats = append(formats, Format{Name: name, Expects: expects, reader: of[name]})
	}
	return formats
})

// reader takes the documents of a file, one after another, with their members.
type reader func(d loosejson.Members, doc []byte)

// readers make the readers of the formats.
func readers() map[string]func(*file) reader {
	host, export := readHost, each(func(f *file, d loosejson.Members, _ []byte) { f.export(d, 0) })
	return map[string]func(*file) reader{
		"codex": readCodex, "otlp": each((*file).otlp), "inspect": within("samples", (*file).inspect), "swe-agent": each((*file).trajectory),
		"openhands": readOpenHands, "mini-swe-agent": readMini, "cline": readCline, "claude-code": within("loglines", (*file).claude),
		"gemini": readGemini, "calls": each((*file).recorded), "openai-responses": readResponsesOrChat,
		"opencode": host, "goose": host, "copilot": host, "pi": host, "cursor": host, "pydantic-ai": host, "langchain": host, "ai-sdk": host,
		"langsmith": export, "langfuse": export, "phoenix": export,
		"tau-bench": readChat, "anthropic": readChat, "openai-chat": readChat,
	}
}

// telling are texts of which a document of a format holds one if it tells of a call.
var telling = map[string][]string{
	"codex":       {"call", "session_meta", "item_completed", "patch_apply", "turn_context"},
	"claude-code": {`"tool_use`, `"tool_result"`},
	"gemini":      {`"sessionId"`, `"toolCalls"`},
	"inspect":     {`"tool`}, // else it is the head of a log
}

// FormatNames returns the names of all formats, and Auto.
func FormatNames() []string {
	names := []string{Auto}
	for _, f := range Formats() {
		names = append(names, f.Name)
	}
	return names
}

// shape is a document, or a span, of which only the outermost members are known.
type shape struct {
	doc     []byte
	members loosejson.Members
	first   map[string][]loosejson.Members // objects among the first elements of lists that are members
}

func shapeOf(doc []byte) *shape {
	members, _ := loosejson.ParseMembers(doc) // what is broken has no members
	return &shape{doc, members, map[string][]loosejson.Members{}}
}

// shows reports whether it has the signs of a format.
func (s *shape) shows(signs string) bool {
	for way := range strings.SplitSeq(signs, " | ") {
		if !slices.ContainsFunc(strings.Split(way, " & "), func(term string) bool { return !s.meets(term) }) {
			return true
		}
	}
	return false
}

func (s *shape) meets(term string) bool {
	if texts, held := strings.CutPrefix(term, "~"); held {
		return mentions(s.doc, strings.Split(texts, ",")...)
	}
	if absent, not := strings.CutPrefix(term, "!"); not {
		return !has(s.members, absent)
	}
	if name, texts, given := strings.Cut(term, "="); given {
		is := loosejson.Text(s.members[name])
		return slices.ContainsFunc(strings.Split(texts, ","), func(text string) bool { return strings.EqualFold(text, is) })
	}
	if list, names, inside := strings.Cut(term, "/"); inside {
		return slices.ContainsFunc(s.within(list), func(e loosejson.Members) bool { return has(e, strings.Split(names, ",")...) })
	}
	return has(s.members, term)
}

func has(members loosejson.Members, names ...string) bool {
	return !slices.ContainsFunc(names, func(n string) bool { return len(members[n]) == 0 })
}

// within are the objects among the first three elements of a list that is a member, or in these.
func (s *shape) within(list string) []loosejson.Members {
	first, known := s.first[list]
	if !known {
		all := loosejson.Elements(s.members[list])
		for _, e := range all[:min(3, len(all))] {
			first = append(first, loosejson.Objects(loosejson.Join(elementsOf(e)))...)
		}
		s.first[list] = first
	}
	return first
}

// mentions reports whether a document holds one of the texts anywhere.
func mentions(doc []byte, texts ...string) bool {
	return slices.ContainsFunc(texts, func(text string) bool { return bytes.Contains(doc, []byte(text)) })
}

// each makes a reader of documents by themselves.
func each(take func(f *file, d loosejson.Members, doc []byte)) func(f *file) reader {
	return func(f *file) reader { return func(d loosejson.Members, doc []byte) { take(f, d, doc) } }
}

// within makes a reader of documents, and of those in a list that they hold.
func within(list string, take func(f *file, d loosejson.Members, doc []byte)) func(f *file) reader {
	return each(func(f *file, d loosejson.Members, doc []byte) {
		for _, one := range append([]loosejson.Members{d}, loosejson.Objects(d.At(list))...) {
			take(f, one, doc)
		}
	})
}

// readResponsesOrChat reads documents that are items, and those that hold them.
func readResponsesOrChat(f *file) reader {
	item, whole := readResponses(f), readChat(f)
	return func(d loosejson.Members, doc []byte) {
		if len(d["type"]) > 0 && !bytes.Contains(doc, []byte(`"input":`)) {
			item(d, doc)
			return
		}
		whole(d, doc)
	}
}

// recorded takes a recording of this program.
func (f *file) recorded(_ loosejson.Members, doc []byte) {
	l, err := memoryd.ParseCall(doc)
	if err != nil {
		f.broken(f.line, err.Error())
		return
	}
	m := l.Call()
	c, told := accounts.FromRecord(&m)
	if !told {
		// texts: it cannot fail
		m.Metadata, _ = json.Marshal(map[string]any{
			"sources": []string{f.format}, "tool_call_id": memoryd.ToolCallID(m.Metadata), "session_id": m.Run(),
		})
		c, _ = accounts.FromRecord(&m)
	}
	if c.Ref() == "" {
		c.ID = accounts.Digest(doc)
	}
	f.add(c)
}
