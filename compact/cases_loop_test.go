package compact_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"memoryd/internal/configtest"

	"memoryd"
	"memoryd/compact"
)

// Part E: loops, idempotency, concurrency and progress.

func TestCase41TooLittleGainReturnsTheInput(t *testing.T) {
	in := join(user(long("request", 300)), steps("a", 2, 1), user("next"))
	c := newCompactor(t)
	res := run(t, c, compact.Request{Messages: in, Profile: "deerflow"})
	if res.Compacted {
		t.Fatalf("compacted: %s, %d to %d", res.Reason, res.Report.TokensBefore, res.Report.TokensAfter)
	}
	cfg := configtest.Section[compact.Config]("compact")
	cfg.MinGainFraction = 0.95
	res = run(t, compactorWith(t, cfg, compact.Deps{}), compact.Request{Messages: longTalk(), Profile: "deerflow"})
	if res.Compacted || res.Reason != compact.GainTooSmall || !strings.Contains(res.Detail, "95 %") {
		t.Errorf("%s: %s", res.Reason, res.Detail)
	}
}

func TestCase42ATailThatIsTooLargeIsTriedOnce(t *testing.T) {
	m := &counting{text: "of the text a-0 word"}
	c := newCompactor(t, m)
	over := `{"trigger":{"tokens":500},"keep":{"type":"messages","value":4}}`
	in := join(user("start"), steps("a", 10, 60), user(long("tail", 400)))
	res := run(t, c, compact.Request{Messages: in, Profile: "deerflow", Overrides: []byte(over)})
	if !res.Compacted || res.Report.TokensAfter < 500 {
		t.Fatalf("%s: %d tokens", res.Reason, res.Report.TokensAfter)
	}
	calls := m.count()
	messages := res.Messages
	for i := range 5 {
		messages = join(messages, says(fmt.Sprintf("step %d", i)))
		res := run(t, c, compact.Request{Messages: messages, Profile: "deerflow", Overrides: []byte(over)})
		if res.Compacted || res.Reason != compact.CoolingDown {
			t.Fatalf("after %d more messages: %s", i+1, res.Reason)
		}
	}
	if m.count() != calls {
		t.Errorf("%d more requests to the model", m.count()-calls)
	}
}

func TestCase43CompactingTwiceIsCompactingOnce(t *testing.T) {
	for _, profile := range []string{"default", "deerflow", "forge", "ra_aid"} {
		m := &counting{text: "of the text a-0 word"}
		c := newCompactor(t, m)
		r := compact.Request{Messages: longTalk(), Profile: profile, Force: true, MaxInputTokens: 6000}
		first := run(t, c, r)
		if !first.Compacted {
			t.Fatalf("%s: %s", profile, first.Reason)
		}
		calls := m.count()
		r.Messages = first.Messages
		second := run(t, c, r)
		if second.Compacted || second.Reason != compact.AlreadyCompacted || m.count() != calls {
			t.Errorf("%s: %s and %d more requests", profile, second.Reason, m.count()-calls)
		}
	}
}

func TestCase44TheSameRequestFiftyTimesIsOneRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &counting{text: "of the text a-0 word"}
		slow := modelFunc(func(ctx context.Context, p memoryd.Prompt) (memoryd.Completion, error) {
			time.Sleep(time.Second)
			return m.Complete(ctx, p)
		})
		c := newCompactor(t, slow)
		r := compact.Request{Messages: longTalk(), Profile: "deerflow"}
		var wg sync.WaitGroup
		results := make([]compact.Result, 50)
		for i := range results {
			wg.Go(func() { results[i], _ = c.Compact(t.Context(), r) })
		}
		wg.Wait()
		again := run(t, c, r)
		for i, res := range results {
			if !res.Compacted || !equal(res.Messages, again.Messages) || res.Report.ID != again.Report.ID {
				t.Fatalf("answer %d differs: %s", i, res.Reason)
			}
		}
		if m.count() != 1 {
			t.Errorf("%d requests to the model, want 1", m.count())
		}
	})
}

func TestCase44AFailedRunIsNotSharedForEver(t *testing.T) {
	m := &counting{err: errors.New("down")}
	c := newCompactor(t, m)
	r := compact.Request{Messages: longTalk(), Profile: "deerflow"}
	run(t, c, r)
	m.mu.Lock()
	m.err, m.text = nil, "of the text a-0 word"
	m.mu.Unlock()
	if res := run(t, c, r); len(res.Report.ModelFailures) > 0 || !strings.Contains(res.Summary, m.text) {
		t.Errorf("the failure was remembered: %v", res.Report.ModelFailures)
	}
}

