package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"text/tabwriter"
	"time"

	"memoryd"
	"memoryd/config"
	"memoryd/evaluate"
	"memoryd/evaluate/rules"
	"memoryd/internal/loosejson"
	"memoryd/internal/stats"
	"memoryd/ops"
	"memoryd/store"
	"memoryd/store/mem"
)

type evaluateCmd struct {
	Files []string `arg:"" name:"file" help:"Labelled calls as JSON lines (metadata.gold: ok, partial or error), plain or gzipped; - reads standard input."`

	Judge  string `enum:",rules,llm,cascade,auto" default:"" placeholder:"JUDGE" help:"Judge to measure: rules, llm, cascade, or auto (default: as configured)."`
	Config string `type:"path" env:"MEMORYD_CONFIG" placeholder:"FILE" help:"Configuration of judge and model."`
	JSON   bool   `name:"json" help:"Print one JSON document instead of tables."`
}

// Run measures the judge on the files in order. An unreadable line does not stop the others,
// but makes the exit code 1.
func (c evaluateCmd) Run(ctx context.Context, std streams) (err error) {
	cfg, err := config.Load(c.Config, os.Environ())
	if err != nil {
		return err
	}
	m := &measurement{store: mem.New()}
	defer func() { err = errors.Join(err, m.close()) }()
	if err := m.newJudge(cfg, c.Judge, std); err != nil {
		return err
	}
	m.judge.Start(ctx)
	for _, name := range c.Files {
		if err := m.file(ctx, std, name); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if err := m.print(std.out, c.JSON); err != nil {
		return err
	}
	if m.report.Unreadable > 0 {
		return exitCode(exitFailed)
	}
	return nil
}

// The three outcomes of a call, as labels and as scores.
var (
	golds  = [3]string{"error", "partial", "ok"}
	scores = [3]float64{memoryd.ScoreFailure, memoryd.ScorePartial, memoryd.ScoreSuccess}
)

// share is k of n with Wilson's 95 % interval; without n there is no value.
type share struct {
	Value *float64        `json:"value"`
	K     int             `json:"k"`
	N     int             `json:"n"`
	CI95  *stats.Interval `json:"ci95"`
}

// shareOf makes one.
func shareOf(k, n int) (s share) {
	s = share{K: k, N: n, CI95: stats.Wilson(k, n)}
	if n > 0 {
		s.Value = new(float64(k) / float64(n))
	}
	return s
}

// String returns the share as the table shows it.
func (s share) String() string {
	if s.Value == nil {
		return "-"
	}
	return fmt.Sprintf("%.3f (%.3f to %.3f), %d of %d", *s.Value, s.CI95[0], s.CI95[1], s.K, s.N)
}

// judged is what a run found out.
type judged struct {
	Judge      string `json:"judge"`
	Labelled   int    `json:"labelled"`
	Unlabelled int    `json:"unlabelled"`
	Unreadable int    `json:"unreadable_lines"`
	// Confusion counts calls by label, then by score; those without a verdict come last.
	Confusion map[string][4]int `json:"confusion"`
	// Precision and Recall are of the score 0 as a sign of the label error.
	Precision share `json:"precision"`
	Recall    share `json:"recall"`
}

// measurement is a judge wired as in the server, on a store that ends with it.
type measurement struct {
	judge  *evaluate.Evaluator
	store  *mem.Store
	models models
	keep   int
	steps  atomic.Int64
	matrix [3][4]int
	report judged
}

func (m *measurement) newJudge(cfg *config.Config, judge string, std streams) (err error) {
	log := newLogger(cfg.Log, std.err)
	if m.models, err = newModels(cfg, os.Getenv, log, nil); err != nil {
		return err
	}
	llmName, params := ops.Settings[ops.ParseParams](cfg.Plan)
	m.keep = params.MaxHistory
	settings := cfg.Evaluate
	if judge != "" {
		settings.Judge = judge
	}
	var model memoryd.Model
	if settings.Judge != evaluate.JudgeRules {
		if live := m.models.forOp(llmName, "evaluate", params.EvaluationSleepInterval); live != nil {
			model, settings.Workers = live, cfg.LLM[llmName].MaxConcurrency
		}
	}
	settings.SweepInterval = 24 * time.Hour // each call is handed in again here
	// What a judge remembers for a while is the same in every run: time moves with the calls.
	now := func() time.Time { return time.Unix(1735689600+m.steps.Load(), 0) }
	m.judge, err = evaluate.NewEvaluator(settings, rules.New(), model, m.store, log, now)
	if err == nil {
		m.report.Judge = m.judge.Describe()
		m.judge.Observe(func(e evaluate.Event) { logWaiting(log, &e) })
	}
	return err
}

// mostUnreadable is how many lines may be unreadable before a file is taken for
// something else than calls.
const mostUnreadable = 100

func (m *measurement) file(ctx context.Context, std streams, name string) error {
	in, err := source(std.in, name)
	if err != nil {
		return err
	}
	defer in.Close() //nolint:errcheck // it was only read
	lines, unreadable := loosejson.NewLines(in.reader, math.MaxInt, nil), 0
	for line, err := range lines.All() {
		if err != nil {
			return fmt.Errorf("line %d: %w", lines.Number, err)
		}
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		call, gold, err := labelledCall(line, name, lines.Number)
		if err != nil {
			m.report.Unreadable++
			if unreadable++; unreadable >= mostUnreadable {
				return fmt.Errorf("line %d: %d lines are not calls", lines.Number, unreadable)
			}
			fmt.Fprintf(std.err, "%s:%d: not read: %v\n", name, lines.Number, err)
		} else if err := m.take(ctx, call, gold); err != nil {
			return err
		}
	}
	return nil
}

// labelledCall reads a line: the call as the judge may see it and, apart from it, the
// place of its label; -1 is none.
func labelledCall(line []byte, name string, number int) (c memoryd.Call, gold int, err error) {
	l, err := memoryd.ParseCall(line)
	if err != nil {
		return c, 0, err
	}
	if strings.TrimSpace(l.ToolName) == "" {
		return c, 0, errors.New("tool_name: missing")
	}
	l.Workspace = cmp.Or(l.Workspace, memoryd.DefaultWorkspace)
	metadata, word := map[string]json.RawMessage{}, ""
	_ = json.Unmarshal(l.Metadata, &metadata) // nil, or the object that the codec has read
	if raw := metadata["gold"]; raw != nil && json.Unmarshal(raw, &word) != nil {
		return c, 0, errors.New("metadata.gold: not a string")
	}
	if gold = slices.Index(golds[:], word); gold < 0 && word != "" {
		return c, 0, fmt.Errorf("metadata.gold: must be ok, partial or error, not %q", word)
	}
	for name := range metadata { // the judge sees no label, and nothing of where it is from
		if strings.HasPrefix(strings.ToLower(name), "gold") {
			delete(metadata, name)
		}
	}
	c = l.Call()
	id := c.Identity()
	id.RequestKey, id.Index = name, number
	c.Key, c.Hash = id.KeyAndHash()
	c.Metadata, err = json.Marshal(metadata)
	return c, gold, err
}

// take judges a call as the server does, and counts what came of it.
func (m *measurement) take(ctx context.Context, call memoryd.Call, gold int) error {
	m.steps.Add(1)
	calls := []memoryd.Call{call}
	m.judge.Prejudge(ctx, calls)
	if _, err := m.store.Append(ctx, store.Batch{Workspace: call.Workspace, Calls: calls, Keep: m.keep}); err != nil {
		return err
	}
	for range 3 { // the model's client has tried several times by then
		if e := &calls[0].Evaluation; e.State == memoryd.Pending {
			m.judge.Await(ctx, calls)
			switch reason, _, _ := strings.Cut(e.LastError, ":"); reason {
			case "credentials", "quota", "unknown_model": // somebody must mend these first
				return errors.New(e.LastError)
			}
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if gold < 0 {
		m.report.Unlabelled++
		return nil
	}
	m.report.Labelled++
	e := &calls[0].Evaluation
	at := slices.Index(scores[:], e.Score)
	if e.State != memoryd.Judged {
		at = len(scores)
	}
	m.matrix[gold][at]++
	return nil
}

func (m *measurement) print(w io.Writer, asJSON bool) error {
	r, x := &m.report, &m.matrix
	r.Confusion = map[string][4]int{golds[0]: x[0], golds[1]: x[1], golds[2]: x[2]}
	r.Precision = shareOf(x[0][0], x[0][0]+x[1][0]+x[2][0])
	r.Recall = shareOf(x[0][0], x[0][0]+x[0][1]+x[0][2]+x[0][3])
	if asJSON {
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		return enc.Encode(r)
	}
	fmt.Fprintf(w, "judge      %s\ncalls      %d labelled, %d without a label, %d lines not read\nprecision  %s\nrecall     %s\n\n",
		r.Judge, r.Labelled, r.Unlabelled, r.Unreadable, r.Precision, r.Recall)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "label\\score\t0.0\t0.5\t1.0\tnone\t")
	for i, row := range x {
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\t\n", golds[i], row[0], row[1], row[2], row[3])
	}
	return t.Flush()
}

func (m *measurement) close() error {
	if m.judge != nil {
		m.judge.Stop()
	}
	m.models.close()
	return m.store.Close()
}
