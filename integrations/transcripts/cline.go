package transcripts

import (
	"encoding/json"
	"regexp"
	"strings"

	"memoryd/internal/accounts"
	"memoryd/internal/loosejson"
)

// readCline reads the history of a task of Cline, which is Anthropic's messages. Models
// that call no tools natively write a call as XML into their text, and its result comes
// as text in the next message.
func readCline(f *file) reader {
	var c *chat
	return func(m loosejson.Members, doc []byte) {
		if c == nil {
			c = f.chat(f.base + "-" + accounts.Digest(doc))
		}
		at := loosejson.Time(m.At("ts|timestamp"))
		if c.blocks(m.At("content"), at) {
			return
		}
		said := contentText(m.At("content"))
		if m.Text("role") == "assistant" {
			if tool, args := xmlCall(said); tool != "" {
				in, _ := json.Marshal(args) // texts: it cannot fail
				c.call("", tool, in, at)
			}
			return
		}
		head := resultHead.FindStringSubmatchIndex(said)
		if head == nil {
			return
		}
		output, _, _ := strings.Cut(said[head[1]:], "<environment_details>")
		r := result{output: strings.TrimSpace(output), outcome: accounts.Claimed}
		if inner, failed := strings.CutPrefix(r.output, "The tool execution failed with the following error:"); failed {
			r.output, r.outcome = strings.TrimSpace(strings.NewReplacer("<error>", "", "</error>", "").Replace(inner)), accounts.Failed
		} else if strings.HasPrefix(r.output, "The user denied this operation") {
			r.outcome = accounts.Cancelled
		}
		c.result("", said[head[2]:head[3]], r, at)
	}
}

var (
	resultHead = regexp.MustCompile(`(?m)^\[([a-z_]+)[^\n]*\] Result:`)
	openTag    = regexp.MustCompile(`<([a-z_]+)>`)
)

// xmlCall is the last call that a text holds as XML: an element whose children are the
// arguments.
func xmlCall(text string) (tool string, args map[string]string) {
	for text != "" {
		name, body, rest, closed := element(text)
		text = rest
		found := map[string]string{}
		for closed {
			var param, value string
			if param, value, body, closed = element(body); closed {
				found[param] = strings.Trim(value, "\n")
			}
		}
		if len(found) > 0 && name != "thinking" {
			tool, args = name, found
		}
	}
	return tool, args
}

// element is the first element of a text and what follows: where it is not closed, its beginning.
func element(text string) (name, body, rest string, closed bool) {
	at := openTag.FindStringSubmatchIndex(text)
	if at == nil {
		return "", "", "", false
	}
	name, rest = text[at[2]:at[3]], text[at[1]:]
	if body, after, closed := strings.Cut(rest, "</"+name+">"); closed {
		return name, body, after, true
	}
	return name, "", rest, false
}
