package guidelines_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"memoryd"
	"memoryd/guidelines"
	"memoryd/guidelines/evidence"
	"memoryd/guidelines/rules"
	"memoryd/internal/configtest"
)

// hidden is a rule of a made-up tool that nobody is told.
type hidden struct {
	family, p, q string
	bound        int
	vals         []string
	say          string // the message; a code or a status says nothing of the rule
	informs      bool
	need         []string // what a line must hold to tell it
}

// wordings are how the families are told, in several languages.
var wordings = map[string][]string{
	"required": {"%p: field may not be absent", "Ohne %p geht es nicht.", "%pが入力されていません。"}, "together": {"%p and %q come as a pair", "%p nur zusammen mit %q.", "%p须与%q同时提供。"},
	"exclusive": {"Choose between %p and %q.", "No se admiten %p y %q a la vez."}, "enum": {"%p: known are %v", "%p kennt nur %v."}, "max": {"%p: more than %b", "%p liegt über %b.", "%p不得超过%b。"},
	"min": {"%b is the least we take as %p.", "%p no llega a %b."}, "step": {"%p goes in steps of %b.", "%p必须是%b的倍数。"}, "needs": {"%p over %b takes %q", "Ab %b bei %p braucht es %q."},
	"value": {"%p: %x is closed", "%x gibt es als %p nicht mehr."}, "relation": {"%q does not follow %p", "%q liegt vor %p."},
}

var names = strings.Fields("amount region mode depth batch tier owner start finish code unit channel span ratio lane grade slot margin ref zone shift weight")

func newHidden(r *rand.Rand, family string, pool *[]string) *hidden {
	take := func() string { n := (*pool)[0]; *pool = (*pool)[1:]; return n }
	h := &hidden{family: family, p: take(), bound: []int{12, 25, 40, 60, 150}[r.IntN(5)]}
	h.need = []string{h.p}
	for _, i := range r.Perm(8)[:4] {
		h.vals = append(h.vals, strings.Fields("amber basalt cedar delta ember fjord garnet harbor")[i])
	}
	switch family {
	case "together", "exclusive", "needs", "relation":
		h.q = take()
		h.need = append(h.need, h.q)
	case "max", "min", "step":
		h.need = append(h.need, fmt.Sprint(h.bound))
	case "enum":
		h.need = append(h.need, h.vals[0])
	case "value":
		h.need = append(h.need, h.vals[3])
	}
	switch style := r.IntN(4); style {
	case 0:
		h.say = fmt.Sprintf(`{"ok":false,"code":"E%d"}`, 1000+r.IntN(9000))
	case 1:
		h.say = "HTTP 422 Unprocessable Entity"
	default:
		of := wordings[family]
		h.say, h.informs = strings.NewReplacer("%p", h.p, "%q", h.q, "%b", fmt.Sprint(h.bound), "%v", strings.Join(h.vals[:3], ", "), "%x", h.vals[3]).Replace(of[r.IntN(len(of))]), true
	}
	return h
}

func (h *hidden) fill(in map[string]any, r *rand.Rand) {
	switch h.family {
	case "required", "enum", "value":
		in[h.p] = h.vals[r.IntN(3)]
	case "together":
		if r.IntN(10) < 7 {
			in[h.p], in[h.q] = h.vals[r.IntN(4)], 1+r.IntN(9)
		}
	case "exclusive":
		in[[]string{h.p, h.q}[r.IntN(2)]] = h.vals[r.IntN(4)]
	case "max":
		in[h.p] = h.bound/3 + r.IntN(h.bound-h.bound/3+1)
	case "min":
		in[h.p] = h.bound + r.IntN(2*h.bound)
	case "step":
		in[h.p] = h.bound * (1 + r.IntN(9))
	case "needs":
		if in[h.p] = 1 + r.IntN(2*h.bound); in[h.p].(int) > h.bound || r.IntN(5) == 0 {
			in[h.q] = h.vals[r.IntN(4)]
		}
	case "relation":
		day := 1 + r.IntN(14)
		in[h.p], in[h.q] = fmt.Sprintf("2027-03-%02d", day), fmt.Sprintf("2027-03-%02d", day+1+r.IntN(9))
	}
}

