package main

import (
	"context"
	"errors"

	"memoryd/api"
	"memoryd/internal/telemetry/trace"
	"memoryd/llm"
	"memoryd/ops"
)

// traceRequests is nil when tracing is off, as is what the other two give: then
// nothing is asked on the way of a request.
func (a *app) traceRequests() api.Tracer {
	if a.tracer == nil {
		return nil
	}
	return a.tracer
}

// traceOps lets the tracer follow the ops of all pipelines.
func (a *app) traceOps(flows map[string]ops.Pipeline) {
	if a.tracer == nil {
		return
	}
	for label, p := range flows {
		p.Tracer = opTracer{a.tracer}
		flows[label] = p
	}
}

// opTracer tells the tracer what a request is about.
type opTracer struct{ tracer *trace.Tracer }

// Op implements ops.Tracer. A refusal is an answer, not an error.
func (t opTracer) Op(ctx context.Context, flow, op string, st *ops.State) (context.Context, func(error)) {
	tool, tools := toolsOf(st)
	ctx, end := t.tracer.Op(ctx, trace.Op{
		Flow: flow, Name: op, Workspace: st.Workspace, Tool: tool, Tools: tools, Calls: len(st.Record.Items),
	})
	return ctx, func(err error) {
		if _, refused := errors.AsType[*ops.Refusal](err); refused {
			err = nil
		}
		end(err)
	}
}

// toolsOf counts the tools that a request names, and names the only one.
func toolsOf(st *ops.State) (only string, n int) {
	if n = len(st.Names.Tools); n > 0 {
		only = st.Names.Tools[0]
	}
	if n > 1 {
		return "", n
	}
	if st.Record.ToolName != "" {
		return st.Record.ToolName, 1
	}
	for i := range st.Record.Items {
		switch name := st.Record.Items[i].Call.Tool; {
		case name == "" || name == only:
		case only == "":
			only, n = name, 1
		default:
			return "", 0 // several: counting them is not worth the time
		}
	}
	return only, n
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
