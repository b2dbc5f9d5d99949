package records_test

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"memoryd/compact/records"
)

// talk is one recorded conversation of a family, up to the cut, and the values that
// calls after it pass.
type talk struct {
	texts  []records.Text
	size   int
	wanted []string
}

var quoted = regexp.MustCompile(`[A-Za-z0-9_#@./:+-]{4,}`)

// families reads the recordings below MEMORYD_TEST_DATA, cut at 60 % of their messages.
func families(t *testing.T) map[string][]talk {
	dir := os.Getenv("MEMORYD_TEST_DATA")
	if dir == "" {
		t.Skip("MEMORYD_TEST_DATA names no folder with recorded conversations (chats_*.jsonl.gz)")
	}
	files, err := filepath.Glob(filepath.Join(dir, "chats_*.jsonl.gz"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings in MEMORYD_TEST_DATA (%v)", err)
	}
	out := map[string][]talk{}
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		z, err := gzip.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		family := strings.TrimSuffix(strings.TrimPrefix(strings.TrimSuffix(filepath.Base(name), ".jsonl.gz"), "chats_"), "_long")
		sc := bufio.NewScanner(z)
		sc.Buffer(nil, 1<<26)
		for sc.Scan() {
			if x := talkOf(t, sc.Bytes()); len(x.wanted) > 2 {
				out[family] = append(out[family], x)
			}
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

func talkOf(t *testing.T, line []byte) (x talk) {
	var r struct {
		Messages []struct {
			Role    string  `json:"role"`
			Content *string `json:"content"`
			ID      string  `json:"tool_call_id"`
			Calls   []struct {
				ID       string                           `json:"id"`
				Function struct{ Name, Arguments string } `json:"function"`
			} `json:"tool_calls"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(line, &r); err != nil {
		t.Fatal(err)
	}
	var before strings.Builder
	type call struct{ name, args string }
	open, seen := map[string]call{}, map[string]bool{}
	for i, m := range r.Messages {
		text := ""
		if m.Content != nil {
			text = *m.Content
		}
		if i*10 >= len(r.Messages)*6 {
			for _, c := range m.Calls {
				for _, w := range quoted.FindAllString(c.Function.Arguments, -1) {
					if strings.ContainsAny(w, "0123456789_#@/") && !seen[w] && strings.Contains(before.String(), w) {
						seen[w] = true
						x.wanted = append(x.wanted, w)
					}
				}
			}
			continue
		}
		switch m.Role {
		case "user":
			x.texts = append(x.texts, records.Text{Body: text, From: records.User, Place: i})
		case "assistant":
			x.texts = append(x.texts, records.Text{Body: text, From: records.Assistant, Place: i})
			for _, c := range m.Calls {
				open[c.ID] = call{c.Function.Name, c.Function.Arguments}
				x.texts = append(x.texts, records.Text{Body: c.Function.Arguments, From: records.Call, Place: i, Tool: c.Function.Name, Quiet: true})
				before.WriteString(c.Function.Arguments + "\n")
			}
		case "tool":
			c := open[m.ID]
			x.texts = append(x.texts, records.Text{Body: text, Place: i, Tool: c.name, Args: c.args})
		default:
			continue
		}
		before.WriteString(text + "\n")
	}
	x.size = before.Len() / 4
	return x
}

// share is the mean share of the wanted values that a fifth of the size keeps.
func share(talks []talk, r records.Ranking) float64 {
	sum := 0.0
	for i := range talks {
		sel := records.Collect(talks[i].texts, records.Options{Count: words, Ranking: &r}).Select(talks[i].size / 5)
		held, hits := strings.Join(append(sel.Records, sel.Said...), "\n"), 0
		for _, w := range talks[i].wanted {
			if strings.Contains(held, w) {
				hits++
			}
		}
		sum += float64(hits) / float64(len(talks[i].wanted))
	}
	return sum / float64(max(1, len(talks)))
}

// TestTheRankingOnAFamilyLeftOut says what numbers set on all families but one lose on
// that one: of the ranking in use and of each of its main numbers halved and doubled, the
// best of the others is taken, and compared with the best for the family itself. Choosing
// must not pay much there, and the ranking in use must be near both.
func TestTheRankingOnAFamilyLeftOut(t *testing.T) {
	all := families(t)
	rankings := []records.Ranking{records.DefaultRanking()}
	for _, by := range []float64{0.5, 2} {
		for _, number := range []func(*records.Ranking) *float64{
			func(r *records.Ranking) *float64 { return &r.Word }, func(r *records.Ranking) *float64 { return &r.Number }, func(r *records.Ranking) *float64 { return &r.Code },
			func(r *records.Ranking) *float64 { return &r.Parameter }, func(r *records.Ranking) *float64 { return &r.Unlabelled }, func(r *records.Ranking) *float64 { return &r.Rivals },
			func(r *records.Ranking) *float64 { return &r.HalfLife }, func(r *records.Ranking) *float64 { return &r.Covered }, func(r *records.Ranking) *float64 { return &r.Single },
			func(r *records.Ranking) *float64 { return &r.Said }, func(r *records.Ranking) *float64 { return &r.Quote }, func(r *records.Ranking) *float64 { return &r.Passed },
		} {
			r := records.DefaultRanking()
			*number(&r) *= by
			rankings = append(rankings, r)
		}
	}
	got := map[string][]float64{}
	for name, talks := range all {
		for _, r := range rankings {
			got[name] = append(got[name], share(talks, r))
		}
	}
	for name := range all {
		chosen, best := 0, 0
		others := func(k int) (sum float64) {
			for other := range all {
				if other != name {
					sum += got[other][k]
				}
			}
			return sum
		}
		for k := range rankings {
			if others(k) > others(chosen) {
				chosen = k
			}
			if got[name][k] > got[name][best] {
				best = k
			}
		}
		t.Logf("%-20s %3d conversations: in use %.3f, set on the others %.3f, set on itself %.3f", name, len(all[name]), got[name][0], got[name][chosen], got[name][best])
		if len(all[name]) >= 15 && got[name][best]-got[name][0] > 0.05 {
			t.Errorf("%s: the ranking in use is %.3f below the best for the family", name, got[name][best]-got[name][0])
		}
	}
}
