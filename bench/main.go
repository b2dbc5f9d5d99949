// Command bench measures memoryd and says what each figure is worth. It builds
// and starts the real binary, starts its baselines beside it, lets them take
// turns in one run, and prints ratios with their spread:
//
//	go -C bench run . all            everything, in under ten minutes
//	go -C bench run . add -quick     one part, small, in seconds
//	go -C bench run . loop -drift    whether agents fail less, beside plain rivals
//
// It is a module of its own, so that its libraries cost users of memoryd nothing.
//
// The load generator runs on the same machine, so that absolute figures belong
// to it; ratios carry over. Open-loop latencies count from the time at which a
// request was due, not from when it was sent.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
)

// part is one sub-command that measures.
type part struct {
	name, about string
	run         func(ctx context.Context, b *bench) error
}

// parts are in the order in which "all" runs them.
func parts() []part {
	return []part{
		{"add", "durable adds of single calls against the same handlers without a store", runAdd},
		{"cpu", "processor time of an add against Echo with decoding, and against -against", runCPU},
		{"batch", "adds of 50 calls against a bare group commit of the same rows", runBatch},
		{"retrieve", "guidelines against a bare handler, idle and beside adds; summaries, preflight", runRetrieve},
		{"flat", "adds and reads beside many stored calls against few", runFlat},
		{"start", "start and memory, with much stored and with nothing", runStart},
		{"rate", "judging through a model with limits, against the bound", runRate},
		{"compact", "compaction of long conversations", runCompact},
		{"overload", "ten times the sustainable load, and recovery", runOverload},
		{"qdrant", "a store on the Qdrant that -qdrant names, against bare writes to it", runQdrant},
		{"soak", "a mixed load for minutes: memory, descriptors, size", runSoak},
	}
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run executes one command line and gives the exit code: 0 measured, 1 failed,
// 2 wrong usage. A missed goal is a result, not a failure.
func run(ctx context.Context, args []string, out, errOut io.Writer) int {
	if len(args) == 0 {
		usage(errOut)
		return 2
	}
	command, args := args[0], args[1:]
	if command == baselineCommand { // what bench starts beside the product
		if err := serveBaseline(ctx, args, out); err != nil {
			fmt.Fprintln(errOut, "bench:", err)
			return 1
		}
		return 0
	}
	if command == loopCommand {
		if err := runLoop(args, out, errOut); err != nil {
			fmt.Fprintln(errOut, "bench:", err)
			return 1
		}
		return 0
	}
	if command == probeCommand && len(args) == 1 {
		if err := probe(ctx, args[0], os.Stdin, out); err != nil {
			fmt.Fprintln(errOut, "bench:", err)
			return 1
		}
		return 0
	}
	chosen := slices.DeleteFunc(parts(), func(p part) bool { return command != "all" && command != p.name })
	if command == profileCommand {
		chosen = []part{{profileCommand, "", runProfile}}
	}
	opts, err := parseOptions(command, args, errOut)
	if err != nil || len(chosen) == 0 {
		usage(errOut)
		return 2
	}
	if err := measure(ctx, chosen, opts, out, errOut); err != nil {
		fmt.Fprintln(errOut, "bench:", err)
		return 1
	}
	return 0
}

// options are the flags that all parts share.
type options struct {
	quick   bool
	json    string // file for the results
	docs    string // folder for plots and table
	binary  string // a memoryd that was built already
	against string // an older memoryd to compare with
	dir     string // where data is kept while it runs
	qdrant  string // gRPC address of a Qdrant
	only    string // of profile: the part to profile
	keep    string // of profile: file for the profile
	soak    time.Duration
}

func parseOptions(command string, args []string, errOut io.Writer) (options, error) {
	var o options
	f := flag.NewFlagSet("bench "+command, flag.ContinueOnError)
	f.SetOutput(errOut)
	f.BoolVar(&o.quick, "quick", false, "small sizes and short runs: all parts in under a minute, with wide spreads")
	f.StringVar(&o.json, "json", "", "`file` to write the results to")
	switch command {
	case "all": // a page with one part would be a page that lost the others
		f.StringVar(&o.docs, "docs", "", "`folder` whose performance.md and plots are renewed")
	case profileCommand:
		f.StringVar(&o.keep, "keep", "", "`file` for the processor profile, for go build -pgo")
		f.StringVar(&o.only, "part", "add", "the load to profile: add, batch, retrieve, summary or compact")
	}
	f.StringVar(&o.binary, "binary", "", "a memoryd `file` to measure instead of building one")
	f.StringVar(&o.against, "against", "", "an older memoryd `file`, whose processor time per add is compared (part cpu)")
	f.StringVar(&o.dir, "dir", "", "`folder` for data, on the disk to be measured (default: a temporary one)")
	f.StringVar(&o.qdrant, "qdrant", "", "gRPC `address` (host:port) of a Qdrant to measure memoryd on")
	// Alone the soak stands for an hour; among the others it has to be shorter.
	soak := 5 * time.Minute
	if command == "all" {
		soak = time.Minute
	}
	f.DurationVar(&o.soak, "soak", soak, "length of the soak")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if f.NArg() > 0 {
		return o, fmt.Errorf("unexpected %s", strings.Join(f.Args(), " "))
	}
	return o, nil
}

func usage(w io.Writer) {
	fmt.Fprintln(w, "usage: bench COMMAND [flags] (COMMAND -h lists them)")
	fmt.Fprintf(w, "  %-9s %s\n", "all", "all of the following")
	for _, p := range parts() {
		fmt.Fprintf(w, "  %-9s %s\n", p.name, p.about)
	}
	fmt.Fprintf(w, "  %-9s %s\n", loopCommand, "whether agents fail less with what they are told, beside plain rivals (-seed, -drift)")
	fmt.Fprintf(w, "  %-9s %s\n", profileCommand, "where the processor's time goes under a load (-part)")
}
