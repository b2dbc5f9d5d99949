package main

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"memoryd"
	"memoryd/guidelines/constraints"
	"memoryd/guidelines/evidence"
	"memoryd/ingest"
	"memoryd/internal/lifecycle"
	"memoryd/internal/textsafe"
	"memoryd/ops"
	"memoryd/store"
)

// report is what learn says: what was read, and each tool, the worst first.
type report struct {
	Store     string    `json:"store"`
	Workspace string    `json:"workspace"`
	Since     time.Time `json:"written"`
	Files     struct {
		Read      int `json:"read"`
		Unchanged int `json:"unchanged"`
		Other     int `json:"other"` // of no known format
	} `json:"files"`
	Calls struct {
		Found      int `json:"found"`
		Added      int `json:"added"`
		Known      int `json:"known"`
		Rejected   int `json:"rejected"`
		Unfinished int `json:"unfinished"` // without a result
		Cancelled  int `json:"cancelled"`  // stopped by a person
	} `json:"calls"`
	Formats map[string]int `json:"formats"` // files of each
	Broken  int            `json:"broken"`  // lines and parts that could not be read
	Faults  []string       `json:"faults,omitempty"`
	Why     string         `json:"why_rejected,omitempty"` // of the first call that could not be recorded
	Tools   []learnedTool  `json:"tools"`
}

// learnedTool is what the store knows of a tool.
type learnedTool struct {
	Tool string `json:"tool"`
	// Calls were recorded in all; the other numbers are of the Judged ones among
	// the newest of them.
	Calls    int64     `json:"calls"`
	Judged   int       `json:"judged"`
	Failed   int       `json:"failed"`
	Seconds  float64   `json:"seconds_lost"` // in calls that failed
	Runs     int       `json:"runs"`
	Mistakes []mistake `json:"mistakes"`
	// Guideline is what agents are told.
	Guideline string `json:"guideline"`
	cost      float64
}

// mistake is one way in which calls failed.
type mistake struct {
	// Message is what the tool said, or what kind of failure it was. It is foreign
	// text, shown as a quotation.
	Message string  `json:"message"`
	Calls   int     `json:"calls"`
	Runs    int     `json:"runs"`
	Seconds float64 `json:"seconds_lost"`
	cost    float64
}

// turnSeconds is what a failed call costs beside its own time: another turn of the
// model. It only orders mistakes.
const turnSeconds = 5

// The bounds of a report.
const (
	maxReportFaults = 20
	maxMistakes     = 5
	maxMessage      = 160
)

func (r *report) found(s ingest.Stats) {
	r.Files.Read++
	r.count(s)
}

func (r *report) unchanged(s ingest.Stats) {
	if s.Format == "" && s.Calls == 0 {
		r.Files.Other++
		return
	}
	r.Files.Unchanged++
	r.count(s)
	r.Calls.Known += s.Calls
}

func (r *report) count(s ingest.Stats) {
	if r.Formats == nil {
		r.Formats = map[string]int{}
	}
	if s.Format != "" {
		r.Formats[s.Format]++
	}
	r.Broken += s.Broken
	r.Calls.Found += s.Calls
	r.Calls.Unfinished += s.Unfinished
	r.Calls.Cancelled += s.Cancelled
}

func (r *report) fault(text string) {
	if len(r.Faults) < maxReportFaults {
		r.Faults = append(r.Faults, text)
	}
}

