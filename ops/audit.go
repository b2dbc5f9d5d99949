package ops

import (
	"context"
	"strconv"
	"strings"

	"memoryd"
	"memoryd/guidelines/revisions"
	"memoryd/internal/access"
)

// decision is a request that decides something: what the audit log says of it. One
// without an action is none.
type decision interface{ decision() access.Entry }

// audited lets an op be written to the audit log, whoever asks for it, where its
// requests are decisions.
func audited[In, Out any](d *Deps, run func(context.Context, In) (Out, error)) func(context.Context, In) (Out, error) {
	if _, decides := any(*new(In)).(decision); !decides {
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

func (r Decide) decision() access.Entry {
	action, subject, detail := r.Kind, r.Line, by(r.By)
	switch r.Kind {
	case revisions.Unpin:
		detail = ""
	case revisions.Pin, revisions.RollBack:
		action, subject = strings.ReplaceAll(r.Kind, "_", ""), strconv.FormatInt(r.Revision, 10)
	case revisions.Accept, revisions.Refuse:
		action, detail = "review", strings.TrimSpace(r.Kind+" "+detail)
	case revisions.Wait:
		action = "review_undo"
	case revisions.Undo:
		action = "edit_undo"
	case revisions.Remove:
		action, detail = "edit", strings.TrimSpace("take out "+detail)
	case revisions.Set:
		action, detail = "edit", strings.TrimSpace("set "+detail)
	}
	return onTool(action, r.ToolRef, subject, detail)
}

func (r TakeSnapshot) decision() access.Entry {
	return access.Entry{Action: "export", Workspace: r.Workspace}
}

// decision: a deletion makes room, so it goes on while the log cannot be written.
func (r ManageRequest) decision() access.Entry {
	e := access.Entry{
		Action: r.Action, Workspace: r.Workspace, Subject: strings.Join(r.MemoryIDs, " "),
		Anyway: strings.HasPrefix(r.Action, "delete"),
	}
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
