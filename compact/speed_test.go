package compact_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"memoryd/internal/configtest"

	"memoryd"
	"memoryd/compact"
	"memoryd/compact/chat"
	"memoryd/compact/tokens"

	"github.com/go-json-experiment/json/jsontext"
)

// talkOf is a conversation of n messages, about 100 tokens each: records in JSON,
// a log, and what people and models write.
func talkOf(n int) []jsontext.Value {
	ms := []jsontext.Value{system("You help with orders."), user("Please check all of my orders.")}
	for i := 0; len(ms) < n-1; i++ {
		id := fmt.Sprintf("call_%d", i)
		switch i % 4 {
		case 0:
			ms = append(ms, says(fmt.Sprintf("I found order R%05d and will look at the flights of 2024-05-%02d next. ", i*7, i%28+1)+strings.Repeat("Then I compare the prices of all cabins and report back to you. ", 5)))
			ms = append(ms, user(fmt.Sprintf("Good, then go on with order R%05d, please. ", i*7+1)+strings.Repeat("I would like to know whether there is a cheaper way. ", 6)))
		case 1:
			ms = append(ms, calls(id), result(id, strings.Repeat(fmt.Sprintf("2024-05-%02d 10:%02d:00 INFO job-%d done in %d ms\n", i%28+1, i%60, i, i*13), 10)))
		default:
			var rec []string
			for k := range 4 {
				rec = append(rec, fmt.Sprintf(`{"flight_number": "HAT%03d", "origin": "ORD", "destination": "PHL", "price": %d, "path": "/data/%d/%d.json"}`, (i*5+k)%1000, 100+i*3+k, i, k))
			}
			ms = append(ms, calls(id), result(id, "["+strings.Join(rec, ", ")+"]"))
		}
	}
	return append(ms[:n-1], user("What is the cheapest?"))
}

// filesOf is a conversation of about n tokens in which an agent reads files: long
// outputs, hardly anything else, as the benchmark program sends it.
func filesOf(n int) []jsontext.Value {
	ms := []jsontext.Value{system("You are an agent that works on a repository."), user("Find out why the ring loses slots.")}
	for i := 0; len(ms)*330 < n; i++ {
		id := fmt.Sprintf("call_%d", i)
		var out strings.Builder
		for line := range 40 {
			fmt.Fprintf(&out, "%d: slot %d of ring m-%d holds %x\n", line, line*i, i, (line+1)*(i+1)*7919)
		}
		ms = append(ms, calls(id), result(id, out.String()))
	}
	return ms
}

// BenchmarkCompact compacts conversations of about 25,000, 100,000 and 400,000
// tokens to half, without a model. The time per token should not depend on the
// length.
func BenchmarkCompact(b *testing.B) {
	for _, n := range []int{25, 100, 400} {
		b.Run(fmt.Sprintf("talk/%dk", n), func(b *testing.B) { benchmarkCompact(b, talkOf(9*n)) })
		b.Run(fmt.Sprintf("files/%dk", n), func(b *testing.B) { benchmarkCompact(b, filesOf(1000*n)) })
	}
}

func benchmarkCompact(b *testing.B, ms []jsontext.Value) {
	b.Helper()
	b.ReportAllocs()
	total := 0
	for b.Loop() {
		b.StopTimer()
		c := newCompactor(b) // nothing is remembered from the run before
		b.StartTimer()
		res, err := c.Compact(b.Context(), compact.Request{Messages: ms, Model: "gpt-4o", Force: true})
		if err != nil || !res.Compacted {
			b.Fatalf("%s %v", res.Reason, err)
		}
		total = res.Report.TokensBefore
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(total), "ns/token")
	b.ReportMetric(float64(total), "tokens")
}

// BenchmarkRead parses and counts one message of 1 MiB.
func BenchmarkRead(b *testing.B) {
	for _, size := range []int{64 << 10, 1 << 20} {
		text := strings.Repeat("2024-05-20 10:00:00 INFO job \"7\" done\n", size/40)
		raw := user(text)
		b.Run(fmt.Sprintf("%dKB", size>>10), func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(raw)))
			for b.Loop() {
				m, err := chat.Parse(raw)
				if err != nil || tokens.ForModel("gpt-4o").Count(m.Text()) == 0 {
					b.Fatal(err)
				}
			}
		})
	}
}

func TestEightGroupsWithASlowModelTakeOneRound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := modelFunc(func(ctx context.Context, _ memoryd.Prompt) (memoryd.Completion, error) {
			time.Sleep(time.Second)
			return memoryd.Completion{Text: "of the text a-0 word"}, nil
		})
		cfg := configtest.Section[compact.Config]("compact")
		cfg.Model.PromptTokens = 700 // so small that each group needs a request of its own
		c := compactorWith(t, cfg, compact.Deps{Model: slow})
		in := join(user("go"), steps("a", 8, 150), steps("b", 10, 2), user("next"))
		res := run(t, c, compact.Request{Messages: in, Profile: "forge", Force: true})
		if res.Report.Groups != 8 || res.Report.ModelCalls != 8 || len(res.Report.ModelFailures) > 0 {
			t.Fatalf("%d groups, %d calls, %v", res.Report.Groups, res.Report.ModelCalls, res.Report.ModelFailures)
		}
		if res.Report.WallSeconds >= 1.3 || res.Report.ModelSeconds != 8 {
			t.Errorf("%.2f s for %.2f s of model time", res.Report.WallSeconds, res.Report.ModelSeconds)
		}
	})
}

// TestForgeSavesModelCalls replays the first 150 messages of each recording one by one
// and counts requests to the model against one for each summarised group, which is
// what the original spends.
func TestForgeSavesModelCalls(t *testing.T) {
	if os.Getenv("MEMORYD_TEST_DATA") == "" {
		t.Skip("MEMORYD_TEST_DATA names no folder with recorded conversations (chats_*.jsonl.gz)")
	}
	m := &counting{text: "of the text a-0 word"}
	groups := 0
	for _, r := range recordings(t) {
		cfg := configtest.Section[compact.Config]("compact")
		c := compactorWith(t, cfg, compact.Deps{Model: m})
		var now []jsontext.Value
		for _, next := range r.Messages[:min(len(r.Messages), 150)] {
			now = append(now, next)
			res, err := c.Compact(t.Context(), compact.Request{Messages: now, Profile: "forge", Conversation: r.ID})
			if err != nil {
				t.Fatal(err)
			}
			if res.Compacted {
				groups += res.Report.Groups
				now = append([]jsontext.Value{}, res.Messages...)
			}
		}
	}
	saved := 1 - float64(m.count())/float64(groups)
	t.Logf("%d requests for %d groups: %.1f %% fewer", m.count(), groups, 100*saved)
	if saved < 0.8 {
		t.Errorf("%.1f %% fewer requests, want at least 80 %%", 100*saved)
	}
}