// conclude writes the guidelines and gathers what is known of each tool.
func (l *learner) conclude() error {
	g, ctx := lifecycle.NewGroup(l.ctx, l.app.log, "concluding", runtime.GOMAXPROCS(0))
	var mu sync.Mutex
	for tool, err := range store.AllTools(ctx, l.app.store, l.command.Workspace) {
		if err != nil {
			return errors.Join(err, g.Wait())
		}
		g.Go(func() error {
			t, err := l.tool(ctx, tool)
			mu.Lock()
			defer mu.Unlock()
			l.report.Tools = append(l.report.Tools, t)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	slices.SortStableFunc(l.report.Tools, func(a, b learnedTool) int {
		return cmp.Or(cmp.Compare(min(b.Failed, 1), min(a.Failed, 1)), cmp.Compare(b.cost, a.cost), cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Tool, b.Tool))
	})
	return nil
}

// tool writes a tool's guideline where there are new calls, and computes what they
// show, from the same evidence.
func (l *learner) tool(ctx context.Context, tool memoryd.Tool) (t learnedTool, err error) {
	if l.tools[tool.Tool] {
		if _, err := l.app.face.Flows.SummaryToolMemory.Run(ctx, ops.NamesRequest{Workspace: tool.Workspace, Tools: []string{tool.Tool}}); err != nil {
			return t, err
		}
		if tool, err = l.app.store.Tool(ctx, tool.ToolRef); err != nil {
			return t, err
		}
	}
	t = learnedTool{Tool: textsafe.Line(tool.Tool, memoryd.MaxNameBytes), Calls: tool.Lifetime, Guideline: tool.Guideline.Content, Mistakes: []mistake{}}
	calls, err := l.app.store.History(ctx, tool.ToolRef, 0)
	if err != nil {
		return t, err
	}
	window, err := l.app.window.Observations(ctx, tool.ToolRef)
	if err != nil {
		return t, err
	}
	observed := evidence.Merge(window, calls)
	e := evidence.MineObserved(observed, calls)
	t.Judged, t.Failed, t.Runs = e.Judged, e.Failed, e.Runs
	took := make(map[memoryd.CallKey]float64, len(observed))
	for i := range observed {
		c := &observed[i].Call
		took[c.Key] = c.TimeCost
		if c.Evaluation.State == memoryd.Judged && c.Evaluation.Score <= memoryd.ScoreFailure {
			t.Seconds += c.TimeCost
		}
	}
	for i := range e.Causes {
		cause := &e.Causes[i]
		m := mistake{Message: messageOf(cause), Calls: cause.Count, Runs: cause.Runs}
		for _, key := range cause.Calls {
			m.Seconds += took[key]
		}
		m.cost = m.Seconds + turnSeconds*float64(m.Calls)
		t.Mistakes = append(t.Mistakes, m)
	}
	slices.SortStableFunc(t.Mistakes, func(a, b mistake) int { return cmp.Compare(b.cost, a.cost) })
	t.Mistakes = t.Mistakes[:min(len(t.Mistakes), maxMistakes)]
	t.cost = t.Seconds + turnSeconds*float64(t.Failed)
	return t, nil
}

// messageOf is what calls of a cause were told.
func messageOf(c *evidence.Cause) string {
	if len(c.Quotes) > 0 && strings.TrimSpace(c.Quotes[0].Text) != "" {
		return textsafe.Line(textsafe.Mask(c.Quotes[0].Text), maxMessage)
	}
	if c.Class == constraints.Failed {
		return "no message that could be read"
	}
	return textsafe.Line(c.Names(), maxMessage)
}

// Worst are the tools with failures.
func (r *report) Worst() (worst []learnedTool) {
	for _, t := range r.Tools {
		if t.Failed > 0 {
			worst = append(worst, t)
		}
	}
	return worst
}

// Sound are the others.
func (r *report) Sound() []learnedTool { return r.Tools[len(r.Worst()):] }

// Summary says in a sentence what was read.
func (r *report) Summary() string {
	parts := []string{fmt.Sprintf("%s in %s: %d new, %d known already", counted(r.Calls.Found, "tool call"), counted(r.Files.Read+r.Files.Unchanged, "file"), r.Calls.Added, r.Calls.Known)}
	for _, more := range []struct {
		n    int
		what string
	}{
		{r.Calls.Cancelled, "stopped by a person"},
		{r.Calls.Unfinished, "without a result"},
		{r.Calls.Rejected, "that could not be recorded"},
	} {
		if more.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", more.n, more.what))
		}
	}
	s := strings.Join(parts, ", ")
	if r.Files.Other > 0 {
		s += fmt.Sprintf("; %s of no known format", counted(r.Files.Other, "file"))
	}
	if r.Broken > 0 {
		s += fmt.Sprintf("; %s could not be read", counted(r.Broken, "line"))
	}
	if r.Why != "" {
		s += "; the first that could not be recorded: " + r.Why
	}
	return s + "."
}

// counted is a number of things, as a sentence has it.
func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Figures say how a tool does.
func (t learnedTool) Figures() string {
	s := counted(int(t.Calls), "call")
	if t.Judged > 0 {
		s += fmt.Sprintf(", %d of %d failed (%.0f %%)", t.Failed, t.Judged, 100*float64(t.Failed)/float64(t.Judged))
	}
	if t.Runs > 1 {
		s += fmt.Sprintf(", %d runs", t.Runs)
	}
	if t.Seconds >= 1 {
		s += ", " + lost(t.Seconds) + " lost"
	}
	return s
}

// Times says how often a mistake was made.
func (m mistake) Times() string {
	s := fmt.Sprintf("%d×", m.Calls)
	if m.Runs > 1 {
		s += fmt.Sprintf(" in %d runs", m.Runs)
	}
	if m.Seconds >= 1 {
		s += ", " + lost(m.Seconds)
	}
	return s
}

func lost(seconds float64) string {
	return time.Duration(seconds * float64(time.Second)).Round(time.Second).String()
}

// text prints the report for a terminal.
func (r *report) text(w io.Writer, top int) error {
	var b strings.Builder
	fmt.Fprintln(&b, r.Summary())
	for _, f := range r.Faults {
		fmt.Fprintln(&b, "  "+f)
	}
	worst := r.Worst()
	if len(worst) == 0 && len(r.Tools) > 0 {
		fmt.Fprintf(&b, "\nNone of %s has failed.\n", counted(len(r.Tools), "tool"))
	}
	shown := worst
	if top > 0 {
		shown = worst[:min(top, len(worst))]
	}
	for i, t := range shown {
		fmt.Fprintf(&b, "\n%d. %s: %s\n", i+1, t.Tool, t.Figures())
		for _, m := range t.Mistakes {
			fmt.Fprintf(&b, "     %s: %q\n", m.Times(), m.Message)
		}
		for line := range strings.Lines(t.Guideline) {
			fmt.Fprintf(&b, "   | %s\n", strings.TrimRight(line, "\n"))
		}
	}
	if more := len(worst) - len(shown); more > 0 {
		fmt.Fprintf(&b, "\n%s more with failures: --top 0 shows all, --html FILE writes a report.\n", counted(more, "tool"))
	}
	fmt.Fprintf(&b, "\nRecorded in %s, workspace %s: memoryd serve tells it to agents.\n", r.Store, r.Workspace)
	_, err := io.WriteString(w, b.String())
	return err
}

//go:embed learn.html
var learnPage string

// html writes the report as a page of its own.
func (r *report) html(w io.Writer) error {
	page, err := template.New("learn").Parse(learnPage)
	if err != nil {
		return err
	}
	return page.Execute(w, r)
}
