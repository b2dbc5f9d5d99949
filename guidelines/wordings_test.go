package guidelines_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"memoryd"
	"memoryd/guidelines"
	"memoryd/internal/configtest"
)

var parameterNames = strings.Fields("amount region mode depth batch tier owner start finish code unit channel span ratio lane grade slot margin ref zone shift weight")

// refusals are common wordings of a refusal in four languages, by what is refused: %p and %q
// stand for parameters, %b for a bound, %v for the values that may be.
var refusals = []struct{ family, text string }{
	{"max", "%p exceeds the maximum of %b"},
	{"max", "%p: no more than %b"},
	{"max", "%p darf höchstens %b sein"},
	{"max", "%p no puede superar %b"},
	{"max", "%pは%b以下にしてください"},
	{"min", "%p must be at least %b"},
	{"min", "%p: mindestens %b"},
	{"min", "%pは%b以上です"},
	{"required", "Missing required field: %p"},
	{"required", "%p ist ein Pflichtfeld"},
	{"required", "Falta el campo %p"},
	{"required", "%pは必須です"},
	{"together", "%p and %q must be supplied together"},
	{"together", "%p y %q deben indicarse juntos"},
	{"enum", "%p must be one of %v"},
	{"enum", "%pは%vのいずれかです"},
	{"format", "%p bitte im Format JJJJ-MM-TT angeben"},
}

// wanted is what a recommendation must hold, and in which words.
func wanted(family, p, q string, bound int, values []string) []string {
	return map[string][]string{
		"max": {"`" + p + "`", "at most", fmt.Sprint(bound)}, "min": {"`" + p + "`", "at least", fmt.Sprint(bound)}, "required": {"Always give `" + p + "`"},
		"together": {"`" + p + "`", "`" + q + "`", "together"}, "enum": append([]string{"`" + p + "` as one of"}, values...), "format": {"`" + p + "`", "YYYY-MM-DD"},
	}[family]
}

// refusedTool gives the calls of a tool: ten good ones and five that are refused, each in
// a run of its own.
func refusedTool(r *rand.Rand, family, text, p, q string, bound int, values []string) []memoryd.Call {
	say := strings.NewReplacer("%p", p, "%q", q, "%b", fmt.Sprint(bound), "%v", strings.Join(values, ", ")).Replace(text)
	var calls []memoryd.Call
	for i := range 15 {
		bad := i%3 == 1
		in := map[string]any{"note": fmt.Sprintf("n%d", r.IntN(1000)), "size": 1 + r.IntN(4)}
		switch family {
		case "max":
			in[p] = bound - i*bound/40
			if bad {
				in[p] = bound + 1 + r.IntN(bound)
			}
		case "min":
			in[p] = bound + i*bound/20
			if bad {
				in[p] = r.IntN(bound)
			}
		case "required":
			if !bad {
				in[p] = values[(i-(i+1)/3)%3]
			}
		case "together":
			if in[p] = 5; !bad {
				in[q] = 6
			}
			if i%5 == 0 {
				delete(in, p)
				delete(in, q)
			}
		case "enum":
			if in[p] = values[(i-(i+1)/3)%3]; bad {
				in[p] = []string{"opal", "quartz"}[i%2]
			}
		case "format":
			if in[p] = fmt.Sprintf("2027-03-%02d", 10+i); bad {
				in[p] = fmt.Sprintf("%02d.03.2027", 10+i)
			}
		}
		raw, _ := json.Marshal(in)
		c := memoryd.Call{
			ToolRef: memoryd.ToolRef{Workspace: "w", Tool: "made"}, Key: memoryd.CallKey{byte(i), 7}, Seq: int64(i + 1), Input: raw, Output: `{"done":true}`, Success: true, TokenCost: -1,
			Time: time.Date(2027, 1, 1, 0, i, 0, 0, time.UTC), Metadata: fmt.Appendf(nil, `{"trajectory_id":"r%d"}`, i),
			Evaluation: memoryd.Evaluation{State: memoryd.Judged, Score: memoryd.ScoreSuccess},
		}
		if bad && (family != "together" || in[p] != nil) {
			c.Output, c.Evaluation.Score = say, memoryd.ScoreFailure
		}
		calls = append(calls, c)
	}
	return calls
}

// Of the common wordings of a refusal, in whatever language, nearly all become a specific
// and right recommendation: what calls show decides, not the words.
func TestCommonRefusalsInFourLanguagesBecomeRecommendations(t *testing.T) {
	r := rand.New(rand.NewPCG(32, 17))
	writer := guidelines.NewWriter(configtest.Section[guidelines.Config]("guidelines"), nil)
	const draws = 10
	right := 0
	for range draws {
		for _, w := range refusals {
			pool := r.Perm(len(parameterNames))
			p, q, bound := parameterNames[pool[0]], parameterNames[pool[1]], []int{12, 25, 40, 50, 150}[r.IntN(5)]
			values := []string{"amber", "cedar", "delta"}
			calls := refusedTool(r, w.family, w.text, p, q, bound, values)
			d, err := writer.Compose(t.Context(), memoryd.Tool{ToolRef: calls[0].ToolRef}, calls, 20, nil)
			if err != nil {
				t.Fatal(err)
			}
			_, best, _ := strings.Cut(d.Render(), "## Best Practices")
			best, _, _ = strings.Cut(best, "## ")
			found := false
			for line := range strings.Lines(best) {
				has := true
				for _, part := range wanted(w.family, p, q, bound, values) {
					has = has && strings.Contains(line, part)
				}
				found = found || has
			}
			if found {
				right++
			} else {
				t.Logf("%s, %q: %s", w.family, w.text, strings.TrimSpace(best))
			}
		}
	}
	t.Logf("%d of %d wordings gave a right recommendation", right, draws*len(refusals))
	if right*17 < 14*draws*len(refusals) {
		t.Errorf("fewer than 14 of 17")
	}
}
