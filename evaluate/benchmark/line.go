package benchmark

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"memoryd"
)

// Case is a recorded call and, apart from it, what is known of its outcome.
type Case struct {
	// Call is what the judge may see: no verdict, no label.
	Call memoryd.Call
	// Gold is the label, if Labelled; GoldFrom says where it comes from.
	Gold     Level
	Labelled bool
	GoldFrom string
}

// row is a line of a recording. Verdicts that a line may carry are not read.
type row struct {
	Workspace string                     `json:"workspace_id"`
	Tool      string                     `json:"tool_name"`
	Input     json.RawMessage            `json:"input"`
	Output    string                     `json:"output"`
	Success   bool                       `json:"success"`
	TimeCost  float64                    `json:"time_cost"`
	TokenCost float64                    `json:"token_cost"`
	Created   string                     `json:"create_time"`
	Metadata  map[string]json.RawMessage `json:"metadata"`
}

// ParseLine reads one line. Name and number identify it, as the key of a request
// does, where the call has neither a time nor an id of its own. The error says
// what is wrong in words for people.
func ParseLine(line []byte, name string, number int) (Case, error) {
	r := row{Success: true, TokenCost: -1, Input: json.RawMessage(`""`)}
	switch {
	case !utf8.Valid(line):
		return Case{}, errors.New("not valid UTF-8")
	case !json.Valid(line):
		return Case{}, errors.New("not valid JSON")
	case line[0] != '{':
		return Case{}, errors.New("not a JSON object")
	}
	if err := json.Unmarshal(line, &r); err != nil {
		return Case{}, describe(err)
	}
	if err := r.check(); err != nil {
		return Case{}, err
	}
	return r.toCase(name, number)
}

// describe says a fault of a member without the names of our types.
func describe(err error) error {
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Errorf("%s: a %s is not expected there", e.Field, e.Value)
	}
	return err
}

func (r *row) check() error {
	switch first := bytes.TrimSpace(r.Input)[0]; {
	case strings.TrimSpace(r.Tool) == "":
		return errors.New("tool_name: missing")
	case len(r.Tool) > memoryd.MaxNameBytes, len(r.Workspace) > memoryd.MaxNameBytes:
		return fmt.Errorf("tool_name or workspace_id: longer than %d bytes", memoryd.MaxNameBytes)
	case first != '{' && first != '"':
		return errors.New("input: must be an object or a string")
	case r.TimeCost < 0:
		return errors.New("time_cost: must be 0 or more (seconds)")
	case r.TokenCost < -1 || r.TokenCost != math.Trunc(r.TokenCost):
		return errors.New("token_cost: must be a whole number, 0 or more, or -1 for unknown")
	}
	return nil
}

func (r *row) toCase(name string, number int) (c Case, err error) {
	var gold string
	if raw := r.Metadata["gold"]; raw != nil && json.Unmarshal(raw, &gold) != nil {
		return Case{}, errors.New("metadata.gold: not a string")
	}
	if c.Gold, c.Labelled, err = labelled(gold); err != nil {
		return Case{}, err
	}
	// Where another type stands, nothing is known.
	_ = json.Unmarshal(r.Metadata["gold_from"], &c.GoldFrom)
	if r.Workspace == "" {
		r.Workspace = memoryd.DefaultWorkspace
	}
	c.Call = memoryd.Call{
		ToolRef: memoryd.ToolRef{Workspace: r.Workspace, Tool: r.Tool}, Input: r.Input, Output: r.Output,
		Success: r.Success, TimeCost: r.TimeCost, TokenCost: int64(r.TokenCost), CreateTime: r.Created,
		Hash: memoryd.HashOf(r.Input, r.Output), Evaluation: memoryd.PendingEvaluation(),
	}
	if c.Call.Metadata, err = withoutGold(r.Metadata); err != nil {
		return Case{}, err
	}
	if c.Call.Time, err = timeOf(r.Created); err != nil {
		return Case{}, err
	}
	id := memoryd.Identity{
		ToolRef: c.Call.ToolRef, Input: r.Input, Output: r.Output, CreateTime: r.Created, RequestKey: name, Index: number,
	}
	_ = json.Unmarshal(r.Metadata["tool_call_id"], &id.ToolCallID)
	c.Call.Key = id.Key()
	return c, nil
}

// withoutGold is the metadata that a judge may see: all but the members whose
// name begins with "gold", in any case. nil stays nil.
func withoutGold(metadata map[string]json.RawMessage) (json.RawMessage, error) {
	if metadata == nil {
		return nil, nil
	}
	kept := map[string]json.RawMessage{}
	for name, value := range metadata {
		if !strings.HasPrefix(strings.ToLower(name), "gold") {
			kept[name] = value
		}
	}
	return json.Marshal(kept)
}

// timeOf reads a call's time; "" is the zero time.
func timeOf(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{"2006-01-02 15:04:05", "2006-01-02T15:04:05", time.RFC3339, "2006-01-02 15:04:05Z07:00"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	return time.Time{}, errors.New(`create_time: must be "YYYY-MM-DD HH:MM:SS" or RFC 3339`)
}

// OnlyExitCode reports a call that is labelled error although nothing in it says
// so: the caller saw a success, the output is empty, and the label comes from an
// exit code, which the judge is not shown. A grep that found nothing ends like
// that. A label whose origin is not told counts as one from an exit code.
func (c *Case) OnlyExitCode() bool {
	if !c.Labelled || c.Gold != Error || !c.Call.Success || strings.TrimSpace(c.Call.Output) != "" {
		return false
	}
	from := strings.ToLower(c.GoldFrom)
	for _, word := range []string{"exit", "valid_action", "return code", "returncode", "return_code"} {
		if strings.Contains(from, word) {
			return true
		}
	}
	return from == ""
}
