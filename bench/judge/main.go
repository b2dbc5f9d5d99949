// Command judge measures a judge on labelled calls in depth: all figures with their
// intervals, what the rules are sure of, what a model costs. It records a model's replies
// and plays them back, so that a change of rules or prompts is measured on the same answers.
package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"memoryd"
	"memoryd/bench/judge/benchmark"
	"memoryd/config"
	"memoryd/evaluate"
	"memoryd/evaluate/rules"
	"memoryd/llm"
	"memoryd/ops"
	"memoryd/store"
	"memoryd/store/mem"
)

type options struct {
	judge, config, replies, record string
	group, errors                  int
	leaveOutExitCodes, json        bool
}

func main() {
	var o options
	flag.StringVar(&o.judge, "judge", "", "rules, llm, cascade or auto; as configured if it is left out")
	flag.StringVar(&o.config, "config", "", "configuration of judge and model")
	flag.StringVar(&o.replies, "replies", "", "recorded replies to use instead of the model; with -record the model answers what is missing")
	flag.StringVar(&o.record, "record", "", "write the model's replies to this file")
	flag.IntVar(&o.group, "group", 20, "calls handed in at once")
	flag.IntVar(&o.errors, "errors", 0, "list the first N disagreements")
	flag.BoolVar(&o.leaveOutExitCodes, "leave-out-exit-codes", false,
		"skip calls with an empty output whose only sign of failure is an exit code")
	flag.BoolVar(&o.json, "json", false, "print one JSON document")
	flag.Parse()
	if err := o.run(context.Background(), os.Stdout, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "judge:", err)
		os.Exit(1)
	}
}

func (o options) run(ctx context.Context, out io.Writer, files []string) (err error) {
	if len(files) == 0 {
		return errors.New("name files of labelled calls")
	}
	cfg, err := config.Load(o.config, os.Environ())
	if err != nil {
		return err
	}
	s := mem.New()
	defer func() { err = errors.Join(err, s.Close()) }()
	llmName, params := ops.Settings[ops.ParseParams](cfg.Plan)
	settings := cfg.Evaluate
	if o.judge != "" {
		settings.Judge = o.judge
	}
	model, finish, err := o.model(cfg, settings.Judge, llmName, params)
	if err != nil {
		return err
	}
	settings.SweepInterval = 24 * time.Hour // the run itself hands calls in again
	settings.QueueSize = max(settings.QueueSize, o.group)
	clock, recorder := benchmark.NewClock(), benchmark.NewRulesRecorder(rules.New())
	judge, err := evaluate.NewEvaluator(settings, recorder, model, s, slog.New(slog.NewTextHandler(os.Stderr, nil)), clock.Now)
	if err != nil {
		return err
	}
	judge.Start(ctx)
	defer judge.Stop() //nolint:contextcheck // it ends with the program
	run := benchmark.NewRun(
		benchmark.Config{Group: max(1, o.group), LeaveOutExitCodes: o.leaveOutExitCodes, Errors: o.errors},
		benchmark.Parts{
			Judge: judge, Name: judge.Describe(), Rules: recorder, Clock: clock, Now: time.Now,
			Keep: func(ctx context.Context, calls []memoryd.Call) error {
				_, err := s.Append(ctx, store.Batch{Workspace: calls[0].Workspace, Calls: calls, Keep: params.MaxHistory})
				return err
			},
		})
	for _, name := range files {
		if err := read(ctx, run, name); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	report := run.Report()
	if err := finish(&report); err != nil {
		return err
	}
	if o.json {
		enc := json.NewEncoder(out)
		enc.SetIndent("", "  ")
		return enc.Encode(report)
	}
	return report.Text(out)
}

// model is who answers the judge: the configured model, recorded replies, or both.
func (o options) model(cfg *config.Config, judge, llmName string,
	params ops.ParseParams,
) (model memoryd.Model, finish func(*benchmark.Report) error, err error) {
	finish = func(*benchmark.Report) error { return nil }
	if judge == evaluate.JudgeRules {
		return nil, finish, nil
	}
	entry := cfg.LLM[llmName]
	if key := os.Getenv(entry.APIKeyEnv); (key != "" || entry.BaseURL != "") && (o.replies == "" || o.record != "") {
		client, err := llm.New(entry, key, llm.Options{Logger: slog.Default()})
		if err != nil {
			return nil, nil, err
		}
		model = client.ForOp("evaluate", time.Duration(params.EvaluationSleepInterval*float64(time.Second)))
	}
	if o.replies != "" {
		text, err := os.ReadFile(o.replies)
		if err != nil {
			return nil, nil, err
		}
		replies, err := benchmark.ReadReplies(bufio.NewReader(bytes.NewReader(text)), model)
		if err != nil {
			return nil, nil, err
		}
		model = replies
		finish = func(r *benchmark.Report) error {
			if r.MissingReplies, r.OtherInstructions = replies.Missing(), replies.Other(); r.MissingReplies > 0 && o.record == "" {
				return fmt.Errorf("no reply is recorded for %d requests, so the figures are not those of the model", r.MissingReplies)
			}
			return nil
		}
	}
	if o.record == "" {
		return model, finish, nil
	}
	if model == nil {
		return nil, nil, errors.New("no model is configured, so there is nothing to record")
	}
	f, err := os.Create(o.record)
	if err != nil {
		return nil, nil, err
	}
	recorder, before := benchmark.NewRecorder(model, f), finish
	return recorder, func(r *benchmark.Report) error { return errors.Join(before(r), recorder.Err(), f.Close()) }, nil
}

func read(ctx context.Context, run *benchmark.Run, name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // it was only read
	in := io.Reader(f)
	if strings.HasSuffix(name, ".gz") {
		if in, err = gzip.NewReader(f); err != nil {
			return err
		}
	}
	title := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(name), ".gz"), ".jsonl")
	return run.File(ctx, title, bufio.NewReader(in), func(line int, err error) {
		fmt.Fprintf(os.Stderr, "%s:%d: not read: %v\n", name, line, err)
	})
}
