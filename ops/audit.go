package ops

import (
	"context"
	"strconv"
	"strings"

	"memoryd"
	"memoryd/internal/access"
)

// decision is a request that decides something: what the audit log says of it. One
// without an action is none.
type decision interface{ decision() access.Entry }

// audited lets an op be written to the audit log, whoever asks for it, where its
// requests are decisions.
func audited[In, Out any](d Deps, run func(context.Context, In) (Out, error)) func(context.Context, In) (Out, error) {
	if _, decides := any(*new(In)).(decision); !decides || d.Audit == nil {
		return run
	}
	return func(ctx context.Context, in In) (out Out, err error) {
		made, _ := any(in).(decision)
		e := made.decision()
		if e.Action == "" {
			return run(ctx, in)
		}
		if access.IsAbsent(e.Workspace) {
			e.Workspace = access.Present(strconv.Quote(e.Workspace)) // which the caller does not know
		}
		err = d.Audit.Do(ctx, e, func(ctx context.Context) (err error) {
			out, err = run(ctx, in)
			return err
		})
		return out, err
	}
}

// onTool is what the audit log says of something done to a tool.
func onTool(action string, ref memoryd.ToolRef, subject, detail string) access.Entry {
	return access.Entry{Action: action, Workspace: ref.Workspace, Tool: ref.Tool, Subject: subject, Detail: detail}
}

func by(person string) string {
	if person == "" {
		return ""
	}
	return "by " + person
}

func (r CorrectCall) decision() access.Entry {
	return onTool("correct", r.ToolRef, r.Key.String(), strings.TrimSpace("score "+strconv.FormatFloat(r.Score, 'g', -1, 64)+" "+by(r.By)))
}

func (r Withdraw) decision() access.Entry { return onTool("withdraw", r.ToolRef, r.Key.String(), "") }

func (r LabelKind) decision() access.Entry {
	e := onTool("label", r.ToolRef, r.Kind, strings.TrimSpace("score "+strconv.FormatFloat(r.Score, 'g', -1, 64)+" "+by(r.By)))
	switch {
	case r.Preview:
		e.Action = ""
	case r.Withdraw:
		e.Detail = "withdrawn"
	}
	return e
}

func (r PinRevision) decision() access.Entry {
	return onTool("pin", r.ToolRef, strconv.FormatInt(r.Number, 10), by(r.By))
}

func (r UnpinRevision) decision() access.Entry { return onTool("unpin", r.ToolRef, "", "") }

func (r RollBackRevision) decision() access.Entry {
	return onTool("rollback", r.ToolRef, strconv.FormatInt(r.Number, 10), by(r.By))
}

func (r ReleasePending) decision() access.Entry {
	verdict := map[bool]string{true: "accept", false: "refuse"}[r.Accept]
	return onTool("review", r.ToolRef, r.ID, strings.TrimSpace(verdict+" "+by(r.By)))
}

func (r UndoRelease) decision() access.Entry {
	return onTool("review_undo", r.ToolRef, r.ID, by(r.By))
}

func (r EditLine) decision() access.Entry {
	return onTool("edit", r.ToolRef, r.Line, strings.TrimSpace(map[bool]string{true: "take out ", false: "set "}[r.Remove]+by(r.By)))
}

func (r UndoEdit) decision() access.Entry {
	return onTool("edit_undo", r.ToolRef, r.Line, by(r.By))
}

func (r TakeSnapshot) decision() access.Entry {
	return access.Entry{Action: "export", Workspace: r.Workspace}
}

// decision: a deletion makes room, so it goes on while the log cannot be written.
func (r ManageRequest) decision() access.Entry {
	e := access.Entry{Action: r.Action, Workspace: r.Workspace, Subject: strings.Join(r.MemoryIDs, " "), Anyway: strings.HasPrefix(r.Action, "delete")}
	switch {
	case !r.Moves():
		e.Action = ""
	case r.Action == Forget:
		e.Subject, e.Anyway = r.Source, true
	case r.Source != "":
		e.Detail = "from workspace " + r.Source
	case r.Path != "":
		e.Detail = "path " + r.Path
	}
	return e
}
