package evidence

import (
	"cmp"
	"strings"

	"memoryd/guidelines/rules"
	"memoryd/internal/errortext"
)

// wording is what the output of a call that went wrong says: the message on one line, as it stands and
// without what the caller sent, and the tokens of that.
type wording struct {
	whole, text string
	pieces      []piece
}

// message is what the output of a call that went wrong says, without what the caller
// sent.
func (ob *Observation) message() *wording {
	if ob.said == nil {
		whole := messageOf(cmp.Or(ob.Output, ob.Answer.Text))
		text := ob.withoutInput(whole)
		ob.said = &wording{whole, text, pieces(text)}
	}
	return ob.said
}

// rest are the sentences that follow the message in the output of a call that went wrong, a line
// each.
func (ob *Observation) rest() (lines []string) {
	message := ob.message().whole
	for l := range strings.Lines(errortext.Unwrap(ob.Output)) {
		if len(l) > messageRunes { // a page, not a sentence
			continue
		}
		words := strings.Fields(l)
		if line := strings.Join(words, " "); len(words) >= sentenceWords && !strings.Contains(message, line) {
			lines = append(lines, ob.withoutInput(line))
		}
	}
	return lines
}

// withoutInput masks in a text what the caller sent.
func (ob *Observation) withoutInput(text string) string {
	for _, l := range ob.values() {
		if l.Kind == rules.Text {
			text = rules.MaskText(ob.Tool, text, l.Text, maskAny)
		}
	}
	return text
}

// values are those of the input.
func (ob *Observation) values() []rules.Leaf {
	if ob.leaves == nil {
		if ob.leaves = rules.LeavesOf(ob.Input); ob.leaves == nil {
			ob.leaves = []rules.Leaf{} // read, and none there
		}
	}
	return ob.leaves
}

// Digest parses the bodies of trimmed observations of one tool, so that repeated mining does
// not have to.
func Digest(list []Observation) {
	for i := range list {
		ob := &list[i]
		ob.form = pathSet(ob.values())
		if wrong(&ob.Call) {
			ob.message()
		}
	}
}
