package rules_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memoryd"
	"memoryd/evaluate/rules"
	"memoryd/internal/recordtest"
)

// exitOnly reports whether nothing but an exit code says that the call failed:
// such calls are left out.
func exitOnly(r *recordtest.Call) bool {
	return r.Gold == "error" && r.Success && strings.TrimSpace(r.Output) == ""
}

// goldLevels are the labels in the order of the confusion table.
var goldLevels = []string{"error", "partial", "ok"}

// confusion is a confusion table: gold by score, with the sure part beside it.
type confusion struct {
	count [3][3]int // gold level, score level
	sure  [3][3]int
}

func levelOf(score float64) int { return int(score * 2) }

func (c *confusion) add(gold string, v rules.Result) {
	for g, name := range goldLevels {
		if name == gold {
			c.count[g][levelOf(v.Score)]++
			if v.Sure {
				c.sure[g][levelOf(v.Score)]++
			}
		}
	}
}

func (c *confusion) merge(o *confusion) {
	for g := range 3 {
		for s := range 3 {
			c.count[g][s] += o.count[g][s]
			c.sure[g][s] += o.sure[g][s]
		}
	}
}

func (c *confusion) errors() int { return c.count[0][0] + c.count[0][1] + c.count[0][2] }

func (c *confusion) precision() float64 {
	return ratio(c.count[0][0], c.count[0][0]+c.count[1][0]+c.count[2][0])
}

func (c *confusion) recall() float64 { return ratio(c.count[0][0], c.errors()) }

// kappa is Cohen's for the question error or not.
func (c *confusion) kappa() float64 {
	var n, agree, gold, said float64
	for g := range 3 {
		for s := range 3 {
			x := float64(c.count[g][s])
			n += x
			if (g == 0) == (s == 0) {
				agree += x
			}
			if g == 0 {
				gold += x
			}
			if s == 0 {
				said += x
			}
		}
	}
	chance := (gold*said + (n-gold)*(n-said)) / (n * n)
	if chance == 1 {
		return 1
	}
	return (agree/n - chance) / (1 - chance)
}

// sureShare is the part of the calls with a sure evaluation; sureRight the part of
// those that agree with the label on error or not, sureExact on the level.
func (c *confusion) sureShare() float64 { return ratio(total(c.sure), total(c.count)) }

func (c *confusion) sureRight() float64 {
	s := c.sure
	return ratio(s[0][0]+s[1][1]+s[1][2]+s[2][1]+s[2][2], total(s))
}

func (c *confusion) sureExact() float64 {
	return ratio(c.sure[0][0]+c.sure[1][1]+c.sure[2][2], total(c.sure))
}

func total(t [3][3]int) (n int) {
	for g := range t {
		for s := range t[g] {
			n += t[g][s]
		}
	}
	return n
}

func ratio(a, b int) float64 {
	if b == 0 {
		return 1
	}
	return float64(a) / float64(b)
}

func (c *confusion) String() string {
	var b strings.Builder
	for g, name := range goldLevels {
		fmt.Fprintf(&b, "    %-8s", name)
		for s := range 3 {
			fmt.Fprintf(&b, " %5d", c.count[g][s])
		}
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "    precision %.4f  recall %.4f  kappa %.4f  sure: coverage %.3f, right %.4f, exact level %.4f",
		c.precision(), c.recall(), c.kappa(), c.sureShare(), c.sureRight(), c.sureExact())
	return b.String()
}

// measure judges a recording in order, learning as a server does, and reports
// each labelled call to seen.
func measure(j *rules.Judge, calls []recordtest.Call, seen func(*recordtest.Call, rules.Result)) {
	profiles := map[memoryd.ToolRef]*rules.Profile{}
	for i := range calls {
		r := &calls[i]
		p := profiles[r.ToolRef]
		if p == nil {
			p = &rules.Profile{}
			profiles[r.ToolRef] = p
		}
		v := j.Judge(&r.Call, p)
		r.Evaluation = v.Evaluation
		p.Observe(&r.Call, v.Doubt)
		if r.Gold != "" && !exitOnly(r) {
			seen(r, v)
		}
	}
}

// TestRecordedBars measures the judge on recordings with ground truth. With
// MEMORYD_TEST_MISSES set it names the calls that it got wrong.
func TestRecordedBars(t *testing.T) {
	misses := os.Getenv("MEMORYD_TEST_MISSES")
	j := rules.New()
	var all confusion
	for _, file := range recordtest.Files(t) {
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(file), "calls_"), ".jsonl.gz")
		var c confusion
		measure(j, recordtest.Read(t, file), func(r *recordtest.Call, v rules.Result) {
			c.add(r.Gold, v)
			if misses != "" && strings.Contains(name, misses) {
				logMiss(t, r, v)
			}
		})
		all.merge(&c)
		t.Logf("%s: gold by score 0.0, 0.5, 1.0\n%s", name, &c)
		if c.errors() >= 20 {
			check(t, name, &c, 0.95, 0.80)
		}
	}
	t.Logf("all: gold by score 0.0, 0.5, 1.0\n%s", &all)
	check(t, "all", &all, 0.98, 0.88)
	if all.sureRight() < 0.99 {
		t.Errorf("sure verdicts are %.4f right, want 0.99", all.sureRight())
	}
}

func check(t *testing.T, name string, c *confusion, precision, recall float64) {
	t.Helper()
	if c.precision() < precision {
		t.Errorf("%s: precision %.4f, want %.2f", name, c.precision(), precision)
	}
	if c.recall() < recall {
		t.Errorf("%s: recall %.4f, want %.2f", name, c.recall(), recall)
	}
}

func logMiss(t *testing.T, r *recordtest.Call, v rules.Result) {
	t.Helper()
	exact := goldLevels[levelOf(v.Score)] == r.Gold
	if (r.Gold == "error") == (v.Score == 0) && (exact || !v.Sure) {
		return
	}
	in, out := string(r.Input), r.Output
	t.Logf("gold %s, score %v by %s sure=%v %s(%.220s) => %.260q", r.Gold, v.Score, v.Rule, v.Sure, r.Tool, in, out)
}
