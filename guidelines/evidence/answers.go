package evidence

import (
	"cmp"
	"slices"
	"strings"

	"memoryd/internal/errortext"
	"memoryd/internal/textsafe"
)

// Usual is a text that good calls were answered with, or the form of such texts, with "…" for what of the
// input stands in it.
type Usual struct {
	Text string `json:"text"`
	// Calls counts the good calls that got it, of those whose answers are known; they have Runs runs.
	Calls int `json:"calls"`
	Of    int `json:"of"`
	Runs  int `json:"runs"`
	// Sole reports that one of several parties alone got it, and Form that the answers differ.
	Sole bool `json:"sole,omitempty"`
	Form bool `json:"form,omitempty"`
}

// Limits on what is told of good answers.
const (
	sameInputs = 3 // different inputs that get one answer
	sameWords  = 3 // of the answer that nearly all get: one word says that something was done
)

// usualAnswer is the text that nine in ten good calls were answered with, whatever their inputs; else the
// form of the answers; else the most frequent one that several inputs got and that says nothing, as null.
func usualAnswer(obs []Observation, who *parties) *Usual {
	type answered struct {
		backing

		inputs map[uint64]bool
	}
	byText := map[string]*answered{}
	var texts []string
	var by []uint64
	good := 0
	for i := range slices.Backward(obs) {
		ob := &obs[i]
		if !ob.Good() || ob.Answer.Text == "" && ob.Output == "" {
			continue
		}
		good++
		text := ob.answered()
		texts, by = append(texts, text), append(by, who.of[i])
		if byText[text] == nil {
			byText[text] = &answered{inputs: map[uint64]bool{}}
		}
		byText[text].add(ob.OwnRun(), who.of[i])
		byText[text].inputs[hashOf("input", string(ob.Input))] = true
	}
	var most *Usual
	for text, a := range byText {
		told := text != "" && errortext.IsVoid(text)
		if 10*a.calls >= 9*good {
			told = len(strings.Fields(text)) >= sameWords
		}
		if told && len(a.inputs) >= sameInputs {
			if most == nil || a.calls > most.Calls || a.calls == most.Calls && text < most.Text {
				most = &Usual{Text: text, Calls: a.calls, Of: good, Runs: len(a.runs), Sole: who.sole(a.by)}
			}
		}
	}
	if most != nil && 10*most.Calls >= 9*good {
		return most
	}
	if f := frameOf(texts, by, who); f != nil {
		return &Usual{Text: f.Text, Calls: f.Calls, Of: f.Of, Runs: f.Calls, Form: true}
	}
	return most
}

// answered is the text of a good answer on one line, without what the caller sent; "" for JSON.
func (ob *Observation) answered() string {
	if ob.Answer.JSON {
		return ""
	}
	return ob.withoutInput(strings.Join(strings.Fields(cmp.Or(ob.Answer.Text, textsafe.Head(ob.Output, answerBytes))), " "))
}
