package main

import (
	"context"
	"errors"
	"fmt"

	"memoryd/api"
	"memoryd/internal/telemetry/trace"
	"memoryd/llm"
	"memoryd/ops"
)

// newTracer makes the tracer, and lets the log tell of traces.
func (a *app) newTracer() (err error) {
	if a.tracer, err = trace.New(a.cfg.Trace, trace.Build{Version: version}, a.log); err != nil {
		return fmt.Errorf("trace: %w", err)
	}
	a.onStop(a.tracer.Stop)
	a.parts[len(a.parts)-1].start = func(context.Context) { a.tracer.Start() }
	a.log = a.tracer.Log(a.log)
	return nil
}

// traceRequests is nil when tracing is off, as is what the other two give: then
// nothing is asked on the way of a request.
func (a *app) traceRequests() api.Tracer {
	if a.tracer == nil {
		return nil
	}
	return a.tracer
}

// opTracer lets the tracer follow ops; nil: nobody does.
func (a *app) opTracer() ops.Tracer {
	if a.tracer == nil {
		return nil
	}
	return opTracer{a.tracer}
}

// opTracer tells the tracer what a request is about.
type opTracer struct{ tracer *trace.Tracer }

// Op implements ops.Tracer. A refusal is an answer, not an error.
func (t opTracer) Op(ctx context.Context, flow, op string, about ops.Subject) (context.Context, func(error)) {
	ctx, end := t.tracer.Op(ctx, trace.Op{
		Flow: flow, Name: op, Workspace: about.Workspace, Tool: about.Tool, Tools: about.Tools, Calls: about.Calls,
	})
	return ctx, func(err error) {
		if _, refused := errors.AsType[*ops.Refusal](err); refused {
			err = nil
		}
		end(err)
	}
}

// tracedAttempt is the hook that a model's client calls around an attempt.
type tracedAttempt = func(context.Context, llm.Attempt) (context.Context, func(llm.Attempt))

func (a *app) traceAttempts() tracedAttempt {
	if a.tracer == nil {
		return nil
	}
	return func(ctx context.Context, t llm.Attempt) (context.Context, func(llm.Attempt)) {
		ctx, end := a.tracer.Attempt(ctx, trace.Attempt{Op: t.Op, Model: t.Model, Workspace: t.Workspace, Tool: t.Tool, Waited: t.Waited})
		return ctx, func(t llm.Attempt) {
			end(trace.Outcome{Word: t.Outcome, PromptTokens: t.Usage.PromptTokens, CompletionTokens: t.Usage.CompletionTokens})
		}
	}
}
