package benchmark

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"memoryd"
	"memoryd/evaluate"
	"memoryd/evaluate/rules"
	"memoryd/internal/reading"
)

// Judge is who is measured; *evaluate.Evaluator is one.
type Judge interface {
	// Prejudge fills in the evaluations that need no waiting.
	Prejudge(ctx context.Context, calls []memoryd.Call)
	// Await tries the pending calls, which are stored, and fills in what became
	// of them.
	Await(ctx context.Context, calls []memoryd.Call)
	// Stats counts what was done so far.
	Stats() evaluate.Stats
}

// Config is what a Run shall do.
type Config struct {
	// Group is how many calls are handed in at once, as one request to the server
	// would, at least 1. The calls of a group do not know each other's evaluations
	// where a model gave them.
	Group int
	// LeaveOutExitCodes leaves calls out of all figures for which
	// Case.OnlyExitCode holds. They are judged and feed the history even so.
	LeaveOutExitCodes bool
	// Errors is how many disagreements are listed.
	Errors int
}

// Parts are what a Run works with.
type Parts struct {
	Judge Judge
	// Name says who judges, for people.
	Name string
	// Rules is the rules judge that Judge was made with, and Clock its clock.
	Rules *RulesRecorder
	Clock *Clock
	// Keep appends calls of one workspace to the history that the judge reads.
	Keep func(ctx context.Context, calls []memoryd.Call) error
	// Now measures how long judging takes.
	Now func() time.Time
}

// Run is one measurement. It is not safe for concurrent use.
type Run struct {
	cfg      Config
	parts    Parts
	sources  []*source
	versions map[string]bool
	misses   []Disagreement

	group   []memoryd.Call
	entries []entry // of the group's calls
}

// entry is what is known of a call beside what the judge sees.
type entry struct {
	Case
	line int
}

// NewRun makes a run.
func NewRun(cfg Config, parts Parts) *Run {
	return &Run{cfg: cfg, parts: parts, versions: map[string]bool{}}
}

// maxFaults is how many unreadable lines a file may have before it is taken for
// something else than a recording.
const maxFaults = 100

// File judges the calls of one recording, called name in the report. Lines that
// cannot be read are handed to fault and left out.
func (r *Run) File(ctx context.Context, name string, lines *bufio.Reader, fault func(line int, err error)) error {
	src := &source{name: name}
	r.sources = append(r.sources, src)
	before := r.parts.Judge.Stats()
	defer func() { src.cost.spent(before, r.parts.Judge.Stats()) }()
	for number := 1; ; number++ {
		line, err := lines.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("line %d: %w", number, err)
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			c, bad := ParseLine(line, name, number)
			if bad != nil {
				src.unreadable++
				fault(number, bad)
			} else if err := r.take(ctx, src, entry{c, number}); err != nil {
				return err
			}
			if src.unreadable >= maxFaults {
				return fmt.Errorf("line %d: %d lines could not be read; this is no recording of calls", number, maxFaults)
			}
		}
		if err != nil {
			return r.flush(ctx, src)
		}
	}
}

// take adds a call to the group in hand.
func (r *Run) take(ctx context.Context, src *source, e entry) error {
	if len(r.group) > 0 && (len(r.group) >= r.cfg.Group || r.group[0].Workspace != e.Call.Workspace) {
		if err := r.flush(ctx, src); err != nil {
			return err
		}
	}
	r.parts.Clock.advance(e.Call.Time)
	r.group = append(r.group, e.Call)
	r.entries = append(r.entries, e)
	return nil
}

// flush judges the group in hand and counts what came of it.
func (r *Run) flush(ctx context.Context, src *source) error {
	calls, entries := r.group, r.entries
	r.group, r.entries = nil, nil
	if len(calls) == 0 {
		return nil
	}
	defer r.parts.Rules.forget()
	started := r.parts.Now()
	err := r.judge(ctx, calls)
	src.cost.took += r.parts.Now().Sub(started)
	if err != nil {
		return err
	}
	for i := range calls {
		r.count(src, &entries[i], &calls[i])
	}
	return nil
}

// tries is how often a call is handed in whose try failed for a reason that may
// pass. The model client has tried several times by then.
const tries = 3

