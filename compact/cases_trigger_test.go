package compact_test

import (
	"fmt"
	"testing"

	"memoryd/internal/configtest"

	"memoryd"
	"memoryd/compact"
	"memoryd/compact/tokens"

	"github.com/go-json-experiment/json/jsontext"
)

// counterFunc makes a counter of a function.
type counterFunc func(text string) int

func (f counterFunc) Count(text string) int { return f(text) }

// Part C: triggers, at both sides of every boundary.

// flat counts a fixed number of tokens for any text that is not empty, so that a
// user or assistant message costs 10 with its framing of 4.
func flat(string) tokens.Counter {
	return counterFunc(func(s string) int {
		if s == "" {
			return 0
		}
		return 6
	})
}

// pad gives n short user messages.
func pad(n int) []jsontext.Value {
	var ms []jsontext.Value
	for i := range n {
		ms = append(ms, user(fmt.Sprintf("note %d", i)))
	}
	return ms
}

func forgeReason(t *testing.T, overrides string, ms []jsontext.Value) compact.Reason {
	t.Helper()
	cfg := configtest.Section[compact.Config]("compact")
	cfg.MinGainFraction = 0
	c := compactorWith(t, cfg, compact.Deps{})
	return run(t, c, compact.Request{Messages: ms, Profile: "forge", Overrides: jsontext.Value(overrides)}).Reason
}

