package evaluate

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"text/template"

	"memoryd"
)

//go:embed prompts/judge.tmpl
var builtinPrompt string

// maxPromptFile bounds a prompt file, in bytes.
const maxPromptFile = 64 << 10

// prompts are the static parts of a request to the model: instructions for one
// call and for several. They come from a text/template file that is executed
// with one value, .Batch, so that the request's first part is the same for all
// calls and servers can cache it.
type prompts struct{ single, batch string }

// loadPrompts reads the template of path; "" is the built-in one.
func loadPrompts(path string) (prompts, error) {
	text := builtinPrompt
	if path != "" {
		b, err := os.ReadFile(path)
		if err != nil {
			return prompts{}, fmt.Errorf("prompt_file: %w", err)
		}
		if len(b) > maxPromptFile {
			return prompts{}, fmt.Errorf("prompt_file: longer than %d bytes", maxPromptFile)
		}
		text = string(b)
	}
	t, err := template.New("prompt_file").Parse(text)
	if err != nil {
		return prompts{}, fmt.Errorf("prompt_file: %w", err)
	}
	var p prompts
	for batch, into := range map[bool]*string{false: &p.single, true: &p.batch} {
		var b strings.Builder
		if err := t.Execute(&b, struct{ Batch bool }{batch}); err != nil {
			return prompts{}, fmt.Errorf("prompt_file: %w", err)
		}
		if *into = strings.TrimSpace(b.String()); *into == "" {
			return prompts{}, fmt.Errorf("prompt_file: gives an empty prompt")
		}
	}
	return p, nil
}

// The answers' JSON schemas, in the strict form: every member required, no
// others allowed. The reason stands before the score so that a model reasons
// before it decides.
const (
	answerMembers = `"evaluation":{"type":"string"},` +
		`"failed_checks":{"type":"array","items":{"type":"string","enum":[%s]}},` +
		`"score":{"type":"number","enum":[0,0.5,1]},"summary":{"type":"string"}`
	singleSchema = `{"type":"object","properties":{` + answerMembers + `},` +
		`"required":["evaluation","failed_checks","score","summary"],"additionalProperties":false}`
	batchSchema = `{"type":"object","properties":{"verdicts":{"type":"array","items":` +
		`{"type":"object","properties":{"id":{"type":"string"},` + answerMembers + `},` +
		`"required":["id","evaluation","failed_checks","score","summary"],"additionalProperties":false}}},` +
		`"required":["verdicts"],"additionalProperties":false}`
)

// schemaFor gives the schema of an answer for one call or for several.
func schemaFor(batch bool) json.RawMessage {
	names := `"` + strings.Join(checkNames(), `","`) + `"`
	if batch {
		return json.RawMessage(fmt.Sprintf(batchSchema, names))
	}
	return json.RawMessage(fmt.Sprintf(singleSchema, names))
}

// batchSchemaName marks requests for several calls.
const batchSchemaName = "tool_call_verdicts"

// The answer's room, in tokens: for the frame, and for each call.
const (
	answerFrame   = 64
	answerPerCall = 320
)

// request builds the request for the briefs, which belong to one tool of one
// workspace. remark, when not empty, stands behind the data and is ours. It
// gives the nonce of the data block as well.
func (p prompts) request(ref memoryd.ToolRef, earlier []example, briefs []brief, remark string) (memoryd.Prompt, string) {
	user, nonce := envelope(document(ref.Tool, earlier, briefs))
	ask := "Judge the call in the block."
	if len(briefs) > 1 {
		ask = fmt.Sprintf("Judge the %d calls in the block, each by its id.", len(briefs))
	}
	user += "\n" + ask
	if remark != "" {
		user += "\n" + remark
	}
	q := memoryd.Prompt{
		System: p.single, User: user, Workspace: ref.Workspace, Tool: ref.Tool,
		SchemaName: "tool_call_verdict", Schema: schemaFor(len(briefs) > 1),
		MaxTokens: answerFrame + answerPerCall*len(briefs),
	}
	if len(briefs) > 1 {
		q.System, q.SchemaName = p.batch, batchSchemaName
	}
	return q, nonce
}
