package looptest

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
)

// tried is a call of the loop: what was sent, in which run, and what kind of failure came
// back; "" for none.
type tried struct {
	in    map[string]any
	facts *facts
	run   string
	kind  string
}

// facts are what the run had shown when a call was made.
type facts struct {
	states map[string]string // by identifier
	called bool              // the helper
}

// Rivals are the list of the five most frequent messages, the contrast of failed and good
// calls, or both together.
type Rivals struct {
	List, Contrast bool

	tried map[string][]tried
	heard map[string]map[string]int
	text  map[string]string
	runs  map[string]*facts
}

// Record records a call.
func (v *Rivals) Record(c *Call) {
	if v.tried == nil {
		v.tried, v.heard, v.text, v.runs = map[string][]tried{}, map[string]map[string]int{}, map[string]string{}, map[string]*facts{}
	}
	run := v.runs[c.Run]
	if run == nil {
		run = &facts{states: map[string]string{}}
		v.runs[c.Run] = run
	}
	if c.Helper {
		run.called = true
		if m := issued.FindStringSubmatch(c.Output); m != nil {
			run.states[m[1]] = m[2]
		}
		return
	}
	t := tried{in: c.Input, facts: &facts{maps.Clone(run.states), run.called}, run: c.Run}
	if c.Score < 1 || c.Unreported {
		t.kind = c.Output
		if v.heard[c.Tool] == nil {
			v.heard[c.Tool] = map[string]int{}
		}
		v.heard[c.Tool][c.Output]++
	}
	v.tried[c.Tool] = append(v.tried[c.Tool], t)
}

var issued = regexp.MustCompile(`"id":"([^"]+)","status":"([^"]+)"`)

// Write contrasts failed calls with good ones.
func (v *Rivals) Write(tool string) {
	if v.Contrast {
		v.text[tool] = contrast(v.tried[tool], "open_"+strings.TrimPrefix(tool, "do_"))
	}
}

// Text returns both texts.
func (v *Rivals) Text(tool string) string {
	lines := []string{v.text[tool]}
	if v.List {
		heard := v.heard[tool]
		list := slices.SortedFunc(maps.Keys(heard), func(a, b string) int { return cmp.Or(heard[b]-heard[a], cmp.Compare(a, b)) })
		lines = append(lines, list[:min(len(list), 5)]...)
	}
	return strings.Join(lines, "\n")
}

// Forecast is empty.
func (v *Rivals) Forecast(string, string, map[string]any) Advice { return Advice{} }

// claim is a hypothesis of the rival: a line, and when a call breaks it.
type claim struct {
	line   string
	breaks func(in map[string]any, f *facts) bool
}

var (
	letter = regexp.MustCompile(`[A-Za-z]`)
	digits = regexp.MustCompile(`\d+`)
)

func maskOf(v any) string {
	return letter.ReplaceAllString(digits.ReplaceAllStringFunc(fmt.Sprint(v), func(s string) string { return strings.Repeat("0", len(s)) }),
		"A")
}