func (h *hidden) spoil(in map[string]any, r *rand.Rand) {
	switch h.family {
	case "required":
		delete(in, h.p)
	case "together":
		in[h.p] = h.vals[0]
		delete(in, h.q)
	case "exclusive":
		in[h.p], in[h.q] = h.vals[0], h.vals[1]
	case "enum", "value":
		in[h.p] = h.vals[3]
	case "max":
		in[h.p] = h.bound + 1 + r.IntN(3*h.bound)
	case "min":
		in[h.p] = r.IntN(h.bound)
	case "step":
		in[h.p] = h.bound*(1+r.IntN(9)) + 1 + r.IntN(h.bound-1)
	case "needs":
		in[h.p] = h.bound + 1 + r.IntN(h.bound)
		delete(in, h.q)
	case "relation":
		in[h.p], in[h.q] = in[h.q], in[h.p]
	}
}

func (h *hidden) breaks(in map[string]any) bool {
	n, _ := in[h.p].(int)
	_, p := in[h.p]
	_, q := in[h.q]
	switch h.family {
	case "required":
		return !p
	case "together":
		return p != q
	case "exclusive":
		return p && q
	case "enum":
		return !slices.Contains(h.vals[:3], fmt.Sprint(in[h.p]))
	case "value":
		return in[h.p] == h.vals[3]
	case "max":
		return n > h.bound
	case "min":
		return n < h.bound
	case "step":
		return n%h.bound != 0
	case "needs":
		return n > h.bound && !q
	}
	return fmt.Sprint(in[h.p]) >= fmt.Sprint(in[h.q])
}

// told reports whether a line of a text holds all that a rule needs, or its message.
func (h *hidden) told(text string) bool {
	for line := range strings.Lines(text) {
		if strings.Contains(line, "ypical good call") || strings.Contains(line, " took ") {
			continue
		}
		if h.informs && strings.Contains(line, h.say) || !slices.ContainsFunc(h.need, func(n string) bool { return !strings.Contains(line, n) }) {
			return true
		}
	}
	return false
}

// made is a tool of the loop with what was recorded of it.
type invented struct {
	name   string
	free   string
	rules  []*hidden
	calls  []memoryd.Call
	tried  []tried
	heard  map[string]int
	text   string
	tested []evidence.Rule
}

// loop lets agents work that obey nine of ten things that they are told, and gives the
// share of calls that failed: over the whole run, and in the last quarter.
func loop(t *testing.T, seed uint64, ours bool) (whole, last float64, wrongWarnings int) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 32))
	families := strings.Fields("required together exclusive enum max min step needs value relation")
	var tools []*invented
	for i := range 6 {
		pool := slices.Clone(names)
		r.Shuffle(len(pool), func(i, j int) { pool[i], pool[j] = pool[j], pool[i] })
		tool := &invented{name: fmt.Sprintf("tool_%d", i), free: "note", heard: map[string]int{}}
		for _, f := range r.Perm(len(families))[:2+r.IntN(2)] {
			tool.rules = append(tool.rules, newHidden(r, families[f], &pool))
		}
		tools = append(tools, tool)
	}
	writer := guidelines.NewRules(configtest.Section[guidelines.Config]("guidelines"))
	var failed []bool
	for run := range 50 {
		if run > 0 && run%5 == 0 {
			for _, tool := range tools {
				tool.learn(t, writer, ours)
			}
		}
		for _, k := range r.Perm(len(tools))[:3] {
			failed = append(failed, tools[k].work(r, run, ours, &wrongWarnings)...)
		}
	}
	share := func(of []bool) float64 {
		n := 0.0
		for _, f := range of {
			if f {
				n++
			}
		}
		return n / float64(len(of))
	}
	return share(failed), share(failed[3*len(failed)/4:]), wrongWarnings
}

func (tool *invented) learn(t *testing.T, writer *guidelines.Rules, ours bool) {
	t.Helper()
	if !ours {
		tool.text = contrast(tool.tried)
		return
	}
	d, err := writer.Compose(t.Context(), memoryd.Tool{ToolRef: memoryd.ToolRef{Workspace: "w", Tool: tool.name}}, tool.calls, 20, nil)
	if err != nil {
		t.Fatal(err)
	}
	tool.text, _, _ = strings.Cut(d.Render(), "## Statistics")
	tool.tested = evidence.Mine(tool.calls).Rules
}

