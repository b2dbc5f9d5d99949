package ui

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"

	"memoryd"
	"memoryd/ops"

	"github.com/go-json-experiment/json/jsontext"
)

type forecastView struct {
	Tool   string
	Fields []field
	Input  string
	Answer *ops.Assessment
	Fault  string
}

// field is a place of the form for one parameter of the tool.
type field struct {
	parameter
	Value string
}

// mostFields bounds the form.
const mostFields = 16

// forecast asks what to expect of a planned call.
func (d *dashboard) forecast(r *request) error {
	ref, err := d.mustTool(r)
	if err != nil {
		return err
	}
	v := forecastView{Tool: ref.Tool, Input: r.arg("input")}
	if ref.Tool == "" {
		return d.show(r, "forecast.html", "forecast", "Forecast", v)
	}
	kept, err := d.Flows.ListRevisions.Run(r.Context(), ref)
	if err != nil {
		return err
	}
	if len(kept.Revisions) > 0 {
		_, parameters := sectionsOf(&kept.Revisions[0].Revision)
		v.Fields = fieldsOf(r, parameters)
	}
	given := r.query.Has("input")
	for _, f := range v.Fields {
		given = given || f.Value != ""
	}
	if given {
		if err := d.assess(r, ref, &v); err != nil {
			return err
		}
	}
	return d.show(r, "forecast.html", "forecast", "Forecast", v)
}

func (d *dashboard) assess(r *request, ref memoryd.ToolRef, v *forecastView) error {
	input := []byte(strings.TrimSpace(v.Input))
	if len(input) == 0 {
		input = v.compose()
	} else if !jsontext.Value(input).IsValid() {
		v.Fault = "The input is not valid JSON."
		return nil
	}
	ask := ops.PreflightRequest{ToolRef: ref, Input: input}
	ask.By.Run = r.arg("run")
	f, err := d.Flows.PreflightToolCall.Run(r.Context(), ask)
	if err != nil {
		return err
	}
	v.Answer = &f.Assessment
	var pretty bytes.Buffer
	if json.Indent(&pretty, input, "", "  ") == nil {
		v.Input = pretty.String()
	}
	return nil
}

// compose makes an input of the fields: a text where the calls gave texts, else
// what the value is as JSON.
func (v *forecastView) compose() []byte {
	input := map[string]any{}
	for _, f := range v.Fields {
		if f.Value == "" {
			continue
		}
		var value any
		if f.Types[0] == "string" || json.Unmarshal([]byte(f.Value), &value) != nil {
			value = f.Value
		}
		input[f.Path] = value
	}
	out, _ := json.Marshal(input) // the values came from JSON
	return out
}

func fieldsOf(r *request, parameters []parameter) (out []field) {
	for _, p := range parameters {
		if p.Path == "" || strings.ContainsAny(p.Path, ".[") || len(p.Types) == 0 || len(out) == mostFields {
			continue
		}
		out = append(out, field{p, r.arg("p." + p.Path)})
	}
	return out
}

type compactionView struct {
	Profiles []string
	Profile  string
	Text     string
	Fault    string
	Done     *ops.Compacted
	Before   []message
	After    []message
	Restored []message
	ID       string
	Saved    int
}

// message is a message of a conversation with what became of it.
type message struct {
	Number int
	Role   string
	Text   longText
	Fate   string
	Why    string
	Tokens int
	// Output is its place in the result, -1 where it is not there.
	Output int
}

func newCompaction() compactionView {
	return compactionView{Profiles: []string{"default", "deerflow", "forge", "ra_aid"}}
}

// compaction is the form for a conversation.
func (d *dashboard) compaction(r *request) error {
	return d.show(r, "compaction.html", "compaction", "Compaction", newCompaction())
}

