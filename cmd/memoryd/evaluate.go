package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"memoryd"
	"memoryd/config"
	"memoryd/evaluate"
	"memoryd/evaluate/benchmark"
	"memoryd/evaluate/rules"
	"memoryd/ops"
	"memoryd/store"
	"memoryd/store/mem"
)

type evaluateCmd struct {
	Files []string `arg:"" name:"file" help:"Labelled calls as JSON lines (metadata.gold: ok, partial or error), plain or gzipped; - reads standard input."`

	Judge   string `enum:",rules,llm,cascade,auto" default:"" placeholder:"JUDGE" help:"Judge to measure: rules, llm, cascade, or auto (default: as configured)."`
	Config  string `type:"path" env:"MEMORYD_CONFIG" placeholder:"FILE" help:"Configuration of judge and model."`
	Replies string `type:"path" placeholder:"FILE" help:"Recorded replies to use instead of the model; with --record, the model answers what is missing."`
	Record  string `type:"path" placeholder:"FILE" help:"Write the model's replies to this file."`
	Group   int    `default:"0" placeholder:"N" help:"Calls per request (default: 1 for rules, otherwise 20)."`

	LeaveOutExitCodes bool `help:"Skip calls with an empty output whose only sign of failure is an exit code."`
	Errors            int  `default:"0" placeholder:"N" help:"List the first N disagreements."`
	JSON              bool `name:"json" help:"Print one JSON document instead of tables."`
}

// Validate finds flags that do not go together; that is a fault of usage.
func (c evaluateCmd) Validate() error {
	switch {
	case c.Errors < 0:
		return errors.New("--errors must be 0 or more")
	case c.Group < 0 || c.Group > 1000:
		return errors.New("--group must be 1 to 1000")
	case c.Record != "" && c.Record == c.Replies:
		return errors.New("--record and --replies name the same file")
	case c.Judge == evaluate.JudgeRules && (c.Record != "" || c.Replies != ""):
		return errors.New("--judge rules asks no model: --record and --replies have no use")
	}
	return nil
}

// Run measures the judge over the files in order. An unreadable line does not
// stop the others; it makes the exit code 1.
func (c evaluateCmd) Run(ctx context.Context, std streams) (err error) {
	cfg, err := config.Load(c.Config, os.Environ())
	if err != nil {
		return err
	}
	m, err := c.newMeasurement(cfg, std)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.close()) }()
	m.evaluator.Start(ctx)
	for _, name := range c.Files {
		if err := m.file(ctx, std, name); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if err := m.print(std.out, c.JSON); err != nil {
		return err
	}
	return m.verdict()
}

// measurement is one run of the command: a judge wired as in the server, on a
// store that ends with it.
type measurement struct {
	run       *benchmark.Run
	evaluator *evaluate.Evaluator
	store     *mem.Store
	models    *models

	replies  *benchmark.Replies  // nil without --replies
	recorder *benchmark.Recorder // nil without --record
	out      *os.File            // of the recorder
	faulty   bool                // a line could not be read
}

func (c evaluateCmd) newMeasurement(cfg *config.Config, std streams) (m *measurement, err error) {
	m = &measurement{store: mem.New()}
	defer func() {
		if err != nil {
			err = errors.Join(err, m.close())
		}
	}()
	if m.models, err = newModels(cfg, os.Getenv, newLogger(cfg.Log, std.err), nil, nil); err != nil {
		return m, err
	}
	llmName, params := ops.Settings[ops.ParseParams](cfg.Plan)
	settings := cfg.Evaluate
	if c.Judge != "" {
		settings.Judge = c.Judge
	}
	model, err := c.model(m, settings.Judge, llmName, params)
	if err != nil {
		return m, err
	}
	settings.SweepInterval = 24 * time.Hour // the run itself hands calls in again
	group := c.group(model)
	settings.QueueSize = max(settings.QueueSize, group)
	clock, recorder := benchmark.NewClock(), benchmark.NewRulesRecorder(rules.New(settings.Rules))
	log := newLogger(cfg.Log, std.err)
	m.evaluator, err = evaluate.NewEvaluator(settings, recorder, model, evaluations{m.store, log}, log, clock.Now)
	if err != nil {
		return m, err
	}
	m.run = benchmark.NewRun(
		benchmark.Config{Group: group, LeaveOutExitCodes: c.LeaveOutExitCodes, Errors: c.Errors},
		benchmark.Parts{
			Judge: m.evaluator, Name: m.evaluator.Describe(), Rules: recorder, Clock: clock, Keep: keeper(m.store, params.MaxHistory), Now: time.Now,
		})
	return m, nil
}