// judge does what the server does with a request. The history keeps its calls
// as they are then; evaluations that come later reach it by the judge.
func (r *Run) judge(ctx context.Context, calls []memoryd.Call) error {
	r.parts.Judge.Prejudge(ctx, calls)
	if err := r.parts.Keep(ctx, slices.Clone(calls)); err != nil {
		return fmt.Errorf("keep the history: %w", err)
	}
	for range tries {
		var places []int
		var pending []memoryd.Call
		for i := range calls {
			if calls[i].Evaluation.State == memoryd.Pending {
				places = append(places, i)
				pending = append(pending, calls[i])
			}
		}
		if len(pending) == 0 {
			return ctx.Err()
		}
		r.parts.Judge.Await(ctx, pending)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		for j, i := range places {
			calls[i].Evaluation = pending[j].Evaluation
			if err := unusable(pending[j].Evaluation.LastError); err != nil {
				return err
			}
		}
	}
	return nil
}

// unusable tells the failures that somebody must mend before any call can be
// judged: going on would measure nothing.
func unusable(lastError string) error {
	reason, _, _ := strings.Cut(lastError, ":")
	switch reason {
	case "credentials", "quota", "unknown_model":
		return errors.New(lastError)
	}
	return nil
}

// count takes a judged call into the figures.
func (r *Run) count(src *source, e *entry, c *memoryd.Call) {
	src.calls++
	src.cost.plain += plainTokens(c)
	if v := c.Evaluation.JudgeVersion; v != "" {
		r.versions[v] = true
	}
	switch {
	case !e.Labelled:
		src.unlabelled++
		return
	case r.cfg.LeaveOutExitCodes && e.OnlyExitCode():
		src.leftOut++
		return
	}
	ruled, seen := r.parts.Rules.result(c.Key)
	if seen && ruled.Sure {
		src.sure[e.Gold][LevelOf(ruled.Score)]++
	}
	judged := c.Evaluation.State == memoryd.Judged
	if judged {
		src.matrix[e.Gold][LevelOf(c.Evaluation.Score)]++
	} else {
		src.unjudged[e.Gold]++
	}
	if (!judged || LevelOf(c.Evaluation.Score) != e.Gold) && len(r.misses) < r.cfg.Errors {
		r.misses = append(r.misses, disagreement(src.name, e, c, seen && ruled.Sure))
	}
}

// Report gives the figures so far.
func (r *Run) Report() Report {
	all := &source{name: "all"}
	report := Report{
		Judge: r.parts.Name, Versions: slices.Sorted(maps.Keys(r.versions)),
		LeftOutExitCodes: r.cfg.LeaveOutExitCodes, Disagreements: r.misses,
	}
	for _, s := range r.sources {
		all.add(s)
		report.Sources = append(report.Sources, s.figures())
	}
	report.All = all.figures()
	return report
}

// RulesRecorder is the rules judge of a run: it passes on what the rules say and
// remembers, for the calls in hand, whether they were sure. It is safe for
// concurrent use.
type RulesRecorder struct {
	rules evaluate.Rules

	mu   sync.Mutex
	seen map[memoryd.CallKey]rules.Result
}

var _ evaluate.Rules = (*RulesRecorder)(nil)

// NewRulesRecorder records r.
func NewRulesRecorder(r evaluate.Rules) *RulesRecorder {
	return &RulesRecorder{rules: r, seen: map[memoryd.CallKey]rules.Result{}}
}

// Version is that of the rules.
func (w *RulesRecorder) Version() string { return w.rules.Version() }

// JudgeRead rates c by the rules. The first evaluation on a call is remembered: later
// ones may already know what became of it.
func (w *RulesRecorder) JudgeRead(c *memoryd.Call, r *reading.Reading, p *rules.Profile) rules.Result {
	v := w.rules.JudgeRead(c, r, p)
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, known := w.seen[c.Key]; !known {
		w.seen[c.Key] = v
	}
	return v
}

// evaluation gives what the rules said of a call in hand.
func (w *RulesRecorder) result(key memoryd.CallKey) (rules.Result, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	v, ok := w.seen[key]
	return v, ok
}

// forget makes room for the next calls.
func (w *RulesRecorder) forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	clear(w.seen)
}

// Clock is the time of a run. It moves with the recording and not with the
// machine, so that what a judge remembers for a while, such as a tool's history,
// is the same in every run. It is safe for concurrent use.
type Clock struct {
	mu   sync.Mutex
	now  time.Time
	last time.Time // of the recording
}

// The steps from one call to the next. A time that is missing or runs backwards,
// as between two files, counts as the least step.
const (
	leastStep = time.Second
	mostStep  = time.Hour
)

// NewClock makes a clock at a fixed time.
func NewClock() *Clock { return &Clock{now: time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)} }

// Now gives the time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// advance moves the clock on to a call that was recorded at t.
func (c *Clock) advance(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	step := leastStep
	if !t.IsZero() && !c.last.IsZero() {
		step = min(max(t.Sub(c.last), leastStep), mostStep)
	}
	c.now = c.now.Add(step)
	c.last = t
}
