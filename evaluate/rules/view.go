package rules

import (
	"fmt"
	"strings"

	"memoryd"
)

// view is a call as the rules see it: prepared once, read by each rule.
type view struct {
	*Judge
	call *memoryd.Call
	prof *Profile // nil when nothing is known
	ask  request
	out  *text
	body *doc // the output as a structure; without nodes when it is none
}

func newView(j *Judge, c *memoryd.Call, p *Profile) *view {
	v := &view{Judge: j, call: c, prof: p, ask: newRequest(c), out: newText(c.Output)}
	v.body = parseLoose(v.out.full)
	return v
}

// echoes reports whether the fragment stood in the request: then it is what was
// asked for and no message of the tool.
func (v *view) echoes(fragment string) bool {
	fragment = strings.TrimSpace(fragment)
	return len(fragment) >= 12 && strings.Contains(v.ask.low, strings.ToLower(fragment))
}

// quotes reports whether error words in t may be content rather than a message:
// the tool hands over other people's text, and there is more than a message of
// it.
func (v *view) quotes(t *text) bool {
	return v.ask.reads && (!t.short(8, 900) || t.listed()) || v.ask.troubled && v.ask.reads && !t.short(1, 300)
}

// describe says in a few words what a successful call returned.
func (v *view) describe() string {
	t := v.out
	switch {
	case len(t.lines) == 0:
		return "no output"
	case v.body.ok() && v.body.nodes[0].kind == kindObject:
		return fmt.Sprintf("returned an object with %s", plural(int(v.body.nodes[0].count), "member"))
	case v.body.ok():
		return fmt.Sprintf("returned a list of %s", plural(int(v.body.nodes[0].count), "element"))
	case t.total == 1:
		return "returned “" + clean(t.first().s, maxQuote) + "”"
	case t.long:
		return fmt.Sprintf("returned %d characters of text", len(t.full))
	}
	return fmt.Sprintf("returned %s of text", plural(t.total, "line"))
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
