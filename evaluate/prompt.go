package evaluate

import (
	"bytes"
	"crypto/rand"
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strings"
	"text/template"
	"unicode/utf8"

	"memoryd"
	"memoryd/internal/textsafe"
)

//go:embed prompts/judge.tmpl
var builtinPrompt string

// maxPromptFile bounds a prompt file, in bytes.
const maxPromptFile = 64 << 10

// loadPrompt reads the instructions of path, a text/template file without values; "" is the
// built-in one. They stand first in each request, so that servers can cache them.
func loadPrompt(path string) (string, error) {
	text := builtinPrompt
	if path != "" {
		b, err := os.ReadFile(path)
		if err != nil {
			return "", fmt.Errorf("prompt_file: %w", err)
		}
		if len(b) > maxPromptFile {
			return "", fmt.Errorf("prompt_file: longer than %d bytes", maxPromptFile)
		}
		text = string(b)
	}
	t, err := template.New("prompt_file").Parse(text)
	if err != nil {
		return "", fmt.Errorf("prompt_file: %w", err)
	}
	var b strings.Builder
	if err := t.Execute(&b, struct{ Batch bool }{}); err != nil { // files may ask, as requests once held several calls
		return "", fmt.Errorf("prompt_file: %w", err)
	}
	system := strings.TrimSpace(b.String())
	if system == "" {
		return "", fmt.Errorf("prompt_file: gives an empty prompt")
	}
	return system, nil
}

// answerSchema is the JSON schema of an answer, in the strict form: every member required, no
// others allowed. The reason stands before the score so that a model reasons before it decides.
func answerSchema() json.RawMessage {
	return json.RawMessage(fmt.Sprintf(`{"type":"object","properties":{"evaluation":{"type":"string"},`+
		`"failed_checks":{"type":"array","items":{"type":"string","enum":["%s"]}},`+
		`"score":{"type":"number","enum":[0,0.5,1]},"summary":{"type":"string"}},`+
		`"required":["evaluation","failed_checks","score","summary"],"additionalProperties":false}`, strings.Join(checkNames(), `","`)))
}

// answerTokens is the room of an answer.
const answerTokens = 384

// request builds the request for a call. remark, when not empty, stands behind the data and
// is ours. It gives the nonce of the data block as well.
func request(system string, ref memoryd.ToolRef, earlier []example, b brief, remark string) (memoryd.Prompt, string) {
	user, nonce := envelope(document(ref.Tool, earlier, b))
	user += "\nJudge the call in the block."
	if remark != "" {
		user += "\n" + remark
	}
	return memoryd.Prompt{
		System: system, User: user, Workspace: ref.Workspace, Tool: ref.Tool,
		SchemaName: "tool_call_verdict", Schema: answerSchema(), MaxTokens: answerTokens,
	}, nonce
}

// brief is a call as the model is shown it: its input and output within caps,
// its costs and its flag, and what its setting was. Of the call's metadata it
// holds nothing else.
type brief struct {
	setting
	// Input is the JSON as sent when it is valid and short, else an excerpt.
	Input   json.Marshaler `json:"input"`
	Output  excerpt        `json:"output"`
	Success bool           `json:"success"`
	// TimeCost and TokenCost are left out where they are unknown.
	TimeCost  float64 `json:"time_cost,omitzero"`
	TokenCost *int64  `json:"token_cost,omitzero"`
}

// sent redacts what a model is sent.
var sent = textsafe.Redactor{Key: []byte(rand.Text())}

// newBrief takes from c what the model shall see, within the limits of cfg, with placeholders
// for runs that look random: a token looks like a digest, and equal ones stay equal.
func newBrief(c *memoryd.Call, cfg *Config) brief {
	b := brief{
		setting: settingOf(c.Metadata, cfg.MaxContext),
		Input:   inputOf(json.RawMessage(sent.Strict(string(c.Input))), cfg.MaxInput),
		Output:  excerptOf(sent.Strict(c.Output), cfg.MaxOutput),
		Success: c.Success, TimeCost: finite(c.TimeCost),
	}
	if tokens := c.TokenCost; tokens >= 0 {
		b.TokenCost = &tokens
	}
	return b
}

func inputOf(input json.RawMessage, limit int) json.Marshaler {
	var buf bytes.Buffer
	if len(input) <= 4*limit && json.Compact(&buf, input) == nil && buf.Len() <= limit {
		return json.RawMessage(buf.Bytes())
	}
	return excerptOf(string(memoryd.InputText(input)), limit)
}

func finite(f float64) float64 {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return 0
	}
	return f
}

// shrunk is b with much smaller caps, for a model whose context was too small.
func (b brief) shrunk() brief {
	const limit = 300
	switch in := b.Input.(type) {
	case excerpt:
		b.Input = in.shrunk(limit)
	case json.RawMessage:
		if len(in) > limit {
			b.Input = excerptOf(string(in), limit)
		}
	}
	b.Output, b.setting = b.Output.shrunk(limit), setting{}
	return b
}

// excerpt is a text within a cap: all of it, or its head and its tail. In JSON a
// whole text is a string and a cut one an object, so that the text itself cannot
// forge the mark of the cut.
type excerpt struct {
	Head string `json:"head"`
	Cut  int    `json:"cut_bytes"` // how many bytes are missing in the middle
	Tail string `json:"tail"`
}

