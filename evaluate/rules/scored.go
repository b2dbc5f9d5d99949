package rules

import (
	"fmt"

	"memoryd/evaluate/score"
)

// Bars of the learned score. A short answer of a tool is a message more often than not;
// what is long, was read, or came from a command that no rule found fault with, is
// mostly content, so that the score has to be surer of it.
const (
	messageBar = 0.5
	contentBar = 0.8
	strangeBar = 0.4 // of prose from a tool that answers with structures
	nothingBar = 0.6
	// unlikelyBar is where a finding that is not certain is not believed.
	unlikelyBar = 0.15
	// doubtBar is where a success is no longer certain.
	doubtBar = 0.15
)

// scored asks the learned score, where no fact decides.
func scored(v *view) (finding, bool) {
	failed, nothing := v.score()
	bar := contentBar
	switch {
	case v.unlike():
		bar = strangeBar
	case v.out.short(3, 300) && !v.ask.reads && v.ask.command == "" && !v.prose():
		bar = messageBar
	}
	switch {
	case failed >= bar:
		f := fails("score", strongestLine(v.out), fmt.Sprintf("it reads like the output of a failed call (%.0f %%)", 100*failed))
		return f.unsure(), true
	case nothing >= nothingBar && v.ask.command == "":
		f := half("nothing-found", v.out.first().s, "it says that there was nothing")
		f.cause = causeEmpty
		return f, true
	}
	return finding{}, false
}

// score is what the model says of the call: how probable it is that it failed, and
// that it found nothing.
func (v *view) score() (failed, nothing float64) {
	if !v.asked {
		f := &v.scratch.features
		v.readFeatures(f)
		p := v.model.Score(f)
		v.asked, v.failed, v.nothing = true, p[score.Failed], p[score.Nothing]
	}
	return v.failed, v.nothing
}

func (v *view) readFeatures(f *score.Features) {
	f.Read(&score.Call{Input: v.ask.text, Output: v.out.full, Body: &v.body.Doc})
}
