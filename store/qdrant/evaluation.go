package qdrant

import (
	"encoding/hex"
	"fmt"

	"memoryd"
)

// encodeEvaluation gives the fields that a verdict writes.
func encodeEvaluation(e *memoryd.Evaluation) payload {
	in := payload{}
	in.putText("summary", e.Summary)
	in.putText("text", e.Evaluation)
	in.putText("by", e.JudgedBy)
	in.putText("rule", e.Rule)
	in.putText("version", e.JudgeVersion)
	in.putTime("at", e.JudgedAt)
	in.putText("failed_checks", e.FailedChecks)
	in.putFloat("requests", e.Cost.Requests)
	in.putInt("prompt_tokens", e.Cost.PromptTokens)
	in.putInt("completion_tokens", e.Cost.CompletionTokens)
	in.putInt("attempts", int64(e.Attempts))
	in.putText("error", e.LastError)
	in.putTime("not_before", e.NotBefore)
	if o := e.Overruled; o != nil {
		old := payload{"state": word(string(o.State))}
		old.putFloat("score", o.Score)
		old.putText("by", o.JudgedBy)
		old.putText("rule", o.Rule)
		old.putText("version", o.JudgeVersion)
		in["overruled"] = object(old)
	}
	out := payload{
		fieldState: word(string(e.State)), fieldScore: decimal(e.Score), fieldPending: integer(-1), fieldEval: object(in),
	}
	if e.State == memoryd.Pending {
		out[fieldPending] = integer(dueAt(e.NotBefore))
	}
	return out
}

func decodeEvaluation(r *reader) memoryd.Evaluation {
	in := &reader{payload: r.object(fieldEval)}
	e := memoryd.Evaluation{
		State: memoryd.EvaluationState(r.word(fieldState)), Score: r.float(fieldScore),
		Summary: in.text("summary"), Evaluation: in.text("text"), JudgedBy: in.text("by"), Rule: in.text("rule"),
		JudgeVersion: in.text("version"), JudgedAt: in.time("at"), FailedChecks: in.text("failed_checks"),
		Cost: memoryd.Cost{
			Requests: in.float("requests"), PromptTokens: in.int("prompt_tokens"),
			CompletionTokens: in.int("completion_tokens"),
		},
		Attempts: int(in.int("attempts")), LastError: in.text("error"), NotBefore: in.time("not_before"),
	}
	if old := (&reader{payload: in.object("overruled")}); old.payload != nil {
		e.Overruled = &memoryd.Overruled{
			State: memoryd.EvaluationState(old.word("state")), Score: old.float("score"), JudgedBy: old.text("by"),
			Rule: old.text("rule"), JudgeVersion: old.text("version"),
		}
		r.keep(old.err)
	}
	r.keep(in.err)
	return e
}

// keep remembers the first damage.
func (r *reader) keep(err error) {
	if r.err == nil {
		r.err = err
	}
}

func parseKey(s string) (k memoryd.CallKey, err error) {
	if len(s) != hex.EncodedLen(len(k)) {
		return k, fmt.Errorf("the key %q is damaged", s)
	}
	_, err = hex.Decode(k[:], []byte(s))
	return k, err
}
