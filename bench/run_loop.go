package main

import (
	"flag"
	"fmt"
	"io"

	"memoryd/config"
	"memoryd/guidelines"
	"memoryd/internal/looptest"
)

// loopCommand measures whether agents fail less with what they are told; it needs no
// server.
const loopCommand = "loop"

// falseAlarms is as default.yaml has it.
const falseAlarms = 0.05

// runLoop lets agents that obey nine of ten things that they are told use made-up tools,
// with each memory in turn, and prints how many of their calls fail.
func runLoop(args []string, out, errOut io.Writer) error {
	f := flag.NewFlagSet("bench loop", flag.ContinueOnError)
	f.SetOutput(errOut)
	seed := f.Uint64("seed", 1, "the first seed")
	seeds := f.Int("seeds", 4, "how many seeds")
	var o looptest.Options
	f.IntVar(&o.Runs, "runs", 60, "runs of agents")
	f.IntVar(&o.Tools, "tools", 8, "made-up tools")
	missed := f.Bool("missed", false, "list the calls that broke a rule without a warning")
	f.BoolVar(&o.Drift, "drift", false, "change a rule of each tool at half time")
	if err := f.Parse(args); err != nil {
		return err
	}
	cfg, err := config.Default()
	if err != nil {
		return err
	}
	ours := func(falseAlarms float64) looptest.Memory {
		return &looptest.Ours{Writer: guidelines.NewWriter(cfg.Guidelines, nil), FalseAlarms: falseAlarms}
	}
	for _, m := range []struct {
		name string
		make func() looptest.Memory
	}{
		{"no memory", func() looptest.Memory { return looptest.Nothing{} }},
		{"list of the five most frequent messages", func() looptest.Memory { return &looptest.Rivals{List: true} }},
		{"contrast of failed and good calls", func() looptest.Memory { return &looptest.Rivals{Contrast: true} }},
		{"list and contrast", func() looptest.Memory { return &looptest.Rivals{List: true, Contrast: true} }},
		{"guideline", func() looptest.Memory { return ours(0) }},
		{"guideline and forecast", func() looptest.Memory { return ours(falseAlarms) }},
	} {
		var sum looptest.Result
		for k := range *seeds {
			sum.Add(looptest.Run(*seed+uint64(k), m.make(), o)) //nolint:gosec // a count
		}
		if _, err := fmt.Fprintf(out, "%s: %s\n", m.name, &sum); err != nil {
			return err
		}
		if *missed && sum.WarnedBad > 0 {
			if _, err := fmt.Fprintf(out, "without a warning, by how many calls the rule had failed before:\n%s", sum.MissedTable()); err != nil {
				return err
			}
		}
	}
	return nil
}
