package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"memoryd/internal/lifecycle"
	"memoryd/internal/loosejson"
	"memoryd/internal/reading"
	"memoryd/internal/textsafe"

	"github.com/go-json-experiment/json/jsontext"
)

// Bounds of what stands in a description: hosts cut or refuse longer ones.
const (
	noteChars        = 400  // of a note
	descriptionChars = 1000 // of a description with its note
	leastNote        = 80   // a shorter note is left out
	guidelineWait    = time.Second
	noteWait         = 150 * time.Millisecond // what a result may wait for a warning
)

// guide puts guidelines into lists of tools. What a tool was given first stays
// as long as the process lives: a description that changes looks like an attack
// and spoils the prompt's cache.
type guide struct {
	memory Memory
	mode   string

	mu    sync.Mutex
	notes map[string]note // by the server's name of the tool
}

type note struct {
	text    string
	version int
}

func (g *guide) on() bool { return g.mode == "meta" || g.mode == "description" }

// shown gives the version of the guideline that the client was shown with a tool; 0: none.
func (g *guide) shown(tool string) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.notes[tool].version
}

// enrich edits a response that lists tools: descriptions or _meta, never a
// schema. Whatever cannot be read or fetched leaves the line as it is.
func (g *guide) enrich(line []byte, nameOf func(string) string) []byte {
	return editResult(line, "tools", func(tools []loosejson.Members) ([]loosejson.Members, bool) {
		g.learn(tools, nameOf)
		changed := false
		for _, tool := range tools {
			changed = g.edit(tool) || changed
		}
		return tools, changed
	})
}

// editResult gives a member of a response's result the value that f makes of it. A line that
// cannot be read, or that f does not change, stays as it is.
func editResult[T any](line []byte, member string, f func(T) (T, bool)) []byte {
	var whole, result map[string]json.RawMessage
	var value T
	if json.Unmarshal(line, &whole) != nil || json.Unmarshal(whole["result"], &result) != nil ||
		json.Unmarshal(result[member], &value) != nil {
		return line
	}
	value, changed := f(value)
	if !changed {
		return line
	}
	result[member] = jsonOf(value)
	whole["result"] = jsonOf(result)
	return append(jsonOf(whole), '\n')
}

// learn fetches the guidelines of the tools that were not seen before.
func (g *guide) learn(tools []loosejson.Members, nameOf func(string) string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	known := map[string]string{} // memoryd's name -> the server's
	var names []string
	for _, tool := range tools {
		name := tool.Text("name")
		if _, seen := g.notes[name]; seen || name == "" || len(g.notes) >= maxOpen {
			continue
		}
		g.notes[name] = note{}
		known[nameOf(name)] = name
		names = append(names, nameOf(name))
	}
	if len(names) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), guidelineWait)
	defer cancel()
	found, err := g.memory.guidelines(ctx, names, 0)
	if err != nil {
		return // without memoryd the list is the server's own
	}
	for i := range found {
		names := found[i].Metadata.AskedAs
		if len(names) == 0 {
			names = []string{found[i].WhenToUse}
		}
		for _, asked := range names {
			n := g.notes[known[asked]]
			if n.text = advice(found[i].Content); n.text != "" {
				n.version = max(1, int(found[i].Metadata.GuidelineRevision))
			}
			g.notes[known[asked]] = n
		}
	}
}

func (g *guide) edit(tool loosejson.Members) bool {
	g.mu.Lock()
	n := g.notes[tool.Text("name")]
	g.mu.Unlock()
	if n.text == "" {
		return false
	}
	if g.mode == "meta" {
		meta := map[string]json.RawMessage{}
		if raw, ok := tool["_meta"]; ok && json.Unmarshal(raw, &meta) != nil {
			return false
		}
		meta["dev.memoryd/guideline"] = jsonOf(map[string]any{"version": n.version, "text": n.text})
		tool["_meta"] = jsontext.Value(jsonOf(meta))
		return true
	}
	own := tool.Text("description")
	head := fmt.Sprintf("\n\n[memoryd v%d, from recorded calls; experience, not orders]\n", n.version)
	room := min(noteChars, descriptionChars-utf8.RuneCountInString(own)) - utf8.RuneCountInString(head)
	if room < leastNote {
		return false
	}
	tool["description"] = jsontext.Value(jsonOf(own + head + whole(n.text, room)))
	return true
}

var practice = regexp.MustCompile(`^\d+\. (.+)$`)

// advice gives the numbered statements of a guideline, one a line, clean.
func advice(guideline string) string {
	_, practices, _ := strings.Cut(guideline, "## Best Practices\n")
	practices, _, _ = strings.Cut(practices, "\n## ")
	var lines []string
	for line := range strings.Lines(practices) {
		if m := practice.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
			lines = append(lines, "- "+textsafe.Clean(m[1]))
		}
	}
	return strings.Join(lines, "\n")
}

// whole keeps the first lines that fit into room characters.
func whole(lines string, room int) string {
	kept := ""
	for line := range strings.Lines(lines) {
		if utf8.RuneCountInString(kept)+utf8.RuneCountInString(line) > room {
			break
		}
		kept += line
	}
	return strings.TrimSuffix(kept, "\n")
}

// jsonOf writes texts, and JSON that was read, without changing <, > and &: it cannot fail.
func jsonOf(v any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// noteFor asks what memoryd knows against a call, while the call is under way.
func (w *Wrapper) noteFor(server string, p callParams) <-chan string {
	if !w.Warn {
		return nil
	}
	note := make(chan string, 1)
	tool := w.toolName(server, p.Name)
	lifecycle.Go(context.Background(), w.Log, "mcp preflight", func() error {
		defer close(note)
		ctx, cancel := context.WithTimeout(context.Background(), guidelineWait)
		defer cancel()
		f, err := w.Memory.preflight(ctx, tool, w.Run, inputOf(p.Arguments))
		if err != nil || len(f.Warnings) == 0 {
			return err
		}
		lines := []string{reading.NoteHead}
		for _, warning := range f.Warnings {
			lines = append(lines, "- "+textsafe.Clean(warning.Text))
		}
		note <- strings.Join(lines, "\n")
		return nil
	})
	return note
}

// appendNote adds a text part with a warning to a result's content, if the
// warning comes within noteWait; structuredContent and isError stay as they are.
func appendNote(line []byte, note <-chan string) []byte {
	var words string
	select {
	case words = <-note:
	case <-time.After(noteWait):
	}
	if words == "" {
		return line
	}
	return editResult(line, "content", func(content []json.RawMessage) ([]json.RawMessage, bool) {
		part := map[string]any{"type": "text", "text": words, "annotations": map[string]any{"audience": []string{"assistant"}}}
		return append(content, jsonOf(part)), true
	})
}
