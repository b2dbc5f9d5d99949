package guidelines_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"memoryd/internal/configtest"

	"memoryd"
	"memoryd/guidelines"
	"memoryd/guidelines/evidence"
)

// observed is a mining window that has seen all calls of a workspace.
type observed map[string][]evidence.Observation

func (o observed) Observations(_ context.Context, ref memoryd.ToolRef) ([]evidence.Observation, error) {
	return slices.Clone(o[ref.Tool]), nil
}

func (observed) Shared(context.Context, string) (bool, error) { return false, nil }

func watch(calls []memoryd.Call) observed {
	o, seen := evidence.NewObserver(), observed{}
	for i := range calls {
		ob := o.Observe(&calls[i])
		ob.Trim()
		seen[calls[i].Tool] = append(seen[calls[i].Tool], ob)
	}
	return seen
}

// history reads the calls of an excerpt or, with recordings, of a whole file.
func history(t *testing.T, excerptOf, recording string) map[string][]memoryd.Call {
	t.Helper()
	histories := map[string][]memoryd.Call{}
	raw, err := os.ReadFile(filepath.Join("testdata", excerptOf))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(raw)) {
		var r struct {
			Tool, Output string
			Input        json.RawMessage
			Score        float64
			Trajectory   string `json:"trajectory_id"`
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		c := call(t, r.Tool, len(histories["excerpt"]), r.Input, r.Output, r.Score, 0, -1)
		c.Metadata, err = json.Marshal(object{"trajectory_id": r.Trajectory})
		if err != nil {
			t.Fatal(err)
		}
		histories["excerpt"] = append(histories["excerpt"], c)
	}
	if os.Getenv("MEMORYD_TEST_DATA") != "" {
		histories["recording"] = recorded(t, recording, "")
		for i := range histories["recording"] {
			histories["recording"][i].Key = memoryd.CallKey{byte(i), byte(i >> 8), 2}
			histories["recording"][i].Seq = int64(i + 1)
		}
	}
	return histories
}

// told is a guideline whose counts are computed again here, from the calls.
type told struct {
	t     *testing.T
	all   []memoryd.Call // of the workspace
	calls []memoryd.Call // of the tool
	text  string
}

func tell(t *testing.T, all []memoryd.Call, tool string) told {
	t.Helper()
	x := told{t: t, all: all}
	for _, c := range all {
		if c.Tool == tool {
			x.calls = append(x.calls, c)
		}
	}
	cfg := configtest.Section[guidelines.Config]("guidelines")
	cfg.MineCalls, cfg.MaxWords = 10000, 400 // all that is known, to hold it to the files
	r := guidelines.NewRules(cfg)
	r.Window = watch(all)
	d, err := r.Compose(t.Context(), memoryd.Tool{ToolRef: x.calls[0].ToolRef}, x.calls[max(0, len(x.calls)-100):], 20, nil)
	if err != nil {
		t.Fatal(err)
	}
	x.text = d.Render()
	return x
}

func run(c memoryd.Call) string {
	var m struct {
		ID string `json:"trajectory_id"`
	}
	_ = json.Unmarshal(c.Metadata, &m)
	return m.ID
}

// count counts the calls for which is holds, the failed ones of them, and the runs of
// these.
func (x told) count(is func(memoryd.Call) bool) (calls, failed, runs int) {
	seen := map[string]bool{}
	for _, c := range x.calls {
		if !is(c) {
			continue
		}
		calls++
		if c.Evaluation.Score == memoryd.ScoreFailure {
			failed++
			seen[run(c)] = true
		}
	}
	return calls, failed, len(seen)
}

func answers(part string) func(memoryd.Call) bool {
	return func(c memoryd.Call) bool { return strings.Contains(c.Output, part) }
}

func sends(pattern string) func(memoryd.Call) bool {
	re := regexp.MustCompile(pattern)
	return func(c memoryd.Call) bool { return re.MatchString(command(c)) }
}

// command is the text of an input, as it was sent.
func command(c memoryd.Call) string {
	var in struct{ Command *string }
	if json.Unmarshal(c.Input, &in) == nil && in.Command != nil {
		return *in.Command
	}
	return string(c.Input)
}

func (x told) holds(format string, args ...any) {
	x.t.Helper()
	if want := fmt.Sprintf(format, args...); !strings.Contains(x.text, want) {
		x.t.Errorf("%q is missing in\n%s", want, x.text)
	}
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprint(n, " ", noun, "s")
}

// repeated counts the calls that sent again what had failed in their run.
func (x told) repeated() (tries, worked, runs int) {
	failedBefore, seen := map[string]bool{}, map[string]bool{}
	for _, c := range x.calls {
		key := run(c) + "\x00" + string(c.Input)
		if failedBefore[key] {
			tries++
			seen[run(c)] = true
			if c.Evaluation.Score == memoryd.ScoreSuccess {
				worked++
			}
		}
		if c.Evaluation.Score < memoryd.ScoreSuccess {
			failedBefore[key] = true
		}
	}
	return tries, worked, len(seen)
}

