package compact

import (
	"strings"

	"memoryd/compact/chat"
	"memoryd/compact/records"
	"memoryd/internal/textsafe"
)

// consents is what the users of a conversation really agreed to: what they wrote,
// and what the assistant had said when they agreed.
type consents struct {
	any  bool
	said string // in lower case
}

// consents reads the messages of users, and nothing else: neither a tool nor the
// assistant can consent for them.
func (c *conversation) consents() consents {
	var k consents
	var b strings.Builder
	for i := range c.messages {
		m := &c.messages[i]
		if !m.FromUser() || c.known[i] != nil {
			continue
		}
		b.WriteString(strings.ToLower(m.Text()) + "\n")
		if agreement(records.OneLine(m.Text())) == "" {
			continue
		}
		k.any = true
		if i > 0 && c.messages[i-1].Kind == chat.Assistant {
			b.WriteString(strings.ToLower(c.messages[i-1].Text()) + "\n")
		}
	}
	k.said = b.String()
	return k
}

// agreed is consents, read once.
func (c *conversation) agreed() consents {
	if c.vouched == nil {
		k := c.consents()
		c.vouched = &k
	}
	return *c.vouched
}

// holds reports whether a line claims no consent of a user, or one that the user
// gave: somebody agreed, and each number and identifier of the line stands in what
// they wrote or agreed to.
func (k consents) holds(line string) bool {
	if !textsafe.ClaimsConsent(line) {
		return true
	}
	if !k.any {
		return false
	}
	for w := range strings.FieldsSeq(strings.ToLower(line)) {
		if w = strings.Trim(w, ".,:;!?()[]\"'$€*"); strings.ContainsAny(w, "0123456789") && !strings.Contains(k.said, w) {
			return false
		}
	}
	return true
}

// claimLeftOut stands for a claim of a consent that nobody gave.
const claimLeftOut = "(a claim of consent that no user message holds)"

// without replaces the parts of a line that claim a consent which nobody gave.
func (k consents) without(line string) string {
	if k.holds(line) {
		return line
	}
	from := 0
	var b strings.Builder
	for from < len(line) {
		to := from + strings.IndexAny(line[from:], ",;|[]")
		if to < from {
			to = len(line)
		}
		if part := line[from:to]; k.holds(part) {
			b.WriteString(part)
		} else {
			b.WriteString(" " + claimLeftOut)
		}
		if to < len(line) {
			b.WriteByte(line[to])
		}
		from = to + 1
	}
	if out := b.String(); k.holds(strings.ReplaceAll(out, claimLeftOut, "")) {
		return out
	}
	head, _, _ := strings.Cut(line, ":")
	if !k.holds(head) || len(head) > 60 {
		return claimLeftOut
	}
	return head + ": " + claimLeftOut
}
