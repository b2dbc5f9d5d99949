package rules

import (
	"strconv"

	"memoryd"
	"memoryd/evaluate/score"
	"memoryd/internal/errortext"
	"memoryd/internal/loosejson"
	"memoryd/internal/reading"
)

// view is a call as the rules see it: prepared once, read by each rule.
type view struct {
	*Judge
	call    *memoryd.Call
	prof    *Profile // nil when nothing is known
	ask     request
	out     *text
	body    *doc // the output as a structure; without nodes when it is none
	scratch *scratch

	asked           bool  // the learned score
	doubt           Doubt // by the score alone
	failed, nothing float64
	account         account // of the call's source
}

// scratch is the room in which one call is judged, used again for the next.
type scratch struct {
	view  view
	out   text
	body  doc
	inner doc // of the text that a reply holds
	shell shellProgram

	features score.Features
}

// newView prepares a call that was read. The view is valid until it is released, or the
// reading is.
func newView(j *Judge, c *memoryd.Call, r *reading.Reading, p *Profile) *view {
	d := j.pool.Get().(*scratch) //nolint:forcetypeassert // the pool makes nothing else
	v := &d.view
	*v = view{Judge: j, call: c, prof: p, out: &d.out, body: &d.body, scratch: d}
	v.ask.read(r, toolOf(c.Tool), &d.shell)
	out := r.Text
	*v.body = r.Output
	if text, only := errortext.OnlyText(v.body); only && (text != "" || v.ask.is(commanding|actor)) {
		if inner := v.parse(text); !d.inner.Cut {
			out, *v.body = inner, d.inner
		}
	}
	if rest := v.ask.shell.withoutRemarks(out); len(rest) < len(out) {
		out, *v.body = v.parse(rest), d.inner // what stands beside a remark may be wrapped itself
	}
	v.out.read(out)
	if v.body.IsLabel() {
		*v.body = doc{}
	}
	return v
}

// parse reads a text within the output, without its wrapping, into the room for such texts.
func (v *view) parse(s string) string {
	s = reading.Bare(s)
	v.scratch.inner.Clear()
	v.scratch.inner.Parse(s)
	return s
}

// release gives the room back, with nothing of the call left in it.
func (v *view) release() {
	d, pool := v.scratch, v.pool
	d.view = view{}
	d.out.clear()
	d.shell.clear()
	d.inner.Clear()
	d.body = doc{}
	pool.Put(d)
}

// describe says in a few words what a successful call returned.
func (v *view) describe() string {
	t := v.out
	if v.body.OK() {
		whole := &v.body.Nodes[0]
		if whole.Kind == loosejson.Object {
			return "returned an object with " + plural(int(whole.Count), "member")
		}
		return "returned a list of " + plural(int(whole.Count), "element")
	}
	switch {
	case len(t.lines) == 0:
		return "no output"
	case t.total == 1:
		return "returned " + quoted(t.first().s)
	case t.long:
		return "returned " + strconv.Itoa(len(t.full)) + " characters of text"
	}
	return "returned " + plural(t.total, "line") + " of text"
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}