// claims are the hypotheses over the inputs of calls. No words are read.
func claims(calls []tried, helper string) (list []claim) {
	seen := map[string]bool{}
	for _, c := range calls {
		for p := range c.in {
			seen[p] = true
		}
	}
	names := slices.Sorted(maps.Keys(seen))
	has := func(in map[string]any, p string) bool { _, ok := in[p]; return ok }
	num := func(in map[string]any, p string) float64 {
		if n, ok := in[p].(int); ok {
			return float64(n)
		}
		return math.NaN()
	}
	list = append(list, claim{"call " + helper + " first", func(_ map[string]any, f *facts) bool { return !f.called }})
	for _, p := range names {
		list = append(list, claim{
			p + " from an earlier answer of " + helper,
			func(in map[string]any, f *facts) bool { return has(in, p) && f.states[fmt.Sprint(in[p])] == "" },
		})
		list = append(list, claim{
			p + " not where status is done; live and done differ",
			func(in map[string]any, f *facts) bool { return f.states[fmt.Sprint(in[p])] == "done" },
		})
		list = append(list, claim{"always give " + p, func(in map[string]any, _ *facts) bool { return !has(in, p) }},
			claim{"leave out " + p, func(in map[string]any, _ *facts) bool { return has(in, p) }})
		hi, lo, step, first := math.Inf(-1), math.Inf(1), 0, math.Inf(1)
		few, forms := map[string]bool{}, map[string]bool{}
		for _, c := range calls {
			n := num(c.in, p)
			switch {
			case !has(c.in, p) || c.kind != "" && math.IsNaN(n):
			case c.kind != "":
				first = min(first, n)
			case math.IsNaN(n):
				few[fmt.Sprint(c.in[p])], forms[maskOf(c.in[p])] = true, true
			default:
				hi, lo = max(hi, n), min(lo, n)
				for a, b := int(n), step; ; a, b = b, a%b {
					if b == 0 {
						step = a
						break
					}
				}
			}
		}
		if hi >= lo {
			list = append(list, claim{fmt.Sprintf("%s at most %v", p, hi), func(in map[string]any, _ *facts) bool { return num(in, p) > hi }},
				claim{fmt.Sprintf("%s at least %v", p, lo), func(in map[string]any, _ *facts) bool { return num(in, p) < lo }})
			if step > 1 {
				list = append(list, claim{
					fmt.Sprintf("%s in steps of %d", p, step),
					func(in map[string]any, _ *facts) bool { return has(in, p) && int(num(in, p))%step != 0 },
				})
			}
		}
		if len(few) > 0 && len(few) <= 8 {
			list = append(list, claim{
				p + " one of " + strings.Join(slices.Sorted(maps.Keys(few)), ", "),
				func(in map[string]any, _ *facts) bool { return has(in, p) && !few[fmt.Sprint(in[p])] },
			})
		}
		if len(forms) > 0 && len(forms) <= 4 {
			list = append(list, claim{
				p + " written like " + strings.Join(slices.Sorted(maps.Keys(forms)), ", "),
				func(in map[string]any, _ *facts) bool { return has(in, p) && !forms[maskOf(in[p])] },
			})
		}
		for _, q := range names {
			if q > p {
				list = append(list, claim{p + " and " + q + " together", func(in map[string]any, _ *facts) bool { return has(in, p) != has(in, q) }},
					claim{p + " or " + q + ", not both", func(in map[string]any, _ *facts) bool { return has(in, p) && has(in, q) }})
			}
			most := math.Inf(-1)
			for _, c := range calls {
				if n := num(c.in, p); c.kind == "" && !has(c.in, q) && n > most {
					most = n
				}
			}
			if q != p && !math.IsInf(most, -1) {
				list = append(list, claim{
					fmt.Sprintf("%s over %v needs %s", p, most, q),
					func(in map[string]any, _ *facts) bool { return num(in, p) > most && !has(in, q) },
				})
			}
			if q != p {
				list = append(list, claim{q + " after " + p, func(in map[string]any, _ *facts) bool {
					return has(in, p) && has(in, q) && fmt.Sprint(in[p]) >= fmt.Sprint(in[q])
				}})
			}
		}
	}
	return list
}

// contrast is the rival of measure/closed_loop.py: for each kind of failure the claim that
// holds for nearly all of its calls and for nearly no good one, in three calls of two runs.
func contrast(calls []tried, helper string) string {
	calls = calls[max(0, len(calls)-400):]
	all, kinds, good := claims(calls, helper), map[string]bool{}, 0.0
	for _, c := range calls {
		if kinds[c.kind] = true; c.kind == "" {
			good++
		}
	}
	delete(kinds, "")
	share := func(c *claim, of []tried, kind string) (n, all float64) {
		for _, o := range of {
			if o.kind == kind {
				if all++; c.breaks(o.in, o.facts) {
					n++
				}
			}
		}
		return n, max(1, all)
	}
	var lines []string
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		left := slices.Clone(calls)
		for range 3 {
			if len(all) == 0 || good < 3 {
				break
			}
			worth := func(c *claim) float64 {
				n, of := share(c, left, kind)
				wrong, goods := share(c, calls, "")
				return n/of - 4*wrong/goods
			}
			best := slices.MaxFunc(all, func(a, b claim) int {
				return cmp.Or(cmp.Compare(worth(&a), worth(&b)), cmp.Compare(len(b.line), len(a.line)))
			})
			n, _ := share(&best, left, kind)
			runs := map[string]bool{}
			for _, o := range left {
				runs[o.run] = runs[o.run] || o.kind == kind && best.breaks(o.in, o.facts)
			}
			maps.DeleteFunc(runs, func(_ string, broke bool) bool { return !broke })
			if wrong, _ := share(&best, calls, ""); n < 3 || len(runs) < 2 || wrong > 0.03*good {
				break
			}
			lines = append(lines, best.line+" "+strings.Join(digits.FindAllString(kind, -1), " "))
			left = slices.DeleteFunc(left, func(o tried) bool { return o.kind == kind && best.breaks(o.in, o.facts) })
		}
	}
	return strings.Join(lines, "\n")
}