func TestCase20And21TheBufferAndItsAges(t *testing.T) {
	tests := map[string]struct {
		ms   []jsontext.Value
		want compact.Reason
	}{
		"nine old calls":                     {join(steps("a", 9, 40), pad(20)), compact.NotTriggered},
		"ten old calls":                      {join(steps("a", 10, 40), pad(20)), compact.ForBuffer},
		"ten calls, the newest one too new":  {join(steps("a", 10, 40), pad(19)), compact.NotTriggered},
		"nothing old: 20 messages":           {join(steps("a", 1, 40), pad(18)), compact.NothingToRemove},
		"one old call: age 39":               {join(steps("a", 1, 40), pad(38)), compact.NotTriggered},
		"one old call: age 40":               {join(steps("a", 1, 40), pad(39)), compact.ForAge},
		"calls count, results do not":        {join(steps("a", 5, 40), pad(20)), compact.NotTriggered},
		"parallel calls count one by one":    {join(parallel(10), pad(20)), compact.ForBuffer},
		"nine parallel calls are not enough": {join(parallel(9), pad(20)), compact.NotTriggered},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := forgeReason(t, "{}", tc.ms); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

func parallel(n int) []jsontext.Value {
	var ids []string
	for i := range n {
		ids = append(ids, fmt.Sprintf("par%d", i))
	}
	ms := []jsontext.Value{calls(ids...)}
	for _, id := range ids {
		ms = append(ms, result(id, long(id, 40)))
	}
	return ms
}

func TestCase22ProtectedGroupsNeitherCountNorAge(t *testing.T) {
	excluded := []jsontext.Value{}
	for i := range 12 {
		id := fmt.Sprint("e", i)
		excluded = append(excluded, calls(id+"@converse"), result(id, long(id, 40)))
	}
	if got := forgeReason(t, "{}", join(excluded, pad(50))); got != compact.NothingToRemove {
		t.Errorf("excluded calls: %s", got)
	}
	if got := forgeReason(t, "{}", join(calls("open"), pad(50))); got != compact.NothingToRemove {
		t.Errorf("a pending call: %s", got)
	}
	pinned := join(steps("a", 12, 40), pad(50))
	r := compact.Request{Messages: pinned, Profile: "forge"}
	for i := range 24 {
		r.Pins = append(r.Pins, i)
	}
	if got := run(t, newCompactor(t), r).Reason; got != compact.NothingToRemove {
		t.Errorf("pinned calls: %s", got)
	}
}

func TestCase23TheThreeScenariosOfADR15(t *testing.T) {
	tests := map[string]struct {
		calls, oldest int
		want          compact.Reason
	}{
		"12 calls, oldest at 30": {12, 30, compact.ForBuffer},
		"6 calls, oldest at 50":  {6, 50, compact.ForAge},
		"5 calls, oldest at 30":  {5, 30, compact.NotTriggered},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			// One message with all calls; its results and notes lie behind it.
			ms := join(parallel(tc.calls))
			ms = join(ms, pad(tc.oldest-(len(ms)-1)))
			overrides := fmt.Sprintf(`{"messages_old_threshold":%d}`, min(20, tc.oldest-tc.calls))
			if got := forgeReason(t, overrides, ms); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

func TestCase24EveryThresholdBelowAtAndAbove(t *testing.T) {
	ms := pad(10) // 100 tokens with the flat counter
	tests := map[string]struct {
		trigger string
		window  int
		want    compact.Reason
	}{
		"tokens above":      {`{"type":"tokens","value":101}`, 0, compact.NotTriggered},
		"tokens at":         {`{"type":"tokens","value":100}`, 0, compact.ForTokens},
		"tokens below":      {`{"type":"tokens","value":99}`, 0, compact.ForTokens},
		"messages above":    {`{"messages":11}`, 0, compact.NotTriggered},
		"messages at":       {`{"messages":10}`, 0, compact.ForMessages},
		"messages below":    {`{"messages":9}`, 0, compact.ForMessages},
		"fraction above":    {`{"fraction":0.51}`, 200, compact.NotTriggered},
		"fraction at":       {`{"fraction":0.5}`, 200, compact.ForFraction},
		"fraction below":    {`{"fraction":0.49}`, 200, compact.ForFraction},
		"tiny fraction":     {`{"fraction":0.000001}`, 200, compact.ForFraction},
		"or, second holds":  {`[{"tokens":500},{"messages":10}]`, 0, compact.ForMessages},
		"or, none holds":    {`[{"tokens":500},{"messages":11}]`, 0, compact.NotTriggered},
		"and, both hold":    {`{"tokens":100,"messages":10}`, 0, compact.ForTokens},
		"and, one fails":    {`{"tokens":100,"messages":11}`, 0, compact.NotTriggered},
		"or of ands":        {`[{"tokens":100,"messages":11},{"messages":10,"fraction":0.5}]`, 200, compact.ForMessages},
		"and with fraction": {`{"tokens":100,"fraction":0.6}`, 200, compact.NotTriggered},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := compactorWith(t, configtest.Section[compact.Config]("compact"), compact.Deps{Counter: flat})
			r := compact.Request{Messages: ms, Profile: "deerflow", MaxInputTokens: tc.window, Overrides: jsontext.Value(`{"keep":{"type":"messages","value":1},"trigger":` + tc.trigger + `}`)}
			res, err := c.Compact(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			fired := tc.want != compact.NotTriggered
			if got := res.Reason != compact.NotTriggered; got != fired || res.Compacted && res.Reason != tc.want {
				t.Errorf("got %s (%s), want %s", res.Reason, res.Detail, tc.want)
			}
		})
	}
}

func TestCase25WrongThresholdsAreErrors(t *testing.T) {
	tests := map[string]struct{ profile, overrides string }{
		"zero tokens":             {"deerflow", `{"trigger":{"type":"tokens","value":0}}`},
		"negative":                {"deerflow", `{"trigger":{"messages":-1}}`},
		"half a message":          {"deerflow", `{"trigger":{"messages":1.5}}`},
		"fraction above one":      {"deerflow", `{"trigger":{"fraction":1.1}}`},
		"fraction without window": {"deerflow", `{"trigger":{"fraction":0.5}}`},
		"unknown kind":            {"deerflow", `{"trigger":{"type":"words","value":5}}`},
		"unknown key":             {"deerflow", `{"trigger":{"words":5}}`},
		"empty clause":            {"deerflow", `{"trigger":{}}`},
		"empty list":              {"deerflow", `{"trigger":[]}`},
		"text for a number":       {"deerflow", `{"trigger":{"tokens":"many"}}`},
		"keep of no kind":         {"deerflow", `{"keep":{"type":"pages","value":1}}`},
		"zero trim":               {"deerflow", `{"trim_tokens_to_summarize":0}`},
		"zero distance":           {"forge", `{"max_tool_call_distance":0}`},
		"unknown setting":         {"forge", `{"max_distance":3}`},
		"ratio above one":         {"ra_aid", `{"summary_buffer_ratio":1.5}`},
		"no tokens":               {"ra_aid", `{"max_tokens":0}`},
		"target above trigger":    {"default", `{"target_fraction":0.9}`},
		"not an object":           {"default", `[1]`},
		"unknown profile":         {"best", `{}`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := newCompactor(t).Compact(t.Context(), compact.Request{Messages: pad(3), Profile: tc.profile, Overrides: jsontext.Value(tc.overrides)})
			if !memoryd.IsKind(err, memoryd.Invalid) {
				t.Errorf("got %v", err)
			}
		})
	}
	if _, err := newCompactor(t).Compact(t.Context(), compact.Request{MaxInputTokens: -1}); !memoryd.IsKind(err, memoryd.Invalid) {
		t.Errorf("a negative window: %v", err)
	}
}

func TestCase26KeepingEverythingIsNoWork(t *testing.T) {
	ms := join(user("go"), steps("a", 3, 60), user("next"))
	for _, keep := range []int{len(ms), len(ms) + 1, 1000} {
		m := &counting{text: "fine"}
		res := run(t, newCompactor(t, m), compact.Request{Messages: ms, Profile: "deerflow", Overrides: deerflowKeep(keep)})
		if res.Compacted || m.count() != 0 || res.Reason != compact.NothingToRemove {
			t.Errorf("keep %d: %s, %d requests", keep, res.Reason, m.count())
		}
	}
	res := run(t, newCompactor(t), compact.Request{Messages: ms, Profile: "deerflow", Overrides: deerflowKeep(0)})
	if !res.Compacted {
		t.Errorf("keep 0: %s %s", res.Reason, res.Detail)
	}
}

func TestKeepByTokensAndFraction(t *testing.T) {
	ms := pad(10)
	tests := map[string]struct {
		keep string
		left int // newest messages that stay
	}{
		"40 tokens":         {`{"type":"tokens","value":40}`, 4},
		"39 tokens":         {`{"type":"tokens","value":39}`, 3},
		"41 tokens":         {`{"type":"tokens","value":41}`, 4},
		"nothing fits":      {`{"type":"tokens","value":5}`, 1},
		"half of the model": {`{"type":"fraction","value":0.5}`, 5},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := compactorWith(t, configtest.Section[compact.Config]("compact"), compact.Deps{Counter: func(string) tokens.Counter {
				return counterFunc(func(s string) int { return min(6, len(s)) })
			}})
			res, err := c.Compact(t.Context(), compact.Request{Messages: ms, Profile: "deerflow", MaxInputTokens: 100, Force: true, Overrides: jsontext.Value(`{"keep":` + tc.keep + `}`)})
			if err != nil {
				t.Fatal(err)
			}
			if res.Compacted { // the flat counter makes the summary small; what matters is the cut
				for i, f := range res.Report.Messages {
					if kept := f.Output >= 0; kept != (i >= len(ms)-tc.left) {
						t.Errorf("message %d kept: %t", i, kept)
					}
				}
			} else if res.Reason != compact.GainTooSmall {
				t.Errorf("%s %s", res.Reason, res.Detail)
			}
		})
	}
}

