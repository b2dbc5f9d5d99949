package compact_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"memoryd/compact"
	"memoryd/compact/chat"

	"github.com/go-json-experiment/json/jsontext"
)

// TestASmallTargetHoldsWhatCountsOrSaysWhatWould makes forty conversations small, each to one
// of four sizes: the open request stays, what it answers is told, and of what people wrote and
// calls did all is there, or the answer names a size that is. In that size all of it is.
func TestASmallTargetHoldsWhatCountsOrSaysWhatWould(t *testing.T) {
	targets := []int{200, 400, 600, 800}
	told, talks := map[int]int{}, 40
	if testing.Short() {
		talks = 6
	}
	for n := range talks {
		r := planter{rand.New(rand.NewPCG(77, uint64(n)))}
		ms, plants := sown(t, r, talkOf(20+4*n))
		plants = onlyWords(plants)
		ms = append(ms, says("I would close ticket T-9"+fmt.Sprint(100+n)+" now. Shall I?"), user("Yes, please."))
		target := targets[n%len(targets)]
		res := run(t, newCompactor(t), compact.Request{Messages: ms, Force: true, MaxInputTokens: target})
		text := textOf(t, res.Messages)
		if !contains(res.Messages, ms[len(ms)-1]) || !strings.Contains(text, "T-9"+fmt.Sprint(100+n)) {
			t.Errorf("%d at %d: the request, or what it answers, is gone\n%s", n, target, text)
		}
		lost := lostOf(ms, plants, text, t)
		if len(lost) == 0 {
			told[target]++
			continue
		}
		var would int
		if _, after, ok := strings.Cut(res.Detail, "said and done: "); ok {
			_, _ = fmt.Sscanf(after, "%d tokens would hold it", &would)
		}
		if would <= target {
			t.Errorf("%d at %d: without %q, and %q names no larger size\n%s", n, target, lost[0], res.Detail, text)
			continue
		}
		res = run(t, newCompactor(t), compact.Request{Messages: ms, Force: true, MaxInputTokens: would})
		if lost := lostOf(ms, plants, textOf(t, res.Messages), t); len(lost) > 0 || strings.Contains(res.Detail, "no room") {
			t.Errorf("%d at %d: %d tokens do not hold %q (%s)", n, target, would, lost, res.Detail)
		}
	}
	t.Log("whole at once:", told)
}

// onlyWords are the plants that people told, and those that calls did.
func onlyWords(plants []plant) (out []plant) {
	for _, p := range plants {
		if p.kind == "constraint" || p.kind == "note" || p.kind == "decision" || p.kind == "deed" || p.kind == "refusal" {
			out = append(out, p)
		}
	}
	return out
}

// lostOf are the texts of people that do not stand in a text word for word, and the plants
// that are not found.
func lostOf(ms []jsontext.Value, plants []plant, text string, t *testing.T) (lost []string) {
	flat := strings.ReplaceAll(text, "\n> ", "\n")
	for _, raw := range ms {
		if m, err := chat.Parse(raw); err != nil {
			t.Fatal(err)
		} else if m.Kind == chat.User && !strings.Contains(flat, strings.TrimSpace(m.Text())) {
			lost = append(lost, m.Text())
		}
	}
	for _, p := range plants {
		if !near(text, p.together) {
			lost = append(lost, strings.Join(p.together, " "))
		}
	}
	return lost
}
