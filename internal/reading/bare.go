// Package reading determines what a tool's output is, before anything interprets it: the text
// without its wrapping (Bare), and its kind, which it shares with all outputs of the tool
// that differ only in their data (KindOf).
//
// It knows no tool, and no words of any language except names of members and the few words
// before numbers that decide.
package reading

import (
	"strings"
	"sync"

	"memoryd/internal/loosejson"
	"memoryd/internal/textsafe"
)

// maxWrappings is how many wrappings one output may have.
const maxWrappings = 4

// Bare removes what hosts, protocols and terminals put around a text: white space, colours,
// line endings of other systems, a Markdown fence around all of it, a JSON string, and MCP
// content, unless that reports a failure. The same text gives the same result in each
// wrapping.
func Bare(s string) string { return unwrapped(s, false) }

// Inside removes what Bare does, and MCP content too that reports a failure or that a program
// of Python printed.
func Inside(s string) string { return unwrapped(s, true) }

func unwrapped(s string, all bool) string {
	for range maxWrappings {
		t := trim(s)
		if strings.IndexByte(t, 0x1b) >= 0 {
			t = trim(textsafe.StripEscapes(t))
		}
		if strings.IndexByte(t, '\r') >= 0 {
			t = strings.ReplaceAll(t, "\r\n", "\n")
		}
		if len(t) < 2 {
			return t
		}
		switch t[0] {
		case '`':
			t = unfenced(t)
		case '"':
			t = unquoted(t)
		case '{', '[':
			t = content(t, all)
		default:
			inner, ok := printed(t, all)
			if !ok {
				return t
			}
			t = inner
		}
		if t == s {
			break
		}
		s = t
	}
	return s
}

// trim takes off white space, NUL and byte order marks.
func trim(s string) string { return strings.Trim(s, " \t\r\n\v\f\x00\ufeff") }

// unfenced takes off a fence around the whole text.
func unfenced(s string) string {
	head, inner, _ := strings.Cut(s, "\n")
	fence := head[:len(head)-len(strings.TrimLeft(head, "`"))]
	inner, closed := strings.CutSuffix("\n"+inner, "\n"+fence)
	if !closed || len(fence) < 3 || strings.Contains(inner, "\n"+fence) {
		return s
	}
	return inner
}

// unquoted decodes a text that is one JSON string.
func unquoted(s string) string {
	if s[len(s)-1] != '"' || len(s) > loosejson.MaxText {
		return s
	}
	inner := s[1 : len(s)-1]
	for off := 0; ; off++ {
		i := strings.IndexByte(inner[off:], '"')
		if i < 0 {
			break
		}
		if off += i; !loosejson.Escaped(inner[:off]) {
			return s
		}
	}
	inner, _ = loosejson.Unquote(inner, loosejson.MaxText)
	return inner
}

// docs are documents that can be used again.
var docs = sync.Pool{New: func() any { return new(loosejson.Doc) }}

func release(d *loosejson.Doc) {
	d.Clear()
	docs.Put(d)
}

// content gives the text of a reply of the Model Context Protocol: of its blocks, one
// below the other, where all are text.
func content(s string, failed bool) string {
	if !strings.Contains(s[:min(len(s), 120)], `"text"`) {
		return s
	}
	d := docs.Get().(*loosejson.Doc) //nolint:forcetypeassert // the pool makes nothing else
	defer release(d)
	d.Parse(s)
	if !d.IsWhole() {
		return s
	}
	blocks, structured, ok := parts(d, failed)
	if !ok {
		return s
	}
	text, ok := below(d, blocks)
	if !ok {
		return s
	}
	x := &d.Nodes[structured]
	if structured > 0 && !loosejson.Looks(text) && (x.Count != 1 || d.Nodes[x.Child].Key != "result") {
		return s
	}
	return text
}

// parts are the places of a reply's blocks and of what it says in a structure, 0 being the whole; ok
// is false where it holds more.
func parts(d *loosejson.Doc, failed bool) (blocks, structured int32, ok bool) {
	if d.Nodes[0].Kind != loosejson.Object {
		return 0, 0, true
	}
	for i := d.Child(0); i != 0; i = d.Nodes[i].Next {
		switch n := &d.Nodes[i]; {
		case n.Key == "content" && n.Kind == loosejson.Array:
			blocks = i
		case n.Key == "isError" && (failed || n.Kind == loosejson.False), n.Key == "_meta":
		case n.Key == "structuredContent": // says what the blocks say
			structured = i
		default:
			return 0, 0, false
		}
	}
	return blocks, structured, blocks != 0
}

// below gives the texts of blocks, one below the other; ok is false where one is no text, or
// there is none.
func below(d *loosejson.Doc, blocks int32) (text string, ok bool) {
	var b strings.Builder
	for i := d.Child(blocks); i != 0; i = d.Nodes[i].Next {
		text, isText := textBlock(d, i)
		if !isText {
			return "", false
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(text)
		ok = true
	}
	return b.String(), ok
}

// printed gives the text of a reply as a program of Python prints it:
// meta=None content=[TextContent(type='text', text='…')].
func printed(s string, failed bool) (text string, ok bool) {
	head, _, ok := strings.Cut(s[:min(len(s), 90)], "text=")
	if !ok || !strings.Contains(head, "content=[TextContent(") {
		return "", false
	}
	block := s[len(head)+len("text="):]
	end := strings.LastIndex(block, block[:min(len(block), 1)])
	if end < 1 || !failed && strings.HasSuffix(block[end:], "isError=True") {
		return "", false
	}
	return loosejson.Unquote(block[1:end], loosejson.MaxText)
}

// textBlock gives the text of a block {"type": "text", "text": "..."}.
func textBlock(d *loosejson.Doc, at int32) (text string, ok bool) {
	if d.Nodes[at].Kind != loosejson.Object {
		return "", false
	}
	is := false
	for i := d.Child(at); i != 0; i = d.Nodes[i].Next {
		switch n := &d.Nodes[i]; n.Key {
		case "type":
			is = n.Val == "text"
		case "text":
			text, ok = d.Str(i), n.Kind == loosejson.String
		case "annotations", "_meta":
		default:
			return "", false
		}
	}
	return text, is && ok
}
