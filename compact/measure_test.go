package compact_test

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"memoryd/compact"
	"memoryd/compact/chat"
	"memoryd/compact/facts"
	"memoryd/compact/tokens"

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
	notWord    = regexp.MustCompile(`[^\s"'(),;\[\]{}<>=]+`)
	separator  = regexp.MustCompile(`[\d_/.\-:@]`)
	simpleWord = regexp.MustCompile(`\w{2,}`)
)

// passed lists the values that the calls of the messages pass: leaf values of 4
// to 80 characters, and words in them that hold a digit or a separator.
func passed(t testing.TB, raws []jsontext.Value) map[string]bool {
	vals := map[string]bool{}
	add := func(s string) {
		if n := utf8.RuneCountInString(s); n >= 4 && n <= 80 {
			vals[s] = true
		}
	}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for _, x := range v {
				walk(x)
			}
		case []any:
			for _, x := range v {
				walk(x)
			}
		case string:
			add(strings.TrimSpace(v))
			for _, w := range notWord.FindAllString(v, -1) {
				if w = strings.Trim(w, ".:,!?"); separator.MatchString(w) {
					add(w)
				}
			}
		case json.Number:
			add(v.String())
		}
	}
	for _, raw := range raws {
		m, err := chat.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range m.Calls {
			dec := json.NewDecoder(strings.NewReader(c.Args))
			dec.UseNumber()
			var v any
			if dec.Decode(&v) == nil {
				walk(v)
			}
		}
	}
	return vals
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

// tally counts the values that later calls passed: of all, those present in the
// compacted text, and those bound; and the runs whose text is above its size.
type tally struct{ values, present, bound, over, runs int }

func (y *tally) add(z tally) {
	y.values += z.values
	y.present += z.present
	y.bound += z.bound
	y.over += z.over
	y.runs += z.runs
}

func (y *tally) recall() float64   { return float64(y.present) / float64(max(1, y.values)) }
func (y *tally) bindings() float64 { return float64(y.bound) / float64(max(1, y.values)) }

func (y *tally) String() string {
	return fmt.Sprintf("recall %.3f bound %.3f (%d values, %d of %d above size)", y.recall(), y.bindings(), y.values, y.over, y.runs)
}

// sizes are the shares that conversations are compacted to, in percent.
//
//nolint:gochecknoglobals // a constant table
var sizes = []int{10, 20, 40}

// measure compacts the first 60 % of a recording to each of the sizes with the
// given weights; nil are those of the product.
func measure(t testing.TB, w *facts.Weights, r *recording) []tally {
	cut := cutAt(t, r.Messages, 0.6)
	orig := textOf(t, r.Messages[:cut])
	var vals []string
	for v := range passed(t, r.Messages[cut:]) {
		if strings.Contains(orig, v) {
			vals = append(vals, v)
		}
	}
	out := make([]tally, len(sizes))
	if len(vals) == 0 {
		return out
	}
	for i, percent := range sizes {
		y := tally{runs: 1, values: len(vals)}
		text, fits := squeeze(t, w, r.Messages[:cut], percent)
		if !fits {
			y.over++
		}
		for _, v := range vals {
			switch {
			case !strings.Contains(text, v):
				if os.Getenv("MISSES") != "" {
					t.Logf("MISS %d %s %q", percent, r.File, v)
				}
			case bound(v, orig, text):
				y.bound++
				fallthrough
			default:
				y.present++
			}
		}
		out[i] = y
	}
	return out
}

// TestFutureArgumentRecall measures what a later step still finds after the first
// 60 % of a recorded conversation were compacted to 10, 20 and 40 % without a
// model. The weights were fitted on these recordings: the figures say how well the
// whole works on what it knows. TestHeldOutRecall says how well on others.
func TestFutureArgumentRecall(t *testing.T) {
	bars := [][2]float64{{0.90, 0.75}, {0.97, 0.90}, {0.99, 0.95}}
	files, all := map[string][]tally{}, make([]tally, len(sizes))
	recs := recordings(t)
	for i := range recs {
		for k, y := range measure(t, nil, &recs[i]) {
			if files[recs[i].File] == nil {
				files[recs[i].File] = make([]tally, len(sizes))
			}
			files[recs[i].File][k].add(y)
			all[k].add(y)
		}
	}
	files["all"] = all
	for _, name := range slices.Sorted(maps.Keys(files)) {
		for k, y := range files[name] {
			t.Logf("%-28s %2d %% %s", name, sizes[k], &y)
		}
	}
	for k, y := range all {
		if y.recall() < bars[k][0] {
			t.Errorf("%d %%: recall %.3f is below the bar of %.2f", sizes[k], y.recall(), bars[k][0])
		}
		if y.bindings() < bars[k][1] {
			t.Errorf("%d %%: bound recall %.3f is below the bar of %.2f", sizes[k], y.bindings(), bars[k][1])
		}
	}
}

// squeeze compacts to a share of the characters that are not in system messages.
// A target is in tokens, which count the framing of messages too, so the largest
// target is looked for whose result is within the size.
func squeeze(t testing.TB, w *facts.Weights, part []jsontext.Value, percent int) (text string, fits bool) {
	c := compact.New(compact.Default(), compact.Deps{Weights: w, Counter: func(string) tokens.Counter { return tokens.Chars{Per: 4} }})
	sys := 0
	for _, raw := range part {
		if m, _ := chat.Parse(raw); m.Kind == chat.System {
			sys += 4 + (utf8.RuneCountInString(m.Text())+3)/4
		}
	}
	limit := utf8.RuneCountInString(textOf(t, part)) * percent / 100
	best, target := -1, limit/4+20
	for range 6 {
		res, err := c.Compact(t.Context(), compact.Request{Messages: part, TargetTokens: sys + max(1, target), Force: true})
		if err != nil {
			t.Fatal(err)
		}
		got := textOf(t, res.Messages)
		n := utf8.RuneCountInString(got)
		if better := n <= limit && n > best || best < 0 && (text == "" || n < utf8.RuneCountInString(text)); better {
			text = got
		}
		if n <= limit {
			best = max(best, n)
		}
		if n <= limit && n > limit-12 || target <= 1 {
			break
		}
		target += (limit - n) / 4
		if n > limit {
			target -= 2
		}
	}
	return text, best >= 0
}
