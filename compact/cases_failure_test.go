package compact_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"memoryd/internal/configtest"

	"memoryd"
	"memoryd/compact"

	"github.com/go-json-experiment/json/jsontext"
)

// Part D: failure.

// longTalk needs compaction in every profile.
func longTalk() []jsontext.Value {
	return join(system("be kind"), user("go"), steps("a", 30, 60), user("next"))
}

func TestCase31AFailingModelLosesNothing(t *testing.T) {
	failures := map[string]modelFunc{
		"error": func(context.Context, memoryd.Prompt) (memoryd.Completion, error) {
			return memoryd.Completion{}, &memoryd.ModelError{Reason: "server", Err: errors.New("secret detail")}
		},
		"429": func(context.Context, memoryd.Prompt) (memoryd.Completion, error) {
			return memoryd.Completion{}, &memoryd.ModelError{Reason: "rate_limited", Temporary: true}
		},
		"panic": func(context.Context, memoryd.Prompt) (memoryd.Completion, error) { panic("boom") },
	}
	for name, m := range failures {
		for _, on := range []string{"extract", "keep"} {
			cfg := configtest.Section[compact.Config]("compact")
			cfg.Model.OnFailure = on
			res := run(t, compactorWith(t, cfg, compact.Deps{Model: m}), compact.Request{Messages: longTalk(), Profile: "deerflow"})
			if on == "keep" && (res.Compacted || res.Reason != compact.ModelFailed) {
				t.Errorf("%s, %s: %s", name, on, res.Reason)
			}
			if on == "extract" && (!res.Compacted || len(res.Report.ModelFailures) == 0 || !strings.Contains(res.Summary, "a-3-arg")) {
				t.Errorf("%s, %s: %s %v\n%s", name, on, res.Reason, res.Report.ModelFailures, res.Summary)
			}
			if strings.Contains(res.Summary, "secret detail") || strings.Contains(strings.Join(res.Report.ModelFailures, " "), "secret detail") {
				t.Errorf("%s: inner text of the error came out", name)
			}
		}
	}
}

func TestCase31ASlowModelIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := modelFunc(func(ctx context.Context, _ memoryd.Prompt) (memoryd.Completion, error) {
			<-ctx.Done()
			return memoryd.Completion{}, ctx.Err()
		})
		began := time.Now()
		res := run(t, newCompactor(t, slow), compact.Request{Messages: longTalk(), Profile: "ra_aid", MaxInputTokens: 6000})
		if !res.Compacted || time.Since(began) != configtest.Section[compact.Config]("compact").Model.Timeout || !strings.Contains(fmt.Sprint(res.Report.ModelFailures), "timeout") {
			t.Errorf("%s after %v: %v", res.Reason, time.Since(began), res.Report.ModelFailures)
		}
	})
}

func TestCase32And33AnswersThatAreNoSummaryAreFailures(t *testing.T) {
	answers := map[string]string{
		"empty":           "",
		"blank":           " \n\t ",
		"only headings":   "## Goal\n\n## Decisions:\n",
		"none everywhere": "Goal: None\nDecisions: none.\n- N/A",
		"a tool call":     `{"name":"search","arguments":{"q":1}}`,
		"tagged call":     "<tool_call>search</tool_call>",
		"only thinking":   "<think>They asked about flights and I should",
		"too long":        strings.Repeat("The user asked and the assistant answered again. ", 500),
		"invented":        "The user paid with card_998877 for order QX77812.",
	}
	for name, text := range answers {
		t.Run(name, func(t *testing.T) {
			m := &counting{text: text}
			res := run(t, newCompactor(t, m), compact.Request{Messages: longTalk(), Profile: "deerflow"})
			if !res.Compacted || len(res.Report.ModelFailures) == 0 || strings.Contains(res.Summary, "Described by a model") {
				t.Errorf("taken as a summary: %v\n%s", res.Report.ModelFailures, res.Summary)
			}
			if want := map[bool]int{true: 2, false: 1}[name == "too long"]; m.count() != want {
				t.Errorf("%d requests, want %d", m.count(), want)
			}
		})
	}
	cut := modelFunc(func(_ context.Context, p memoryd.Prompt) (memoryd.Completion, error) {
		return memoryd.Completion{Text: "The user asked", Usage: memoryd.Usage{CompletionTokens: p.MaxTokens}}, nil
	})
	if res := run(t, newCompactor(t, cut), compact.Request{Messages: longTalk(), Profile: "deerflow"}); len(res.Report.ModelFailures) == 0 {
		t.Error("an answer that was cut off was taken")
	}
}

func TestCase34FinishedWorkIsKeptWhenOnePartFails(t *testing.T) {
	var n atomic.Int32
	var healthy atomic.Bool
	m := modelFunc(func(_ context.Context, p memoryd.Prompt) (memoryd.Completion, error) {
		n.Add(1)
		if !healthy.Load() && strings.Contains(p.User, `{\"item_id\":\"a-3-arg\"}`) {
			return memoryd.Completion{}, &memoryd.ModelError{Reason: "server"}
		}
		return memoryd.Completion{Text: "of the text a-0 word"}, nil
	})
	cfg := configtest.Section[compact.Config]("compact")
	cfg.Model.PromptTokens, cfg.Model.OnFailure = 1200, "keep"
	c := compactorWith(t, cfg, compact.Deps{Model: m})
	r := compact.Request{Messages: join(user("go"), steps("a", 24, 150), pad(20)), Profile: "forge"}
	if res := run(t, c, r); res.Compacted || res.Reason != compact.ModelFailed {
		t.Fatalf("%s", res.Reason)
	}
	parts := n.Load()
	healthy.Store(true)
	res := run(t, c, r)
	if !res.Compacted || n.Load() != parts+1 || res.Report.ModelCalls != 1 || res.Report.ReusedSummaries != int(parts)-1 {
		t.Errorf("%s: %d requests at first, %d after; reused %d", res.Reason, parts, n.Load(), res.Report.ReusedSummaries)
	}
}