func TestCase45AppendedMessagesLeaveEarlierBytesAlone(t *testing.T) {
	c := newCompactor(t)
	full := join(system("be kind"), user("go"), steps("a", 30, 60), user("next"))
	first := run(t, c, compact.Request{Messages: full, Profile: "deerflow"})
	if !first.Compacted {
		t.Fatal(first.Reason)
	}
	for i := range 3 {
		full = join(full, steps(fmt.Sprintf("later%d", i), 1, 5))
		res := run(t, c, compact.Request{Messages: full, Profile: "deerflow"})
		if len(res.Messages) < len(first.Messages) || !equal(res.Messages[:len(first.Messages)], first.Messages) {
			t.Fatalf("the bytes of the earlier result changed after %d more groups (%s)", i+1, res.Reason)
		}
	}
}

func TestCase46MessagesAddedWhileARunIsUnderWayAreNotLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := modelFunc(func(context.Context, memoryd.Prompt) (memoryd.Completion, error) {
			time.Sleep(time.Second)
			return memoryd.Completion{Text: "of the text a-0 word"}, nil
		})
		c := newCompactor(t, slow)
		in := longTalk()
		sent := append(in[:0:0], in...)
		done := make(chan compact.Result)
		go func() {
			res, _ := c.Compact(t.Context(), compact.Request{Messages: sent, Profile: "deerflow"})
			done <- res
		}()
		time.Sleep(500 * time.Millisecond)
		added := join(says("added meanwhile"), user("and this"))
		grown := join(in, added)
		res := <-done
		if !res.Compacted {
			t.Fatal(res.Reason)
		}
		next := run(t, c, compact.Request{Messages: grown, Profile: "deerflow"})
		for _, m := range added {
			if !contains(next.Messages, m) {
				t.Errorf("lost: %s", m)
			}
		}
		back, err := c.Undo(t.Context(), compact.UndoRequest{OriginalRef: compact.OriginalRef{ID: res.Report.ID}, Messages: join(res.Messages, added)})
		if err != nil || !equal(back, grown) {
			t.Errorf("undo in a conversation that went on: %v", err)
		}
	})
}

func TestCase48FactsSurviveAHundredCompactions(t *testing.T) {
	c := newCompactor(t)
	messages := join(system("be kind"), user("My order is QX7781-ALPHA and the host is db-17.internal.example."))
	largest := 0
	for i := range 100 {
		messages = join(messages, steps(fmt.Sprintf("n%d", i), 4, 40), user(fmt.Sprint("go on ", i)))
		res := run(t, c, compact.Request{Messages: messages, Force: true, TargetTokens: 1500})
		if !res.Compacted {
			t.Fatalf("round %d: %s %s", i, res.Reason, res.Detail)
		}
		messages = res.Messages
		largest = max(largest, len(res.Summary))
		if text := textOf(t, messages); !strings.Contains(text, "QX7781-ALPHA") || !strings.Contains(text, "db-17.internal.example") {
			t.Fatalf("round %d: a fact is gone\n%s", i, text)
		}
		if res.Report.TokensAfter > 1500 {
			t.Fatalf("round %d: %d tokens", i, res.Report.TokensAfter)
		}
	}
	if largest > 8000 {
		t.Errorf("the summary grew to %d bytes", largest)
	}
}

func TestCase56ProgressGrowsAndEnds(t *testing.T) {
	m := &counting{text: "of the text a-0 word"}
	c := newCompactor(t, m)
	events := make(chan compact.Event, 2*len(longTalk())+9) // nobody reads while the run goes on
	res := run(t, c, compact.Request{Messages: longTalk(), Profile: "deerflow", Progress: func(e compact.Event) { events <- e }})
	close(events)
	done, ends := 0, 0
	for e := range events {
		switch e.Type {
		case "progress":
			if e.Done != done+1 || e.Total < e.Done {
				t.Fatalf("%d of %d after %d", e.Done, e.Total, done)
			}
			done = e.Done
		case "result":
			ends++
			if e.TokensAfter != res.Report.TokensAfter || e.Done != e.Total {
				t.Errorf("the end says %+v", e)
			}
		}
	}
	if ends != 1 || done == 0 || done != res.Report.Groups {
		t.Errorf("%d events for %d groups", done, res.Report.Groups)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var last compact.Event
	if _, err := c.Compact(ctx, compact.Request{Messages: join(longTalk(), user("other")), Progress: func(e compact.Event) { last = e }}); err == nil || last.Type != "error" {
		t.Errorf("a cancelled run ended with %+v, %v", last, err)
	}
}