func TestCase27ABrokenCounterNeverCountsTooLittle(t *testing.T) {
	ms := join(user("go"), steps("a", 30, 60), user("next"))
	n := 0
	for name, counter := range map[string]tokens.Counter{
		"panics":       counterFunc(func(string) int { panic("no table") }),
		"negative":     counterFunc(func(string) int { return -5 }),
		"not monotone": counterFunc(func(s string) int { n++; return (len(s) * (1 + n%3)) / 4 }),
	} {
		c := compactorWith(t, configtest.Section[compact.Config]("compact"), compact.Deps{Counter: func(string) tokens.Counter { return counter }})
		res, err := c.Compact(t.Context(), compact.Request{Messages: ms, Force: true, MaxInputTokens: 40_000})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if name != "not monotone" && res.Report.TokensBefore < bytesOf(ms)/2 {
			t.Errorf("%s: %d tokens for %d bytes", name, res.Report.TokensBefore, bytesOf(ms))
		}
		if res.Compacted && strict(t, ms, res.Messages) != "" {
			t.Errorf("%s: %s", name, strict(t, ms, res.Messages))
		}
	}
}

// Case 28 is TestCase28EstimatesStayNearTheRealTokenizers in package tokens.

func TestCase29ToolsAndSystemCount(t *testing.T) {
	bare := run(t, newCompactor(t), compact.Request{Messages: pad(3)}).Report
	tools := jsontext.Value(`[{"type":"function","function":{"name":"search","description":"` + long("d", 50) + `","parameters":{"type":"object","properties":{"query":{"type":"string"}}}}}]`)
	with := run(t, newCompactor(t), compact.Request{Messages: join(system(long("s", 50)), pad(3)), Tools: tools}).Report
	if with.Before.Tools < 100 || with.Before.System < 100 || with.TokensBefore != bare.TokensBefore+with.Before.Tools+with.Before.System {
		t.Errorf("%d tokens bare, %d with %+v", bare.TokensBefore, with.TokensBefore, with.Before)
	}
}

