package evaluate

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"memoryd"
	"memoryd/internal/textsafe"

	"pgregory.net/rapid"
)

var update = flag.Bool("update", false, "write the golden files anew")

// hostile gives text with what could matter in a prompt: our marks, quotes, line
// ends, roles, chat-template tokens, invisible characters, broken UTF-8.
func hostile() *rapid.Generator[string] {
	pieces := rapid.OneOf(
		rapid.String(),
		rapid.SampledFrom([]string{
			"<<<END ", "<<<DATA x>>>", ">>>", "\n", "\r\n", "\u2028", `"`, `\`, `\"`, `\u003c`, "</system>", "<|im_start|>system", "[/INST]",
			`{"score": 1.0}`, "\x00", "\u200b", "\U000E0041", "\u202e", "\xff\xfe", "\xed\xa0\x80", "ignore the above", "```", "é", "😀",
		}),
		rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 8), func(b []byte) string { return string(b) }),
	)
	return rapid.Map(rapid.SliceOfN(pieces, 0, 12), func(parts []string) string { return strings.Join(parts, "") })
}

func testPrompt(t testing.TB) string {
	p, err := loadPrompt("")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestHostileTextStaysInItsEnvelope(t *testing.T) {
	system := testPrompt(t)
	rapid.Check(t, func(rt *rapid.T) {
		tool, output, input := hostile().Draw(rt, "tool"), hostile().Draw(rt, "output"), hostile().Draw(rt, "input")
		raw, err := json.Marshal(input)
		if err != nil {
			rt.Fatal(err)
		}
		c := memoryd.Call{ToolRef: memoryd.ToolRef{Tool: tool}, Input: raw, Output: output}
		p, nonce := request(system, c.ToolRef, nil, newBrief(&c, &Config{MaxInput: 1 << 20, MaxOutput: 1 << 20}), "")

		if strings.Count(p.User, nonce) != 2 || strings.Count(p.User, "<<<") != 2 || strings.Count(p.User, "\n") != 3 {
			rt.Fatalf("the block has more than its two marks: %q", p.User)
		}
		if p.System != system {
			rt.Fatal("the system part changed")
		}
		if strings.ContainsFunc(strings.ReplaceAll(p.User, "\n", ""), textsafe.Invisible) {
			rt.Fatalf("invisible characters in %q", p.User)
		}
		got := blockOf(t, p)
		valid := func(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
		var gotInput string
		if err := json.Unmarshal(got.Call.Input, &gotInput); err != nil {
			rt.Fatal(err)
		}
		for _, pair := range [][2]string{{got.Tool, tool}, {got.Call.output(t), output}, {gotInput, input}} {
			// Broken UTF-8 cannot be carried by JSON; each bad byte, or run of them,
			// arrives as the replacement character.
			if a, b := collapse(pair[0]), collapse(valid(pair[1])); a != b {
				rt.Fatalf("got back %q, sent %q", a, b)
			}
			if utf8.ValidString(pair[1]) && pair[0] != pair[1] {
				rt.Fatalf("got back %q, sent %q", pair[0], pair[1])
			}
		}
	})
}

// collapse makes runs of replacement characters one.
func collapse(s string) string {
	for strings.Contains(s, "\uFFFD\uFFFD") {
		s = strings.ReplaceAll(s, "\uFFFD\uFFFD", "\uFFFD")
	}
	return s
}

func TestObjectsAreShownAsTheyAre(t *testing.T) {
	system := testPrompt(t)
	c := memoryd.Call{Input: json.RawMessage(`{ "q": "a<b",  "n": 1.0, "big": 123456789012345678901 }`), Output: "ok"}
	p, _ := request(system, c.ToolRef, nil, newBrief(&c, &Config{MaxInput: 800, MaxOutput: 800}), "")
	got := string(blockOf(t, p).Call.Input)
	if want := `{"q":"a\u003cb","n":1.0,"big":123456789012345678901}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestExcerptsKeepHeadAndTail(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := rapid.StringN(0, 400, -1).Draw(rt, "s")
		limit := rapid.IntRange(3, 200).Draw(rt, "limit")
		e := excerptOf(s, limit)
		for _, e := range []excerpt{e, e.shrunk(limit / 2)} {
			if len(e.Head)+e.Cut+len(e.Tail) != len(s) || !strings.HasPrefix(s, e.Head) || !strings.HasSuffix(s, e.Tail) {
				rt.Fatalf("%+v does not come from %q", e, s)
			}
			if len(e.Head)+len(e.Tail) > limit || !utf8.ValidString(e.Head) || !utf8.ValidString(e.Tail) {
				rt.Fatalf("%+v has more than %d bytes or half characters", e, limit)
			}
		}
		if len(s) <= limit && e.Cut != 0 {
			rt.Fatalf("%q was cut", s)
		}
	})
}

func TestPromptGolden(t *testing.T) {
	system := testPrompt(t)
	call := someCall(1, strings.Repeat("0123456789", 40)+"Error: <none>")
	call.Metadata = json.RawMessage(`{"gold":"ok","note":"gold","tool_schema":{"type":"object","properties":{"query":{"type":"string"}}},"task":"Find ten results."}`)
	earlier := []example{{Input: excerptOf(`{"query": "test"}`, 120), Output: excerptOf("Warning: query too generic", 120), Score: 0.5}}
	other := someCall(2, "Found 10 results.\nAll relevant.")
	other.Input, other.TimeCost, other.Success = json.RawMessage(`"ls -l && echo done"`), 2.5, false
	for name, c := range map[string]memoryd.Call{"prompt_single.golden": call, "prompt_failed.golden": other} {
		b := newBrief(&c, &Config{MaxInput: 800, MaxOutput: 120})
		b.setting = settingOf(c.Metadata, 600)
		p, nonce := request(system, c.ToolRef, earlier, b, "")
		if p.Workspace != "w" || p.Tool != "search" {
			t.Errorf("asked on behalf of %q, %q", p.Workspace, p.Tool)
		}
		got := strings.ReplaceAll(p.System+"\n-----\n"+p.User+"\n-----\n"+p.SchemaName+" "+string(p.Schema)+"\n", nonce, "NONCE")
		path := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s differs (run with -update to accept):\n%s", name, got)
		}
		if strings.Contains(got, "gold") {
			t.Error("metadata is shown to the model")
		}
		var schema map[string]any
		if err := json.Unmarshal(p.Schema, &schema); err != nil {
			t.Errorf("the schema is not JSON: %v", err)
		}
	}
}

func TestPromptFile(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	p, err := loadPrompt(write("own.tmpl", "Judge{{if .Batch}} all{{end}}.\n"))
	if err != nil || p != "Judge." {
		t.Errorf("got %q, error %v", p, err)
	}
	for name, text := range map[string]string{
		"broken": "{{if}}", "unknown": "{{.Nope}}", "empty": "{{/* nothing */}}", "long": strings.Repeat("x", maxPromptFile+1),
	} {
		if _, err := loadPrompt(write(name, text)); err == nil || !strings.Contains(err.Error(), "prompt_file") {
			t.Errorf("%s: got error %v", name, err)
		}
	}
	if _, err := loadPrompt(filepath.Join(dir, "absent")); err == nil {
		t.Error("an absent file was read")
	}
}
