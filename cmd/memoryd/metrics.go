package main

import (
	"context"
	"time"

	"memoryd/compact"
	"memoryd/internal/telemetry/metrics"
	"memoryd/llm"
	"memoryd/store"
	"memoryd/store/journal"
)

// measure lets the metrics see the store and what is asked of it.
func (a *app) measure(s store.Store) store.Store {
	a.metrics = metrics.New(metrics.Build{Version: version, Commit: commit()})
	if p, ok := s.(interface{ PendingCalls() int64 }); ok {
		a.metrics.Pending(p.PendingCalls)
	}
	if journal, ok := s.(*journal.Store); ok {
		a.journal = journal
		a.metrics.StoreState(journal.Journal())
		a.metrics.Journal(func() metrics.Journal { return journalState(journal.Status(), time.Now()) })
	}
	return metrics.Store(s, a.metrics)
}

func journalState(s journal.Status, now time.Time) metrics.Journal {
	m := metrics.Journal{
		Backlog: s.Backlog, Available: !s.Away && s.Fault == nil, Forwarded: s.Forwarded, Parked: s.Parked,
		Repairs: s.Repairs, Repaired: map[string]int64{"calls": s.Calls, "verdicts": s.Verdicts, "guidelines": s.Guidelines},
	}
	if !s.Oldest.IsZero() {
		m.Age = max(0, now.Sub(s.Oldest))
	}
	return m
}

// measureParts lets the metrics ask the parts that keep counts of their own.
func (a *app) measureParts() {
	a.metrics.Panics(a.panics.Counts)
	a.metrics.Judge(a.judgeState)
	a.metrics.Models(a.modelState)
	if a.tracer != nil {
		a.metrics.Spans(func() (queueFull, collector int64) {
			s := a.tracer.Stats()
			return s.Dropped, s.Failed
		})
	}
	a.metrics.Guidelines(func() metrics.Guidelines {
		s := a.refresher.State()
		return metrics.Guidelines{Written: s.Written, Stale: s.Stale, Oldest: s.Oldest}
	})
}

// judgeState gives the counts of the judge.
func (a *app) judgeState() metrics.Judge {
	s := a.judge.Stats()
	var byRules int64
	for _, n := range s.RuleVerdicts {
		byRules += n
	}
	return metrics.Judge{
		Verdicts:     map[string]int64{"rules": byRules, "cache": s.CacheHits, "model": s.ModelVerdicts, "failed": s.GivenUp},
		RuleVerdicts: s.RuleVerdicts, Repaired: s.Repaired, Failures: s.Failures, CacheHits: s.CacheHits, Joined: s.Joined,
		Reasked: s.Reasked, LedgerErrors: s.LedgerErrors,
		Queued: s.Queued, InHand: s.InHand,
	}
}

func (a *app) modelState() []metrics.Model {
	var list []metrics.Model
	for name, client := range a.models.clients {
		s := client.Stats()
		list = append(list, metrics.Model{
			Name: name, Available: client.Health().Reason == "", Reason: client.Health().Reason, Queued: s.Queued, InFlight: s.InFlight,
			Concurrency: s.Concurrency, Retries: s.Retries,
		})
	}
	return list
}

func (a *app) measureAttempt(t llm.Attempt) {
	a.metrics.ModelRequest(metrics.ModelRequest{
		Model: t.Model, Op: t.Op, Outcome: t.Outcome, Waited: t.Waited, Took: t.Took,
		PromptTokens: t.Usage.PromptTokens, CompletionTokens: t.Usage.CompletionTokens,
		Cost: a.prices[t.Model].Cost(t.Usage),
	})
}

// measuredCompactor counts what a compactor does.
type measuredCompactor struct {
	*compact.Compactor
	metrics *metrics.Registry
}

// Compact implements ops.CompactConversation's Compactor.
func (m measuredCompactor) Compact(ctx context.Context, r compact.Request) (compact.Result, error) {
	start := time.Now()
	res, err := m.Compactor.Compact(ctx, r)
	trigger, outcome := wordsOf(res)
	if err != nil {
		outcome = metrics.OutcomeRefused
	}
	m.metrics.Compaction(trigger, outcome, res.Report.TokensBefore-res.Report.TokensAfter, time.Since(start))
	return res, err
}

// wordsOf says in the words of the metrics why and how a compaction ended.
func wordsOf(res compact.Result) (trigger, outcome string) {
	outcome = metrics.OutcomeUnchanged
	switch {
	case res.Compacted && len(res.Report.ModelFailures) > 0:
		outcome = metrics.OutcomeExtract
	case res.Compacted:
		outcome = metrics.OutcomeCompacted
	case res.Reason == compact.ModelFailed, res.Reason == compact.StoreFailed, res.Reason == compact.InvalidResult:
		outcome = metrics.OutcomeFailed
	}
	switch res.Reason {
	case compact.ForTokens, compact.ForFraction:
		return metrics.TriggerTokens, outcome
	case compact.ForMessages:
		return metrics.TriggerMessages, outcome
	case compact.ForBuffer, compact.ForAge:
		return metrics.TriggerProfile, outcome
	case compact.Forced:
		return metrics.TriggerAsked, outcome
	}
	return metrics.TriggerNone, outcome
}