func TestCase30AnImageCostsTheSameWhateverItsSize(t *testing.T) {
	image := func(n int) jsontext.Value {
		return raw(obj{"role": "user", "content": []obj{{"type": "image_url", "image_url": obj{"url": "data:image/png;base64," + string(make([]byte, 0)) + long("A", n)}}}})
	}
	small := run(t, newCompactor(t), compact.Request{Messages: join(image(10)), MaxInputTokens: 8000})
	large := run(t, newCompactor(t), compact.Request{Messages: join(image(200_000)), MaxInputTokens: 8000})
	if small.Report.TokensBefore != large.Report.TokensBefore || large.Reason != compact.NotTriggered {
		t.Errorf("%d and %d tokens, %s", small.Report.TokensBefore, large.Report.TokensBefore, large.Reason)
	}
}

func TestTheDefaultProfileAimsAtWhatWasAskedFor(t *testing.T) {
	in := longTalk()
	total := run(t, newCompactor(t), compact.Request{Messages: in}).Report.TokensBefore
	tests := map[string]struct {
		r    compact.Request
		want int // 0: not compacted
	}{
		"nothing known":                  {compact.Request{}, 0},
		"below the trigger":              {compact.Request{MaxInputTokens: total*5/4 + 2}, 0},
		"at the trigger":                 {compact.Request{MaxInputTokens: total * 5 / 4}, total * 5 / 8},
		"above the window":               {compact.Request{MaxInputTokens: 6000}, 3000},
		"a target":                       {compact.Request{TargetTokens: 4000}, 4000},
		"a target in a window":           {compact.Request{TargetTokens: 4000, MaxInputTokens: 6000}, 4000},
		"forced":                         {compact.Request{Force: true}, total / 2},
		"forced into a window":           {compact.Request{Force: true, MaxInputTokens: 6000}, 6000},
		"forced, though small":           {compact.Request{Force: true, MaxInputTokens: 10 * total}, total / 2},
		"forced to a target in a window": {compact.Request{Force: true, TargetTokens: 4000, MaxInputTokens: 6000}, 4000},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			tc.r.Messages = in
			res := run(t, newCompactor(t), tc.r)
			if res.Compacted != (tc.want > 0) || res.Report.Target != tc.want {
				t.Fatalf("%s %s: target %d, want %d", res.Reason, res.Detail, res.Report.Target, tc.want)
			}
			if tc.want > 0 && res.Report.TokensAfter > tc.want {
				t.Errorf("%d tokens, %d were asked for", res.Report.TokensAfter, tc.want)
			}
		})
	}
}

func TestOneHugeOutputGoesWhateverTheTarget(t *testing.T) {
	in := join(user("go"), calls("a"), result("a", long("huge", 20_000)), steps("b", 5, 20), user("next"))
	for _, target := range []int{300, 3000, 6000, 20_000, 60_000, 100_000} {
		res := run(t, newCompactor(t), compact.Request{Messages: in, Force: true, TargetTokens: target})
		if !res.Compacted || res.Report.TokensAfter > target {
			t.Errorf("target %d: %s %s, %d of %d tokens", target, res.Reason, res.Detail, res.Report.TokensAfter, res.Report.TokensBefore)
		}
	}
}