// known reports whether an agent reads of a rule: in the guideline, or in what rivals say,
// lines and the five most frequent messages.
func (tool *invented) known(h *hidden, ours bool) bool {
	if h.told(tool.text) {
		return true
	}
	more := 0
	for m, n := range tool.heard {
		if m != h.say && n > tool.heard[h.say] {
			more++
		}
	}
	return !ours && h.informs && tool.heard[h.say] > 0 && more < 5
}

// work makes calls of a tool in a run.
func (tool *invented) work(r *rand.Rand, run int, ours bool, wrongWarnings *int) (failed []bool) {
	bad := map[*hidden]bool{}
	for _, h := range tool.rules {
		bad[h] = r.Float64() < 0.4 && (!tool.known(h, ours) || r.Float64() > 0.9)
	}
	build := func() map[string]any {
		in := map[string]any{tool.free: fmt.Sprintf("n%d", r.IntN(30))}
		for _, h := range tool.rules {
			h.fill(in, r)
		}
		for _, h := range tool.rules {
			if bad[h] {
				h.spoil(in, r)
			}
		}
		return in
	}
	in := build()
	for range 3 {
		at := slices.IndexFunc(tool.rules, func(h *hidden) bool { return h.breaks(in) })
		raw, _ := json.Marshal(in)
		planned := rules.Plan(&rules.Call{Input: raw})
		for i := range tool.tested {
			w := &tool.tested[i]
			if !w.Holds(planned) {
				continue
			}
			if at < 0 {
				*wrongWarnings++
			} else if tool.rules[at].told(w.Line) && r.Float64() < 0.9 {
				bad[tool.rules[at]] = false
				in = build()
				at = slices.IndexFunc(tool.rules, func(h *hidden) bool { return h.breaks(in) })
				raw, _ = json.Marshal(in)
			}
			break
		}
		c := memoryd.Call{
			ToolRef: memoryd.ToolRef{Workspace: "w", Tool: tool.name}, Seq: int64(len(tool.calls) + 1), Input: raw, Output: `{"rows":["a"],"count":1}`, Success: true, TokenCost: -1,
			Time: time.Date(2027, 1, 1, 0, run, len(tool.calls), 0, time.UTC), Metadata: fmt.Appendf(nil, `{"trajectory_id":"r%d"}`, run),
			Evaluation: memoryd.Evaluation{State: memoryd.Judged, Score: memoryd.ScoreSuccess},
		}
		c.Key = memoryd.CallKey{byte(len(tool.calls)), byte(len(tool.calls) >> 8), 1}
		kind := ""
		if at >= 0 {
			kind = tool.rules[at].say
			tool.heard[kind]++
			c.Output, c.Evaluation.Score = kind, memoryd.ScoreFailure
		}
		tool.calls, tool.tried = append(tool.calls, c), append(tool.tried, tried{in, run, kind})
		if failed = append(failed, at >= 0); at < 0 {
			break
		}
		if d := r.Float64(); d < 0.6 {
			bad[tool.rules[at]] = false
			in = build()
		} else if d > 0.85 {
			break
		}
	}
	return failed
}

// The bar of the room: on tools whose rules nobody knows, agents that obey the guideline
// and its warnings fail less than those that obey a list of the five most frequent
// messages and the plain contrast of failed and good inputs together. measure/closed_loop.py
// is the same with a server; these seeds were used for nothing else.
func TestTheRivalsAreBeaten(t *testing.T) {
	var ours, rivals [2]float64
	wrong := 0
	const seeds = 6
	for seed := range uint64(seeds) {
		for _, is := range []bool{true, false} {
			whole, last, warned := loop(t, 9100+seed, is)
			if is {
				ours[0], ours[1], wrong = ours[0]+whole/seeds, ours[1]+last/seeds, wrong+warned
			} else {
				rivals[0], rivals[1] = rivals[0]+whole/seeds, rivals[1]+last/seeds
			}
		}
	}
	t.Logf("failed calls, whole run and last quarter: ours %.3f %.3f, list and contrast %.3f %.3f; %d good calls warned of", ours[0], ours[1], rivals[0], rivals[1], wrong)
	if ours[0] > 0.97*rivals[0] || ours[1] > 0.85*rivals[1] {
		t.Error("the rivals are as good")
	}
}