// model is who answers the judge: the configured model, recorded replies, or
// both, recorded where that is wanted. nil is nobody.
func (c evaluateCmd) model(m *measurement, judge, llmName string, params ops.ParseParams) (model memoryd.Model, err error) {
	if judge == evaluate.JudgeRules {
		return nil, nil
	}
	if c.Replies == "" || c.Record != "" {
		if live := m.models.forOp(llmName, "evaluate", params.EvaluationSleepInterval); live != nil {
			model = live
		}
	}
	if c.Replies != "" {
		if m.replies, err = readReplies(c.Replies, model); err != nil {
			return nil, fmt.Errorf("--replies: %s: %w", c.Replies, err)
		}
		model = m.replies
	}
	if c.Record == "" {
		return model, nil
	}
	if model == nil {
		return nil, errors.New("--record: no model is configured, so there is nothing to record")
	}
	if m.out, err = os.Create(c.Record); err != nil {
		return nil, fmt.Errorf("--record: %w", err)
	}
	m.recorder = benchmark.NewRecorder(model, m.out)
	return m.recorder, nil
}

func readReplies(name string, live memoryd.Model) (*benchmark.Replies, error) {
	f, err := os.Open(name) //nolint:gosec // the user names the file
	if err != nil {
		return nil, errors.Unwrap(err)
	}
	defer f.Close() //nolint:errcheck // it was only read
	lines, err := plain(f)
	if err != nil {
		return nil, err
	}
	return benchmark.ReadReplies(lines, live)
}

// modelGroup is how many calls are handed in at once by default where a model
// may be asked, so that its answers are not waited for one by one.
const modelGroup = 20

func (c evaluateCmd) group(model memoryd.Model) int {
	switch {
	case c.Group > 0:
		return c.Group
	case model == nil:
		return 1
	}
	return modelGroup
}

// keeper appends calls to the store as the server does.
func keeper(s store.Calls, keep int) func(context.Context, []memoryd.Call) error {
	return func(ctx context.Context, calls []memoryd.Call) error {
		_, err := s.Append(ctx, store.Batch{Workspace: calls[0].Workspace, Calls: calls, Keep: keep})
		return err
	}
}

func (m *measurement) file(ctx context.Context, std streams, name string) error {
	in, title := std.in, "stdin"
	if name != "-" {
		f, err := os.Open(name) //nolint:gosec // the user names the file
		if err != nil {
			return errors.Unwrap(err)
		}
		defer f.Close() //nolint:errcheck // it was only read
		in, title = f, strings.TrimSuffix(strings.TrimSuffix(filepath.Base(name), ".gz"), ".jsonl")
	}
	lines, err := plain(in)
	if err != nil {
		return err
	}
	return m.run.File(ctx, title, lines, func(line int, err error) {
		m.faulty = true
		fmt.Fprintf(std.err, "%s:%d: not read: %v\n", name, line, err)
	})
}

func (m *measurement) print(w io.Writer, asJSON bool) error {
	report := m.run.Report()
	if m.replies != nil {
		report.MissingReplies, report.OtherInstructions = m.replies.Missing(), m.replies.Other()
	}
	if !asJSON {
		return report.Text(w)
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(report)
}

// verdict says whether the printed figures are what was asked for.
func (m *measurement) verdict() error {
	switch {
	case m.recorder != nil && m.recorder.Err() != nil:
		return fmt.Errorf("--record: %w", m.recorder.Err())
	case m.replies != nil && m.recorder == nil && m.replies.Missing() > 0:
		return fmt.Errorf("--replies: no reply is recorded for %d requests, so the figures are not those of the model", m.replies.Missing())
	case m.faulty:
		return silentError{}
	}
	return nil
}

func (m *measurement) close() error {
	if m.evaluator != nil {
		m.evaluator.Stop()
	}
	if m.models != nil {
		m.models.close()
	}
	var err error
	if m.out != nil {
		err = m.out.Close()
	}
	return errors.Join(err, m.store.Close())
}
