package monitor

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"memoryd"
)

// clock gives moments one second apart.
func clock() func() time.Time {
	var mu sync.Mutex
	now := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	return func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		now = now.Add(time.Second)
		return now
	}
}

func newMonitor() (*Monitor, *bytes.Buffer) {
	var b bytes.Buffer
	return New(Config{Window: 200, AlikeAfter: 50}, slog.New(slog.NewTextHandler(&b, nil)), clock()), &b
}

func scored(by string, score float64) memoryd.Evaluation {
	return memoryd.Evaluation{State: memoryd.Judged, Score: score, JudgedBy: by, JudgeVersion: "v1"}
}

var tool = memoryd.ToolRef{Workspace: "w", Tool: "t"}

func (w *Monitor) warnings(t *testing.T) []string {
	t.Helper()
	all := w.Report()
	if len(all) != 1 {
		t.Fatalf("got %d judges, want 1", len(all))
	}
	return all[0].Warnings
}

func TestTheReportCounts(t *testing.T) {
	w, _ := newMonitor()
	other := memoryd.ToolRef{Workspace: "w", Tool: "u"}
	for i, score := range []float64{1, 1, 0.5, 0} {
		w.Note(tool, scored("llm:m", score), scored("rules", []float64{1, 0, 0.5, 0.5}[i]))
	}
	w.Note(other, scored("llm:m", 1), memoryd.Evaluation{})
	w.Note(tool, scored("cache", 1), scored("rules", 1))
	w.Note(tool, memoryd.Evaluation{State: memoryd.Failed, JudgedBy: "llm:m"}, scored("rules", 1))
	w.Overruled(scored("llm:m", 1), scored("person:a", 0))
	w.Overruled(scored("cache", 1), scored("person:a", 1)) // of v1, so of llm:m
	w.Overruled(scored("person:a", 1), scored("person:b", 0))
	got, err := json.Marshal(w.Report())
	if err != nil {
		t.Fatal(err)
	}
	want := `[{"version":"v1","name":"llm:m","verdicts":5,"scores":{"0.0":1,"0.5":1,"1.0":3},"recent":{"0.0":1,"0.5":1,"1.0":3},` +
		`"agreement_rules":{"n":4,"agree":2,"rate":0.5,"ci95":[0.15003898915214953,0.8499610108478505]},` +
		`"agreement_people":{"n":2,"agree":1,"rate":0.5,"ci95":[0.09453120573423074,0.9054687942657693]},"warnings":[],` +
		`"tools":[{"workspace":"w","tool":"t","scores":{"0.0":1,"0.5":1,"1.0":2}},{"workspace":"w","tool":"u","scores":{"0.0":0,"0.5":0,"1.0":1}}]}]`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestAJudgeThatStartsToSayOneThingIsNoticedOnce(t *testing.T) {
	w, log := newMonitor()
	rng := rand.New(rand.NewPCG(1, 2))
	honest := func() float64 {
		if rng.Float64() < 0.8 {
			return 1
		}
		return 0
	}
	for range 500 {
		s := honest()
		w.Note(tool, scored("llm:m", s), scored("rules", s))
	}
	if got := w.warnings(t); len(got) != 0 {
		t.Fatalf("too early: %q", got)
	}
	noticed := 0
	for i := range 300 {
		w.Note(tool, scored("llm:m", 1), scored("rules", 1)) // the rules are no help here
		if noticed == 0 && len(w.warnings(t)) > 0 {
			noticed = i + 1
		}
	}
	if noticed == 0 || noticed > 80 {
		t.Errorf("noticed after %d verdicts", noticed)
	}
	if got := w.warnings(t); len(got) != 1 || !strings.Contains(got[0], "verdicts are all 1.0") {
		t.Errorf("got %q", got)
	}
	w.Note(tool, scored("llm:m", 0), scored("rules", 0))
	if got := w.warnings(t); len(got) != 0 {
		t.Errorf("still there: %q", got)
	}
	if said, over := strings.Count(log.String(), "check a judge"), strings.Count(log.String(), "has ended"); said != 1 || over != 1 {
		t.Errorf("said %d times, over %d times:\n%s", said, over, log)
	}
}

func TestAJudgeThatNeverSaidAnythingElse(t *testing.T) {
	for name, c := range map[string]struct {
		ruled func(i int) float64
		want  int
	}{
		"the rules see failures":  {func(i int) float64 { return float64(i % 2) }, 1},
		"the rules agree":         {func(int) float64 { return 1 }, 0},
		"the rules always differ": {func(int) float64 { return 0.5 }, 0}, // this is for the agreement to show
	} {
		w, _ := newMonitor()
		for i := range 100 {
			w.Note(tool, scored("llm:m", 1), scored("rules", c.ruled(i)))
		}
		if got := w.warnings(t); len(got) != c.want {
			t.Errorf("%s: got %q", name, got)
		}
	}
}

func TestADropOfAgreementIsNoticedAndItsEnd(t *testing.T) {
	for name, note := range map[string]func(w *Monitor, agree bool){
		"rules": func(w *Monitor, agree bool) {
			// Both scores come, so that only the agreement is at stake.
			judge := float64(w.now().Second() / 2 % 2)
			ruled := judge
			if !agree {
				ruled = 0.5
			}
			w.Note(tool, scored("llm:m", judge), scored("rules", ruled))
		},
		"people": func(w *Monitor, agree bool) {
			after := scored("person:a", 1)
			if !agree {
				after.Score = 0
			}
			w.Overruled(scored("llm:m", 1), after)
		},
	} {
		t.Run(name, func(t *testing.T) {
			w, log := newMonitor()
			rng := rand.New(rand.NewPCG(3, 4))
			feed := func(n int, rate float64) (noticed int) {
				for i := range n {
					note(w, rng.Float64() < rate)
					if noticed == 0 && len(w.warnings(t)) > 0 {
						noticed = i + 1
					}
				}
				return noticed
			}
			if n := feed(1000, 0.9); n != 0 {
				t.Fatalf("a false alarm after %d", n)
			}
			if n := feed(1000, 0.5); n == 0 || n > 200 {
				t.Errorf("noticed after %d", n)
			}
			if got := w.warnings(t); len(got) != 1 || !strings.Contains(got[0], "agreement with") || !strings.Contains(got[0], "dropped from 9") && !strings.Contains(got[0], "dropped from 8") {
				t.Errorf("a judge that stays bad is not forgiven: got %q", got)
			}
			feed(1000, 0.9)
			if got := w.warnings(t); len(got) != 0 {
				t.Errorf("a judge that recovered: %q", got)
			}
			if said := strings.Count(log.String(), "check a judge"); said != 1 {
				t.Errorf("said %d times", said)
			}
		})
	}
}

// TestFalseAlarmsAreAsRareAsStated runs steady judges over two thousand windows
// each. At one false alarm in a thousand windows, 8 in 2,000 have a probability
// of 0.1 %.
func TestFalseAlarmsAreAsRareAsStated(t *testing.T) {
	const windows, most = 2000, 7
	f := New(Config{Window: 200, AlikeAfter: 50}, slog.New(slog.DiscardHandler), time.Now).fisher
	for _, rate := range []float64{0.5, 0.8, 0.9, 0.97} {
		rng := rand.New(rand.NewPCG(5, uint64(rate*100)))
		a := newAgreement(200)
		run := alike{after: 50}
		var drops, runs int
		for range windows * 200 {
			agreed := rng.Float64() < rate
			was := a.drop
			a.add(agreed)
			if a.review(f, "x") != "" && was == "" {
				drops++
			}
			level := 0
			if agreed {
				level = 2
			}
			run.add(level, level)
			warned := run.warned
			if run.review(f) != "" && warned == "" {
				runs++
			}
		}
		t.Logf("rate %v: %d drops, %d runs in %d windows", rate, drops, runs, windows)
		if drops > most || runs > most {
			t.Errorf("rate %v: %d false alarms of a drop and %d of a run in %d windows", rate, drops, runs, windows)
		}
	}
}

func TestTheMemoryIsBounded(t *testing.T) {
	w, _ := newMonitor()
	for i := range 5 * maxTools {
		w.Note(memoryd.ToolRef{Workspace: "w", Tool: fmt.Sprint(i)}, scored("llm:m", 1), scored("rules", 1))
		w.Note(tool, scored("llm:m", 1), scored("rules", 1))
	}
	for i := range 5 * maxJudges {
		e := scored("llm:m", 1)
		e.JudgeVersion = fmt.Sprint("other", i)
		w.Note(tool, e, scored("rules", 1))
	}
	w.Note(tool, scored("llm:m", 1), scored("rules", 1))
	all := w.Report()
	if len(all) != maxJudges || len(w.judges) != maxJudges || len(w.latest) > maxJudges {
		t.Errorf("%d judges, %d latest", len(all), len(w.latest))
	}
	w, _ = newMonitor()
	for i := range 5 * maxTools {
		w.Note(memoryd.ToolRef{Workspace: "w", Tool: fmt.Sprint(i)}, scored("llm:m", 1), scored("rules", 1))
		w.Note(tool, scored("llm:m", 1), scored("rules", 1))
	}
	j := w.judges[identity{"v1", "llm:m"}]
	if n := len(j.tools); n > maxTools || n <= maxTools*3/4 || len(j.recent.values) != 200 || j.alike.run > maxRun {
		t.Errorf("%d tools, %d recent, a run of %d", n, len(j.recent.values), j.alike.run)
	}
	if r := w.Report()[0]; len(r.Tools) != maxReported || r.Tools[0].Tool != "t" || r.Tools[0].Scores["1.0"] != 5*maxTools {
		t.Errorf("%d tools reported, first %+v", len(r.Tools), r.Tools[0])
	}
}

func TestManyAtOnce(t *testing.T) {
	w := New(Config{Window: 200, AlikeAfter: 50}, slog.New(slog.DiscardHandler), time.Now)
	var all sync.WaitGroup
	for g := range 4 {
		all.Go(func() {
			for i := range 500 {
				w.Note(tool, scored("llm:m", float64((g+i)%2)), scored("rules", 1))
				w.Overruled(scored("llm:m", 1), scored("person:a", float64(i%2)))
				if i%100 == 0 {
					w.Report()
				}
			}
		})
	}
	all.Wait()
	if j := w.Report()[0]; j.Verdicts != 2000 || j.AgreementPeople.N != 2000 {
		t.Errorf("got %+v", j)
	}
}