// compact shows what a compaction makes of a conversation.
func (d *dashboard) compact(r *request) error {
	v := newCompaction()
	v.Profile = r.arg("profile")
	text, err := conversationOf(r)
	if err != nil {
		return err
	}
	ask := ops.CompactRequest{Workspace: r.Workspace, Profile: v.Profile, Force: r.arg("force") != "", DryRun: r.arg("dry") != ""}
	ask.MaxInputTokens, _ = strconv.Atoi(r.arg("max"))
	var done *ops.Compacted
	if ask.Messages, err = messagesOf(text); err == nil {
		done, err = d.Flows.CompactConversation.Run(r.Context(), ask)
	}
	if memoryd.IsKind(err, memoryd.Invalid) {
		_, v.Fault = memoryd.KindOf(err)
		v.Text = string(text)
		return d.show(r, "compaction.html", "compaction", "Compaction", v)
	}
	if err != nil {
		return err
	}
	v.Done, v.ID, v.Saved = done, done.Report.ID, done.Report.TokensBefore-done.Report.TokensAfter
	v.Before, v.After = shownMessages(ask.Messages), shownMessages(done.Messages)
	for _, f := range done.Report.Messages {
		if f.Index >= 0 && f.Index < len(v.Before) {
			m := &v.Before[f.Index]
			m.Fate, m.Why, m.Tokens, m.Output = string(f.Disposition), f.Why, f.Tokens, f.Output
		}
	}
	return d.show(r, "compaction.html", "compaction", "Compaction", v)
}

// undo gives back the conversation that a compaction was made of.
func (d *dashboard) undo(r *request) error {
	v := newCompaction()
	v.ID = r.arg("id")
	messages, err := d.Flows.UndoCompaction.Run(r.Context(),
		ops.UndoCompaction{OriginalRef: ops.GetOriginal{Workspace: r.Workspace, ID: v.ID}})
	if err != nil {
		return err
	}
	v.Restored = shownMessages(messages)
	texts := make([]string, len(messages))
	for i, m := range messages {
		texts[i] = string(m)
	}
	v.Text = "[" + strings.Join(texts, ",\n") + "]"
	return d.show(r, "compaction.html", "compaction", "Compaction", v)
}

// conversationOf reads the text that was pasted, or the file that was chosen.
func conversationOf(r *request) ([]byte, error) {
	if r.MultipartForm != nil {
		file, _, err := r.FormFile("file")
		if err == nil {
			text, err := io.ReadAll(file)
			_ = file.Close() // it was read
			if len(bytes.TrimSpace(text)) > 0 || err != nil {
				return text, err
			}
		} else if !errors.Is(err, http.ErrMissingFile) {
			return nil, memoryd.Wrap(memoryd.Invalid, err, "The file could not be read.")
		}
	}
	return []byte(r.arg("conversation")), nil
}

var errNoConversation = memoryd.Errorf(memoryd.Invalid, `This is not a conversation. Expected: a JSON array of messages `+
	`such as [{"role": "user", "content": "…"}, …], or an object with a member "messages".`)

// messagesOf reads a list of messages, or an object with a member messages.
func messagesOf(text []byte) ([]jsontext.Value, error) {
	var list []jsontext.Value
	if err := json.Unmarshal(text, &list); err != nil {
		var request struct{ Messages []jsontext.Value }
		if json.Unmarshal(text, &request) != nil || request.Messages == nil {
			return nil, errNoConversation
		}
		list = request.Messages
	}
	return list, nil
}

// shownMessages are messages as a page shows them.
func shownMessages(list []jsontext.Value) []message {
	out := make([]message, len(list))
	for i, raw := range list {
		var m struct {
			Role      string
			Content   json.RawMessage
			ToolCalls json.RawMessage `json:"tool_calls"`
		}
		_ = json.Unmarshal(raw, &m) // what is no message was refused before
		text := plain(m.Content)
		if text == "null" || text == "" {
			text = string(m.ToolCalls)
		}
		out[i] = message{Number: i + 1, Role: m.Role, Text: long(text), Output: -1}
	}
	return out
}
