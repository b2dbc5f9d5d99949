package rules_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"memoryd"
	"memoryd/evaluate/rules"
	"memoryd/internal/reading"
	"memoryd/internal/recordtest"
)

// benchOutputs are outputs of the kinds that cost most, grown to a size.
var benchOutputs = map[string]func(size int) string{
	"text": func(n int) string { return grow("The quick brown fox reports no trouble at all today.\n", n) },
	"line": func(n int) string { return grow("lorem ipsum dolor ", n) },
	"json": func(n int) string {
		return `{"results": [` + strings.TrimSuffix(grow(`{"id": 1, "title": "An error in \"x\"", "tags": ["a", "b"], "n": 1.5},`, n), ",") + `]}`
	},
	"wrapped": func(n int) string {
		return fmt.Sprintf(`{"error": "", "response": %q}`, grow(`{'a': 'b', 'c': [1, 2]}, `, n))
	},
	"braces":  func(n int) string { return grow("[{", n) },
	"slashes": func(n int) string { return `{"a": "` + grow(`\`, n) },
	"quotes":  func(n int) string { return `"` + grow(`\"`, n) + `"` },
	"shell":   func(n int) string { return grow("cat: a: No such file or directory\n", n) },
}

func grow(s string, n int) string { return strings.Repeat(s, n/len(s)+1)[:n] }

func BenchmarkJudge(b *testing.B) {
	j := rules.New()
	p := &rules.Profile{}
	for _, size := range []int{2 << 10, 64 << 10, 1 << 20} {
		for _, kind := range []string{"text", "line", "json", "wrapped", "braces", "slashes", "quotes", "shell"} {
			c := memoryd.Call{
				ToolRef: memoryd.ToolRef{Workspace: "w", Tool: "execute_bash"}, Input: []byte(`{"command": "cd /repo && cat a | sort | uniq -c"}`),
				Output: benchOutputs[kind](size), Success: true, TimeCost: 1, TokenCost: 100,
			}
			b.Run(fmt.Sprintf("%s/%dKB", kind, size>>10), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					j.Judge(&c, p)
				}
			})
		}
	}
}

// BenchmarkRecorded judges recordings, one after the other: the mixture of calls
// that servers see.
func BenchmarkRecorded(b *testing.B) {
	j := rules.New()
	for _, file := range recordtest.Files(b) {
		calls := recordtest.Read(b, file)
		size := 0
		for i := range calls {
			size += len(calls[i].Input) + len(calls[i].Output)
		}
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(file), "calls_"), ".jsonl.gz")
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				j.Judge(&calls[i%len(calls)].Call, nil)
			}
			b.ReportMetric(float64(size)/float64(len(calls)), "bytes/call")
		})
	}
}

// BenchmarkReadAndJudge tells what reading a recorded call's kind and judging it cost
// together, also in processor time, which others on the machine do not change.
func BenchmarkReadAndJudge(b *testing.B) {
	j := rules.New()
	var calls []recordtest.Call
	for _, file := range recordtest.Files(b) {
		calls = append(calls, recordtest.Read(b, file)...)
	}
	var before, after syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &before); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		c := &calls[i%len(calls)].Call
		r := reading.Read(c.Input, c.Output)
		j.JudgeRead(c, r, nil)
		r.Kind()
		r.Release()
	}
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &after); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(after.Utime.Nano()+after.Stime.Nano()-before.Utime.Nano()-before.Stime.Nano())/1000/float64(b.N), "cpu-µs/op")
}

func BenchmarkObserve(b *testing.B) {
	p := &rules.Profile{}
	c := memoryd.Call{Output: `{"a": 1}`, TimeCost: 1, TokenCost: 10, Evaluation: memoryd.Evaluation{State: memoryd.Judged, Score: 1}}
	b.ReportAllocs()
	for b.Loop() {
		p.Observe(&c, rules.Doubt{})
	}
}
