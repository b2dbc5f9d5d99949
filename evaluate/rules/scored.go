package rules

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"memoryd/evaluate/score"
	"memoryd/internal/errortext"
	"memoryd/internal/loosejson"
	"memoryd/internal/phrases"
)

// Bars of the learned score. A short answer of a tool is a message more often than not, and so
// is what a command prints that does more than show what others wrote. The rest is mostly
// content, so that the score has to be surer of it. Where a line begins as a message of an error,
// it need not even be likely, unless the output is content. Leaving out labelled outputs, a fifth
// at a time, chose the bars of failures, but for the one of callers that tell.
const (
	complaintBar = 0.35 // of what a tool does, where a line of its output begins as a message of an error
	messageBar   = 0.5
	contentBar   = 0.72
	toldBar      = 0.95 // of a call whose source is known to report the tool's failures, and did not
	nothingBar   = 0.75
	soughtBar    = 0.2 // of a short message of a tool that looks for something
	// sureBar is where a failure is certain: of outputs set aside .992 are failures from there on.
	sureBar = 0.98
	// unlikelyBar is where a finding that is not certain is not believed.
	unlikelyBar = 0.15
	// doubtBar is where a success is no longer certain.
	doubtBar = 0.15
)

// scoreRule is the name of the rule that asks the learned score.
const scoreRule = "score"

// scored asks the learned score, where no fact decides.
func scored(v *view) finding {
	failed, nothing := v.score()
	if failed >= unlikelyBar && failed >= v.bar() {
		why := "a line begins as a message of an error"
		if failed >= messageBar {
			why = fmt.Sprintf("it reads like the output of a failed call, %.0f %% sure", 100*failed)
		}
		f := fails(scoreRule, v.quote(), why)
		f.sure = failed >= sureBar
		return f
	}
	switch {
	case v.holdsNothing():
		return nothingFound("there is a place for what was found, and nothing in it")
	case nothing >= nothingBar && !v.ask.is(commanding), v.saysNothing(nothing):
		f := half("nothing-found", v.out.first().s, "it says that there was nothing")
		f.cause = causeEmpty
		return f
	}
	return finding{}
}

// quote is what shows a failure: a line, and where that is a bracket of a structure, what the structure says.
func (v *view) quote() string {
	q := cmp.Or(errortext.Field(v.out.full), strongestLine(v.out))
	if v.body.OK() && !strings.ContainsFunc(q, isLetterOrDigit) {
		reply := errortext.ReadReply(v.body, 0)
		q = cmp.Or(reply.Said(), q)
	}
	return q
}

// bar is how probable a failure has to be.
func (v *view) bar() float64 {
	switch is := v.ask.purposes & (commanding | content); {
	case v.account.tells():
		return toldBar
	case !is.is(content) && v.names():
		return unlikelyBar
	case !is.is(content) && !v.body.OK() && v.complains():
		return complaintBar
	case !is.is(commanding) && v.short() && v.speaks(), is == commanding && !v.body.OK():
		return messageBar
	}
	return contentBar
}

// short reports whether the output is no longer than a message.
func (v *view) short() bool {
	if v.body.OK() {
		return v.body.Size() <= 300
	}
	return v.out.short(3, 300)
}

// speaks reports whether the output may say something in words: a structure of numbers and identifiers is no message.
func (v *view) speaks() bool {
	if !v.body.OK() {
		return true
	}
	written := func(r rune) bool { return r == ' ' || r == '\\' || r >= utf8.RuneSelf }
	return slices.ContainsFunc(v.body.Nodes, func(n loosejson.Node) bool {
		return n.Kind == loosejson.String && n.Val != "" && (!strings.ContainsAny(n.Val, "0123456789") || strings.ContainsFunc(n.Val, written))
	})
}

// names reports whether the text is the name of a failure and no more, and not one that the call brought.
func (v *view) names() bool {
	name := strings.TrimRight(v.out.full, ".!")
	return errortext.FailureName(name) && !strings.Contains(v.ask.text, name)
}

// complains reports whether a line that the call did not bring begins as a message of an error:
// programs often say first what they are about to do.
func (v *view) complains() bool {
	for i := range v.out.lines {
		l := &v.out.lines[i]
		if errortext.Heads(l.low()) && !strings.Contains(v.ask.text, l.s) {
			return true
		}
	}
	return false
}

