package compact_test

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"memoryd/internal/configtest"

	"memoryd/compact"
	"memoryd/compact/chat"

	"github.com/go-json-experiment/json/jsontext"
)

// recording is one conversation of the shared data.
type recording struct {
	File     string
	ID       string           `json:"id"`
	Messages []jsontext.Value `json:"messages"`
}

// recordings reads every chats_*.jsonl.gz below MEMORYD_TEST_DATA.
func recordings(t testing.TB) []recording {
	dir := os.Getenv("MEMORYD_TEST_DATA")
	if dir == "" {
		t.Skip("MEMORYD_TEST_DATA names no folder with recorded conversations (chats_*.jsonl.gz)")
	}
	files, err := filepath.Glob(filepath.Join(dir, "chats_*.jsonl.gz"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings in MEMORYD_TEST_DATA (%v)", err)
	}
	var out []recording
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		z, err := gzip.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		sc := bufio.NewScanner(z)
		sc.Buffer(nil, 1<<26)
		for sc.Scan() {
			r := recording{File: strings.TrimSuffix(filepath.Base(name), ".jsonl.gz")}
			if err := json.Unmarshal(sc.Bytes(), &r); err != nil {
				t.Fatal(err)
			}
			out = append(out, r)
		}
		if err := sc.Err(); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// textOf is what a model reads of the messages that are not system messages.
func textOf(t testing.TB, raws []jsontext.Value) string {
	var b strings.Builder
	for _, raw := range raws {
		m, err := chat.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		if m.Kind == chat.System {
			continue
		}
		for _, s := range m.Texts {
			b.WriteString(s + "\n")
		}
		for _, c := range m.Calls {
			b.WriteString(" " + c.Name + " " + c.Args + "\n")
		}
		for _, r := range m.Results {
			b.WriteString(r.Text + "\n")
		}
	}
	return b.String()
}

var (
	identifierWord = regexp.MustCompile(`[A-Za-z0-9_#@./:+-]{4,}`)
	simpleWord     = regexp.MustCompile(`[A-Za-z]{3,}`)
)

// passed lists the values that the calls of the messages pass: short leaf values
// and words in them that hold a digit or a separator.
func passed(t testing.TB, raws []jsontext.Value) map[string]bool {
	vals := map[string]bool{}
	leaves(t, raws, func(m *chat.Message) []string {
		var out []string
		for _, c := range m.Calls {
			out = append(out, c.Args)
		}
		return out
	}, func(_, v string, _ []string) {
		if len(v) >= 4 && len(v) <= 80 && !strings.Contains(v, "\n") {
			vals[v] = true
		}
		for _, w := range identifierWord.FindAllString(v, -1) {
			if strings.ContainsAny(w, "0123456789_#@/") {
				vals[w] = true
			}
		}
	})
	return vals
}

// leaves calls f for each plain value in the JSON texts of the messages, with its
// key and the other values of its object.
func leaves(t testing.TB, raws []jsontext.Value, textsOf func(*chat.Message) []string, f func(key, v string, others []string)) {
	text := func(v any) (string, bool) {
		switch v := v.(type) {
		case string:
			return v, true
		case json.Number:
			return v.String(), true
		}
		return "", false
	}
	var walk func(key string, v any)
	walk = func(key string, v any) {
		switch v := v.(type) {
		case []any:
			for _, x := range v {
				walk(key, x)
			}
		case map[string]any:
			flat := map[string]string{}
			for k, x := range v {
				if s, ok := text(x); ok {
					flat[k] = s
				}
			}
			for k, s := range flat {
				var others []string
				for _, o := range slices.Sorted(maps.Keys(flat)) {
					if o != k && len(flat[o]) >= 2 && len(others) < 8 {
						others = append(others, flat[o])
					}
				}
				f(k, s, others)
			}
			for k, x := range v {
				if _, plain := text(x); !plain {
					walk(k, x)
				}
			}
		default:
			if s, ok := text(v); ok {
				f(key, s, nil)
			}
		}
	}
	for _, raw := range raws {
		m, err := chat.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range textsOf(&m) {
			dec := json.NewDecoder(strings.NewReader(s))
			dec.UseNumber()
			var v any
			if dec.Decode(&v) == nil {
				walk("", v)
			}
		}
	}
}

// records maps the values of tool outputs to the other values of their records.
func records(t testing.TB, raws []jsontext.Value) map[string][][]string {
	of := map[string][][]string{}
	leaves(t, raws, func(m *chat.Message) []string {
		var out []string
		for _, r := range m.Results {
			out = append(out, r.Text)
		}
		return out
	}, func(_, v string, others []string) {
		if len(others) > 0 {
			of[v] = append(of[v], others)
		}
	})
	return of
}

// related reports whether v stands within 300 characters of half of the other
// values of one of its records.
func related(v, text string, rs [][]string) bool {
	for at := 0; ; {
		i := strings.Index(text[at:], v)
		if i < 0 {
			return false
		}
		at += i
		near := text[max(0, at-300):min(len(text), at+len(v)+300)]
		for _, others := range rs {
			hits := 0
			for _, o := range others {
				if strings.Contains(near, o) {
					hits++
				}
			}
			if 2*hits >= len(others) {
				return true
			}
		}
		at += len(v)
	}
}

// bound reports whether v stands in text within 60 characters after one of the
// words that stood in the 40 characters before it in orig.
func bound(v, orig, text string) bool {
	words := map[string]bool{}
	each(orig, v, 40, func(before string) bool {
		for _, w := range simpleWord.FindAllString(before, -1) {
			words[w] = true
		}
		return true
	})
	found := false
	each(text, v, 60, func(before string) bool {
		for _, w := range simpleWord.FindAllString(before, -1) {
			found = found || words[w]
		}
		return !found
	})
	return found
}

func each(text, v string, reach int, f func(before string) bool) {
	for at := 0; ; {
		i := strings.Index(text[at:], v)
		if i < 0 {
			return
		}
		at += i
		from := at
		for n := 0; n < reach && from > 0; n++ {
			_, w := utf8.DecodeLastRuneInString(text[:from])
			from -= w
		}
		if !f(text[from:at]) {
			return
		}
		at += len(v)
	}
}

// cutAt is the first place from a share of the messages on that splits no group.
func cutAt(t testing.TB, raws []jsontext.Value, share float64) int {
	cut := int(share * float64(len(raws)))
	for cut < len(raws) {
		m, err := chat.Parse(raws[cut])
		if err != nil {
			t.Fatal(err)
		}
		if len(m.Results) == 0 {
			break
		}
		cut++
	}
	return cut
}

// tally counts the values that later calls passed: those present in the compacted
// text, bound to a word that they stood behind, and with their record.
type tally struct{ values, present, bound, recorded, related, runs, apart int }

// TestFutureArgumentRecall measures what a later step still finds after the first
// 60 % of a recorded conversation were compacted to 10, 20 and 40 % of its tokens
// without a model. Conversations whose last user message alone fills the size are
// counted apart. The ranking's weights are plain defaults.
func TestFutureArgumentRecall(t *testing.T) {
	bars := map[int][3]float64{10: {0.55, 0.55, 0.42}, 20: {0.78, 0.77, 0.68}, 40: {0.92, 0.91, 0.90}}
	by, count := map[string]map[int]*tally{}, map[string]int{}
	for _, r := range recordings(t) {
		if count[r.File]++; count[r.File] > 10**most {
			continue
		}
		for percent, y := range measured(t, r) {
			for _, name := range []string{r.File, "total"} {
				if by[name] == nil {
					by[name] = map[int]*tally{}
				}
				if by[name][percent] == nil {
					by[name][percent] = &tally{}
				}
				z := by[name][percent]
				z.values, z.present, z.bound, z.recorded, z.related, z.runs, z.apart = z.values+y.values, z.present+y.present, z.bound+y.bound, z.recorded+y.recorded, z.related+y.related, z.runs+y.runs, z.apart+y.apart
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(by)) {
		for _, percent := range []int{10, 20, 40} {
			y := by[name][percent]
			share := func(n, of int) float64 { return float64(n) / float64(max(1, of)) }
			got := [3]float64{share(y.present, y.values), share(y.bound, y.values), share(y.related, y.recorded)}
			t.Logf("%-28s %d %%: recall %.3f bound %.3f related %.3f (%d values, %d conversations, %d apart)", name, percent, got[0], got[1], got[2], y.values, y.runs, y.apart)
			if kind := "source/" + name; name == "total" {
				t.Logf("figure recall at %d: %.4f", percent, got[0])
				t.Logf("figure related at %d: %.4f", percent, got[2])
			} else {
				t.Logf("figure %s recall_%d: %.4f", kind, percent, got[0])
				t.Logf("figure %s related_%d: %.4f", kind, percent, got[2])
			}
			for k, bar := range bars[percent] {
				if name == "total" && got[k] < bar {
					t.Errorf("%d %%: figure %d is %.3f, below the bar of %.2f", percent, k, got[k], bar)
				}
			}
		}
	}
}

// measured compacts a recording to 10, 20 and 40 % of its tokens.
func measured(t testing.TB, r recording) map[int]tally {
	cut := cutAt(t, r.Messages, 0.6)
	part := r.Messages[:cut]
	compactor := func() *compact.Compactor {
		return compact.New(configtest.Section[compact.Config]("compact"), filled(compact.Deps{}))
	}
	dry, err := compactor().Compact(t.Context(), compact.Request{Messages: part, Force: true, DryRun: true, MaxInputTokens: 10_000_000})
	if err != nil {
		t.Fatal(err)
	}
	by := map[int]tally{}
	for _, percent := range []int{10, 20, 40} {
		by[percent] = tally{}
		body := dry.Report.TokensBefore - dry.Report.Before.System
		if limit := dry.Report.Before.System + body*percent/100; limit > 0 && body > 0 {
			by[percent] = recalled(t, compactor(), r, cut, limit)
		}
	}
	return by
}

// recalled compacts what stands before the cut and looks for what is passed behind it.
func recalled(t testing.TB, c *compact.Compactor, r recording, cut, limit int) (y tally) {
	part := r.Messages[:cut]
	orig := textOf(t, part)
	of := records(t, part)
	res, err := c.Compact(t.Context(), compact.Request{Messages: part, Force: true, MaxInputTokens: limit})
	if err != nil {
		t.Fatal(err)
	}
	switch res.Reason {
	case compact.Forced:
	case compact.TailTooLarge, compact.SystemTooLarge, compact.GainTooSmall: // a conversation of two messages cannot be made smaller
		y.apart++
		return y
	default:
		t.Errorf("%s %s: %s %s", r.File, r.ID, res.Reason, res.Detail)
	}
	if res.Report.TokensAfter > limit {
		t.Errorf("%s %s: %d tokens, above the limit of %d", r.File, r.ID, res.Report.TokensAfter, limit)
	}
	y.runs++
	text := textOf(t, res.Messages)
	for v := range passed(t, r.Messages[cut:]) {
		if !strings.Contains(orig, v) {
			continue
		}
		y.values++
		if strings.Contains(text, v) {
			y.present++
		}
		if bound(v, orig, text) {
			y.bound++
		}
		if rs := of[v]; rs != nil {
			y.recorded++
			if related(v, text, rs) {
				y.related++
			}
		}
	}
	return y
}
