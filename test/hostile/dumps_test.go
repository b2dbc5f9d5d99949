package hostile

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"memoryd/test/crash/daemon"
)

// leaves calls do with each text in a JSON value and where it stands, and puts in what it returns. Texts that hold JSON, bare or
// in base64, are opened.
func leaves(v any, at string, do func(at, text string) string) any {
	switch v := v.(type) {
	case map[string]any:
		for name, e := range v {
			v[name] = leaves(e, at+"."+name, do)
		}
	case []any:
		for i := range v {
			v[i] = leaves(v[i], at+"[]", do)
		}
	case string:
		var inner any
		raw, err := base64.StdEncoding.DecodeString(v)
		packed := err == nil && len(raw) > 1 && raw[0] == '{'
		if !packed {
			raw = []byte(v)
		}
		if len(raw) < 2 || raw[0] != '{' || json.Unmarshal(raw, &inner) != nil {
			return do(at, v)
		}
		b, _ := json.Marshal(leaves(inner, at+"<", do)) //nolint:errchkjson // it was JSON
		if packed {
			return base64.StdEncoding.EncodeToString(b)
		}
		return string(b)
	}
	return v
}

// forged is a dump, or an export with a new checksum, in which each text at one place holds a sentence instead; the places are
// those of lines that begin with head, and pick chooses one of them.
func forged(w *world, dump []byte, head string, pick func(places []string) string, sentence string) (place string, out []byte) {
	places := map[string]bool{}
	lines := bytes.Split(bytes.TrimSpace(dump), []byte("\n"))
	each := func(do func(at, text string) string) {
		for i, line := range lines {
			var v any
			if !bytes.HasPrefix(line, []byte(head)) {
				continue
			}
			if err := json.Unmarshal(line, &v); err != nil {
				w.t.Fatal(err)
			}
			lines[i], _ = json.Marshal(leaves(v, "", do)) //nolint:errchkjson // it was JSON
		}
	}
	each(func(at, text string) string { places[at] = true; return text })
	place = pick(slices.Sorted(maps.Keys(places)))
	each(func(at, text string) string {
		if at == place {
			return sentence
		}
		return text
	})
	if last := lines[len(lines)-1]; bytes.HasPrefix(last, []byte(`{"trailer"`)) {
		before := append(bytes.Join(lines[:len(lines)-1], []byte("\n")), '\n')
		at := bytes.Index(last, []byte(`"sha256":"`)) + len(`"sha256":"`)
		copy(last[at:at+64], fmt.Sprintf("%x", sha256.Sum256(before)))
	}
	return place, append(bytes.Join(lines, []byte("\n")), '\n')
}

// A dump that somebody forged brings no sentence into what an agent reads, in whatever text of it the sentence stands: loaded by
// the server, or as the calls of a backup that is restored. The control: the
// calls came, and their parameter is told.
func TestAForgedDumpBringsNoSentenceIntoAdvice(t *testing.T) {
	w := &world{t: t, dice: daemon.Dice(t), clock: time.Date(2027, 3, 1, 8, 0, 0, 0, time.UTC)}
	dir := t.TempDir()
	w.Process = binary.Start(t, dir, nil)
	ways := []string{"load", "load", "restore"}
	n, came, controls := rounds(t, 24), 0, 0
	for k := range n {
		w.open()
		way, tool, p, mark := ways[k%len(ways)], "get_"+w.word(), w.word(), w.word()+w.word()
		sentence := fmt.Sprintf(orders[w.dice.IntN(len(orders))], mark, w.word()+w.word()) + " " + w.phrase(3)
		for i := range 30 {
			c := call{source: fmt.Sprintf("agent%d", i%3), run: fmt.Sprintf("r%d", i/3), tool: tool, input: map[string]any{p: i % 7}, output: `{"rows":1}`}
			if i%3 == 1 {
				c.input, c.output, c.failed = map[string]any{}, "Error: "+w.word(), true
			}
			w.addHTTP(c)
		}
		w.guideline("agent1", tool)
		pick := func(places []string) string { return places[w.dice.IntN(len(places))] }
		reader, stop := w, func() int { return 0 }
		place, ok := "", false
		switch way {
		case "load":
			w.ask("/vector_store", "", map[string]any{"workspace_id": w.space, "action": "dump", "path": "made"}, nil)
			dump, err := os.ReadFile(filepath.Join(dir, "dumps", "made", w.space+".jsonl"))
			if err != nil {
				t.Fatal(err)
			}
			w.open()
			place, dump = forged(w, dump, "{", pick, sentence)
			if err := os.WriteFile(filepath.Join(dir, "dumps", "made", w.space+".jsonl"), dump, 0o600); err != nil {
				t.Fatal(err)
			}
			var done struct{ Success bool }
			w.ask("/vector_store", "", map[string]any{"workspace_id": w.space, "action": "load", "path": "made"}, &done)
			ok = done.Success
		case "restore":
			file, to := filepath.Join(t.TempDir(), w.space+".jsonl"), t.TempDir()
			if code, _, errs := binary.Run(t, "", "export", file, "--workspace", w.space, "--url", w.URL); code != 0 {
				t.Fatal(errs)
			}
			dump, _ := os.ReadFile(file)
			place, dump = forged(w, dump, `{"call"`, pick, sentence)
			if err := os.WriteFile(file, dump, 0o600); err != nil {
				t.Fatal(err)
			}
			code, out, errs := binary.Run(t, "", "restore", file, "--data", to)
			if ok = code == 0; !ok {
				t.Logf("%s of %s is refused: %s%s", way, place, out, errs)
				continue
			}
			other := *w
			other.Process = binary.Start(t, to, nil)
			reader, stop = &other, other.Stop
		}
		if !ok {
			continue
		}
		came++
		var a daemon.Answer
		reader.ask("/retrieve_tool_memory", "", map[string]any{"workspace_id": w.space, "tool_names": tool, "include_history": false}, &a)
		before, _ := said(a.Answer)
		text := before + reader.told("agent1", tool, map[string]any{})
		if len(a.Metadata.MemoryList) == 1 {
			ours, _ := said(reader.guideline("agent1", tool))
			if text += ours; strings.Contains(ours, "`"+p+"`") {
				controls++
			}
		}
		if strings.Contains(strings.ToLower(text), mark) {
			t.Errorf("%s of a forged %s: a word of %q is told:\n%s", way, place, sentence, text)
		}
		stop()
	}
	if came < n/2 || controls < n/3 {
		t.Errorf("of %d forged dumps %d came in, and %d brought calls of which something is told: the attack shows nothing", n, came, controls)
	}
}