// score is what the model says of the call beside what is usual for its tool: how probable it is that it failed, and
// that it found nothing.
func (v *view) score() (failed, nothing float64) {
	if !v.asked {
		f := &v.scratch.features
		v.readFeatures(f)
		p := v.model.Score(f)
		v.asked, v.nothing = true, p[score.Nothing]
		v.doubt = Doubt{math.Log(p[score.Failed] / (1 - p[score.Failed])), formOf(v.body)}
		v.account = v.prof.of(v.call)
		v.failed = 1 / (1 + math.Exp(v.unusual()-v.doubt.Odds))
	}
	return v.failed, v.nothing
}

// unusual is what the tool's history takes from a doubt. A shell is as many tools as it has commands, so that its history
// says nothing.
func (v *view) unusual() float64 {
	if v.ask.is(commanding) {
		return 0
	}
	return v.account.unusual(v.doubt.Form)
}

// formOf tells outputs apart by what they are made of: objects by the names of their members, all else by what it is.
func formOf(d *doc) uint64 {
	if !d.OK() {
		return 0
	}
	var h maphash.Hash
	h.SetSeed(formSeed)
	root := &d.Nodes[0]
	_ = h.WriteByte(byte(root.Kind))
	if root.Kind == loosejson.Object {
		for c := root.Child; c != 0; c = d.Nodes[c].Next {
			_, _ = h.WriteString(d.Nodes[c].Key)
		}
	}
	return h.Sum64()
}

var formSeed = maphash.MakeSeed()

// unlikely reports whether the score knows the output as that of a call that worked.
func (v *view) unlikely() bool {
	failed, _ := v.score()
	return failed < unlikelyBar
}

func (v *view) readFeatures(f *score.Features) {
	f.Read(&score.Call{Input: v.ask.text, Output: v.out.full, Body: v.body, Purpose: v.purpose()})
}

// purpose tells what the call is for.
func (v *view) purpose() score.Purpose {
	switch {
	case !v.ask.is(commanding):
		return score.Other
	case v.ask.is(content):
		return score.Shows
	}
	return score.Commands
}

// saysNothing reports whether a short message of a tool that looks for something says that
// there was nothing: it holds no number but 0 ("Found 0 files"), or none, and the score
// takes it for that.
func (v *view) saysNothing(nothing float64) bool {
	t := v.out
	if v.body.OK() || !v.seeks() || !t.short(2, 200) || v.ask.is(inspector) {
		return false
	}
	return nothing >= soughtBar && !strings.ContainsAny(t.full, "123456789")
}

// seeks reports whether the tool looks for something, and what it says is about that.
func (v *view) seeks() bool {
	return v.ask.is(content|finder) && !v.ask.is(commanding)
}

// What may stand beside a place for what was found: names of members, and values.
var (
	besideMembers = phrases.Words("status", "message", "msg", "code", "took", "page")
	besideValues  = phrases.Words("", "0")
)

// holdsNothing reports whether a structure, of a tool that looks for something, has a place
// for what was found and nothing there: an empty list or null, and beside it nothing but
// zeros, what the call had given, and how it went.
func (v *view) holdsNothing() bool {
	d := v.body
	if !v.seeks() {
		return false
	}
	none, listed := false, v.ask.is(finder) && !v.ask.is(inspector) && listsNothing(d)
	for i := range d.Nodes {
		n := &d.Nodes[i]
		key := errortext.NormalKey(n.Key)
		switch n.Kind {
		case loosejson.Object, loosejson.Array:
			if n.Child == 0 {
				none = true
			}
		case loosejson.Null:
			if len(d.Nodes) <= 3 {
				none = true
			}
		case loosejson.True, loosejson.False:
		default:
			if !besideValues[n.Val] && (!listed || !besideList(n)) && !besideMembers[key] && !phrases.HasWord(v.ask.text, n.Val) {
				return false
			}
		}
	}
	return none
}

// listsNothing reports whether an object that is no record has an empty list, and none that is not.
func listsNothing(d *doc) bool {
	if !d.OK() || d.Nodes[0].Kind != loosejson.Object {
		return false
	}
	lists := 0
	for i := range d.Nodes {
		if n := &d.Nodes[i]; n.Kind == loosejson.Array {
			lists++
			if n.Child != 0 {
				return false
			}
		}
	}
	return lists > 0 && !errortext.ReadReply(d, 0).Record
}

// besideList reports whether a value beside an empty list is no result: pages, places and times are numbers, and names are
// no texts.
func besideList(n *loosejson.Node) bool {
	return n.Kind == loosejson.Number || n.Kind == loosejson.String && !strings.Contains(n.Val, " ")
}