// excerptOf keeps two thirds of limit bytes from the beginning of s and one from
// its end, cut at character borders. It does not keep s alive.
func excerptOf(s string, limit int) excerpt {
	if len(s) <= limit {
		return excerpt{Head: strings.Clone(s)}
	}
	e := excerpt{Head: strings.Clone(textsafe.Head(s, limit*2/3)), Tail: strings.Clone(textsafe.Tail(s, limit/3))}
	e.Cut = len(s) - len(e.Head) - len(e.Tail)
	return e
}

func (e excerpt) shrunk(limit int) excerpt {
	if e.Cut == 0 {
		return excerptOf(e.Head, limit)
	}
	whole := len(e.Head) + e.Cut + len(e.Tail)
	e.Head, e.Tail = textsafe.Head(e.Head, limit*2/3), textsafe.Tail(e.Tail, limit/3)
	e.Cut = whole - len(e.Head) - len(e.Tail)
	return e
}

// MarshalJSON implements json.Marshaler.
func (e excerpt) MarshalJSON() ([]byte, error) {
	if e.Cut == 0 {
		return plainJSON(e.Head)
	}
	type cut excerpt
	return plainJSON(cut(e))
}

// plainJSON is JSON without the escapes that only HTML needs.
func plainJSON(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSpace(buf.Bytes()), err
}

// setting is what callers may say of a call beside it: what the tool is for, and
// what the agent was about. Both come from outside and are shown inside the data
// block; either may be nil.
type setting struct {
	Tool json.Marshaler `json:"tool_description,omitempty"`
	Task json.Marshaler `json:"task,omitempty"`
}

// settingOf reads the members of a call's metadata that its judge may see:
// tool_schema or tool_description (a text or an object), and task or context (a
// text), each within limit bytes. It looks at no other member. Text that
// addresses the judge is left out.
func settingOf(metadata json.RawMessage, limit int) (s setting) {
	var members map[string]json.RawMessage
	if limit == 0 || json.Unmarshal(metadata, &members) != nil {
		return setting{}
	}
	for _, name := range []string{"tool_description", "tool_schema"} { // the last that is there counts
		if v := memberOf(members[name], limit, true); v != nil {
			s.Tool = v
		}
	}
	for _, name := range []string{"context", "task"} {
		if v := memberOf(members[name], limit, false); v != nil {
			s.Task = v
		}
	}
	return s
}

// memberOf gives a member as it may be shown, or nil: a text, and where objects
// may be shown also an object.
func memberOf(raw json.RawMessage, limit int, objects bool) json.Marshaler {
	raw = bytes.TrimSpace(raw)
	var v json.Marshaler
	switch {
	case len(raw) < 3: // nothing, "" or {}
		return nil
	case raw[0] == '"':
		var text string
		if json.Unmarshal(raw, &text) != nil {
			return nil
		}
		v = excerptOf(text, limit)
	case raw[0] == '{' && objects:
		v = inputOf(raw, limit)
	default:
		return nil
	}
	if shown, err := v.MarshalJSON(); err != nil || textAddressesJudge(string(shown)) {
		return nil
	}
	return v
}

// doc is the data block of a request. Everything in it comes from callers and
// tools and is not to be trusted, the tool's name included.
type doc struct {
	Tool    string    `json:"tool"`
	Earlier []example `json:"earlier_verdicts,omitempty"`
	Call    brief     `json:"call"`
}

// document gives the data block's JSON.
func document(tool string, earlier []example, b brief) []byte {
	text, err := plainJSON(doc{tool, earlier, b})
	if err != nil {
		// A brief holds only what can be encoded, so this is a defect; the
		// worker turns the panic into a failed attempt.
		panic(fmt.Sprintf("evaluate: encode the data block: %v", err))
	}
	return escapeHidden(text)
}

// escapeHidden rewrites JSON text so that it means the same but shows nothing
// that could be mistaken for markup or overlooked: each "<" (which begins tags
// and chat-template tokens) and each invisible character becomes its \u escape.
// In valid JSON these can only stand inside strings.
func escapeHidden(text []byte) []byte {
	text = bytes.ToValidUTF8(text, []byte("\uFFFD"))
	out := make([]byte, 0, len(text)+len(text)/8)
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		switch {
		case r != '<' && !textsafe.Invisible(r):
			out = append(out, text[:size]...)
		case r > 0xFFFF:
			r -= 0x10000
			out = fmt.Appendf(out, `\u%04x\u%04x`, 0xD800+(r>>10), 0xDC00+(r&0x3FF))
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		text = text[size:]
	}
	return out
}

// The two lines around the data block, each with the nonce.
const (
	openMark  = "<<<DATA %s>>>"
	closeMark = "<<<END %s>>>"
)

// envelope puts the data, one line of JSON without "<", between two lines that
// carry a fresh random nonce which does not occur in the data. The data can
// hold neither the closing line nor any other line of its own.
func envelope(data []byte) (text, nonce string) {
	for nonce == "" || bytes.Contains(data, []byte(nonce)) {
		nonce = rand.Text()
	}
	var b strings.Builder
	fmt.Fprintf(&b, openMark+"\n", nonce)
	b.Write(data)
	fmt.Fprintf(&b, "\n"+closeMark, nonce)
	return b.String(), nonce
}