func TestStatementsOnReservationsHoldInTheFiles(t *testing.T) {
	for name, calls := range history(t, "airline_runs.jsonl", "calls_taubench_airline.jsonl.gz") {
		t.Run(name, func(t *testing.T) {
			x := tell(t, calls, "update_reservation_flights")
			_, n, runs := x.count(answers("not enough seats"))
			x.holds("Check first that enough seats are left for all in `flights[].flight_number`: %d failed (%s)", n, plural(runs, "run"))
			_, n, runs = x.count(answers("not available on date"))
			x.holds("Send only `flights[].flight_number` values that `search_direct_flight`")
			x.holds("listed as available: %d failed (%s)", n, plural(runs, "run"))
			_, n, runs = x.count(answers("gift card balance is not enough"))
			credit, _, _ := x.count(sends(`"payment_id": ?"credit_card_`))
			x.holds("Before passing a `payment_id` that starts with \"gift_card_\", compare its balance in ")
			x.holds("with the amount: %d failed (%s); none of %d calls with \"credit_card_\" failed so", n, plural(runs, "run"), credit)
			_, n, runs = x.count(answers("certificate cannot be used"))
			x.holds("Never pass a `payment_id` that starts with \"certificate_\": %d failed (%s)", n, plural(runs, "run"))
			tries, worked, runs := x.repeated()
			x.holds("Never send a refused call again unchanged: %d of %d worked (%s)", worked, tries, plural(runs, "run"))
			unseen, unseenFailed, _, _ := x.provenance("payment_id", "payment method not found")
			_, _, runs = x.count(answers("payment method not found"))
			x.holds("Copy `payment_id` exactly from ")
			x.holds("otherwise %d of %d went wrong (%s)", unseenFailed, unseen, plural(runs, "run"))
		})
	}
}

// provenance looks for the values of a parameter in the earlier answers of their run.
func (x told) provenance(path, message string) (unseen, unseenFailed, copied, copiedSo int) {
	before := map[string]string{}
	for _, c := range x.all {
		r := run(c)
		if c.Tool == x.calls[0].Tool && before[r] != "" {
			var in map[string]any
			_ = json.Unmarshal(c.Input, &in)
			value, _ := in[path].(string)
			failed := c.Evaluation.Score == memoryd.ScoreFailure
			switch found := regexp.MustCompile(`(?:^|[^\w-])` + regexp.QuoteMeta(value) + `(?:[^\w-]|$)`).MatchString(before[r]); {
			case len(value) < 4:
			case found:
				copied++
				if strings.Contains(c.Output, message) {
					copiedSo++
				}
			default:
				unseen++
				if failed {
					unseenFailed++
				}
			}
		}
		if c.Evaluation.Score == memoryd.ScoreSuccess {
			before[r] += " " + c.Output
		}
	}
	return unseen, unseenFailed, copied, copiedSo
}

func TestStatementsOnFetchingHoldInTheFiles(t *testing.T) {
	histories := history(t, "fetch.jsonl", "calls_livemcp.jsonl.gz")
	for i := range histories["excerpt"] {
		histories["excerpt"][i].Tool = "fetch"
	}
	for name, calls := range histories {
		t.Run(name, func(t *testing.T) {
			x := tell(t, calls, "fetch")
			_, n, runs := x.count(answers("specifies that autonomous fetching of this page is not allowed"))
			x.holds("Do not fetch a site whose robots.txt forbids it; take another source: %d failed (%s)", n, plural(runs, "run"))
			_, n, runs = x.count(answers("status code 403"))
			x.holds("a refused request again: change the values or take another source: %d failed (%s)", n, plural(runs, "run"))
			_, n, runs = x.count(answers("\nurl error"))
			x.holds("Take `url` from an answer that was read; do not guess it: %d failed (%s)", n, plural(runs, "run"))
			_, n, runs = x.count(answers("due to a connection issue"))
			x.holds("Try once more at most, then take another source: %d failed (%s)", n, plural(runs, "run"))
			_, n, runs = x.count(answers("1000000 is greater than or equal to the maximum of 1000000"))
			x.holds("Keep `max_length` within its bounds: %d failed (%s)", n, plural(runs, "run"))
			x.holds("`max_length` 999999 then worked 1 of 1 (1 run) (provisional)")
		})
	}
}

func TestStatementsOnTheShellHoldInTheFiles(t *testing.T) {
	for name, calls := range history(t, "bash_runs.jsonl", "calls_intercode.jsonl.gz") {
		t.Run(name, func(t *testing.T) {
			x := tell(t, calls, "execute_bash")
			all, failed, _ := x.count(func(c memoryd.Call) bool { return strings.Contains(command(c), `"`) })
			x.holds("Use single quotes, never double, in `command` (the tool drops them)")
			x.holds("%d of %d with them failed", failed, all)
			calls, failed, runs := x.count(sends("^\\s*`"))
			x.holds("a leading backtick %d of %d (%s)", failed, calls, plural(runs, "run"))
			calls, failed, runs = x.count(sends(`^\s*[A-Z][a-z']+[!,.:]? [A-Za-z]`))
			x.holds("Send only a command: no prose, backticks or unfinished block")
			x.holds("prose failed %d of %d (%s)", failed, calls, plural(runs, "run"))
			calls, failed, runs = x.count(func(c memoryd.Call) bool {
				return regexp.MustCompile(`\bawk\s`).MatchString(command(c)) && strings.Contains(command(c), `"`)
			})
			others, othersFailed, _ := x.count(func(c memoryd.Call) bool {
				return regexp.MustCompile(`\bawk\s`).MatchString(command(c)) && !strings.Contains(command(c), `"`)
			})
			x.holds("Quote awk programs singly: double quotes failed %d of %d (%s), otherwise %d of %d", failed, calls, plural(runs, "run"), othersFailed, others)
			x.holds("Quote each pattern after -name or -path singly")
			x.holds("List a directory before naming paths in it")
			if slices.Contains([]string{"excerpt"}, name) {
				x.holds("no `sudo` or `xxd`")
			}
			tries, worked, runs := x.repeated()
			x.holds("Never send a refused call again unchanged: %d of %d worked (%s)", worked, tries, plural(runs, "run"))
		})
	}
}