func TestCase35NothingIsEverReplacedByACannedSentence(t *testing.T) {
	trim := jsontext.Value(`{"trim_tokens_to_summarize":1,"keep":{"type":"messages","value":2},"trigger":{"messages":1}}`)
	res := run(t, newCompactor(t, &counting{text: ""}), compact.Request{Messages: longTalk(), Profile: "deerflow", Overrides: trim})
	if !res.Compacted || !strings.Contains(res.Summary, "a-3-arg") || !strings.Contains(res.Summary, "a-28-arg") {
		t.Errorf("%s\n%s", res.Reason, res.Summary)
	}
}

// failing is a store of originals that can be switched off.
type failing struct {
	compact.Originals
	put, get bool
}

func (f *failing) Put(ctx context.Context, w string, items []compact.Original) error {
	if f.put {
		return memoryd.Errorf(memoryd.Unavailable, "down")
	}
	return f.Originals.Put(ctx, w, items)
}

func (f *failing) Get(ctx context.Context, w, id string) (compact.Original, error) {
	if f.get {
		return compact.Original{}, memoryd.Errorf(memoryd.Unavailable, "down")
	}
	return f.Originals.Get(ctx, w, id)
}

func TestCase37CancellationStopsEverything(t *testing.T) {
	started := make(chan struct{}, 16)
	m := modelFunc(func(ctx context.Context, _ memoryd.Prompt) (memoryd.Completion, error) {
		started <- struct{}{}
		<-ctx.Done()
		return memoryd.Completion{}, ctx.Err()
	})
	cfg := configtest.Section[compact.Config]("compact")
	cfg.Model.PromptTokens = 1200
	store := &failing{Originals: newMemory()}
	c := compactorWith(t, cfg, compact.Deps{Model: m, Originals: store})
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-started; cancel() }()
	var last compact.Event
	_, err := c.Compact(ctx, compact.Request{Messages: longTalk(), Profile: "deerflow", Progress: func(e compact.Event) { last = e }})
	if !errors.Is(err, context.Canceled) || last.Type != "error" {
		t.Errorf("%v, last event %q", err, last.Type)
	}
	if res := run(t, newCompactor(t), compact.Request{Messages: longTalk(), Profile: "deerflow"}); !res.Compacted {
		t.Errorf("afterwards: %s", res.Reason)
	} // TestMain checks that no goroutine is left
}

func TestCase38AStoreThatIsDownMeansNoCompaction(t *testing.T) {
	for name, store := range map[string]*failing{"put": {put: true}, "get": {}} {
		store.Originals = newMemory()
		c := compactorWith(t, configtest.Section[compact.Config]("compact"), compact.Deps{Originals: store})
		ms := longTalk()
		if name == "get" { // only a summary makes it read
			ms = join(run(t, c, compact.Request{Messages: ms, Profile: "deerflow"}).Messages, steps("b", 30, 60), user("more"))
			store.get = true
		}
		res, err := c.Compact(t.Context(), compact.Request{Messages: ms, Profile: "deerflow"})
		if err != nil || res.Compacted || res.Reason != compact.StoreFailed || !equal(res.Messages, ms) {
			t.Errorf("%s: %v %s", name, err, res.Reason)
		}
		store.put, store.get = false, false
		if res := run(t, c, compact.Request{Messages: ms, Profile: "deerflow"}); !res.Compacted {
			t.Errorf("%s: the failure was remembered: %s", name, res.Reason)
		}
	}
}

func TestCase39And40WhatIsTooLargeForAModelIsSplitNotDropped(t *testing.T) {
	m := &counting{text: "of the text needle-0 word"}
	cfg := configtest.Section[compact.Config]("compact")
	cfg.Model.PromptTokens = 1000
	ms := join(user("go"), steps("needle", 40, 60), calls("big"), result("big", "begin-needle "+long("big", 5000)+" end-needle"), user("next"))
	overrides := jsontext.Value(`{"trim_tokens_to_summarize":null,"keep":{"type":"messages","value":1}}`)
	res := run(t, compactorWith(t, cfg, compact.Deps{Model: m}), compact.Request{Messages: ms, Profile: "deerflow", Overrides: overrides})
	if !res.Compacted || m.count() < 10 || len(res.Report.ModelFailures) > 0 {
		t.Fatalf("%s, %d requests, %v", res.Reason, m.count(), res.Report.ModelFailures)
	}
	all := m.all()
	for i := range 40 {
		if want := fmt.Sprintf("needle-%d-arg", i); !strings.Contains(all, want) {
			t.Errorf("%s was not shown to the model", want)
		}
	}
	for _, want := range []string{"begin-needle", "end-needle"} {
		if !strings.Contains(all, want) {
			t.Errorf("%s was not shown to the model", want)
		}
	}
}
