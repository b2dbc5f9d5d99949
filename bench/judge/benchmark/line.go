package benchmark

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"memoryd"
)

// Case is a recorded call and, apart from it, what is known of its outcome.
type Case struct {
	// Call is what the judge may see: no evaluation, no label.
	Call memoryd.Call
	// Gold is the label, if Labelled; GoldFrom says where it comes from.
	Gold     Level
	Labelled bool
	GoldFrom string
}

// ParseLine reads one line. Name and number identify it, as the key of a request
// does, where the call has neither a time nor an id of its own. Evaluations that it may
// carry are not read. The error says what is wrong in words for people.
func ParseLine(line []byte, name string, number int) (c Case, err error) {
	switch {
	case !utf8.Valid(line):
		return c, errors.New("not valid UTF-8")
	case !json.Valid(line):
		return c, errors.New("not valid JSON")
	case line[0] != '{':
		return c, errors.New("not a JSON object")
	}
	l, err := memoryd.ParseCall(line)
	if err != nil {
		return c, err
	}
	if err := check(&l); err != nil {
		return c, err
	}
	if l.Workspace == "" {
		l.Workspace = memoryd.DefaultWorkspace
	}
	c.Call = l.Call()
	var metadata map[string]json.RawMessage
	_ = json.Unmarshal(l.Metadata, &metadata) // nil, or the object that the codec has read
	var gold string
	if raw := metadata["gold"]; raw != nil && json.Unmarshal(raw, &gold) != nil {
		return c, errors.New("metadata.gold: not a string")
	}
	if c.Gold, c.Labelled, err = labelled(gold); err != nil {
		return c, err
	}
	// Where another type stands, nothing is known.
	_ = json.Unmarshal(metadata["gold_from"], &c.GoldFrom)
	if c.Call.Metadata, err = withoutGold(metadata); err != nil {
		return c, err
	}
	if l.CreateTime != "" {
		if c.Call.Time, err = memoryd.ParseTime(l.CreateTime, time.UTC); err != nil {
			return c, fmt.Errorf("create_time: %w", err)
		}
	}
	c.Call.Key, c.Call.Hash = memoryd.Identity{
		ToolRef: c.Call.ToolRef, Input: c.Call.Input, Output: c.Call.Output, CreateTime: l.CreateTime,
		ToolCallID: memoryd.ToolCallID(l.Metadata), RequestKey: name, Index: number,
	}.KeyAndHash()
	return c, nil
}

func check(l *memoryd.CallLine) error {
	switch {
	case strings.TrimSpace(l.ToolName) == "":
		return errors.New("tool_name: missing")
	case len(l.ToolName) > memoryd.MaxNameBytes, len(l.Workspace) > memoryd.MaxNameBytes:
		return fmt.Errorf("tool_name or workspace_id: longer than %d bytes", memoryd.MaxNameBytes)
	case l.TimeCost < 0:
		return errors.New("time_cost: must be 0 or more (seconds)")
	case l.TokenCost < -1:
		return errors.New("token_cost: must be a whole number, 0 or more, or -1 for unknown")
	}
	return nil
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

// source is the running count of one recording.
type source struct {
	name       string
	calls      int // judged, labelled or not
	unlabelled int
	leftOut    int
	unreadable int

	matrix   Matrix      // of the evaluations
	unjudged [levels]int // by label: calls that got none
	sure     Matrix      // of what the rules were sure of
	cost     spending
}

func (s *source) add(o *source) {
	s.calls += o.calls
	s.unlabelled += o.unlabelled
	s.leftOut += o.leftOut
	s.unreadable += o.unreadable
	s.matrix.add(&o.matrix)
	for l, n := range o.unjudged {
		s.unjudged[l] += n
	}
	s.sure.add(&o.sure)
	s.cost.add(&o.cost)
}

// labelled is how many calls the figures are about.
func (s *source) labelled() int {
	n := s.matrix.N()
	for _, unjudged := range s.unjudged {
		n += unjudged
	}
	return n
}

func (s *source) figures() Figures {
	f := Figures{
		Name: s.name, Calls: s.calls, Labelled: s.labelled(), Unlabelled: s.unlabelled, LeftOut: s.leftOut,
		UnreadableLines: s.unreadable, Confusion: confusionOf(&s.matrix, &s.unjudged),
		Precision: s.matrix.Precision(), Recall: s.matrix.Recall(s.unjudged[Error]), F1: s.matrix.F1(s.unjudged[Error]),
		Agreement: s.matrix.Agreement(), ErrorAgreement: s.matrix.ErrorAgreement(),
		Kappa: s.matrix.Kappa(), ErrorKappa: s.matrix.ErrorKappa(),
		Sure: Sure{
			Coverage: shareOf(s.sure.N(), s.labelled()), Right: s.sure.ErrorAgreement(), RightLevel: s.sure.Agreement(),
			Confusion: confusionOf(&s.sure, nil),
		},
	}
	for _, n := range s.unjudged {
		f.WithoutVerdict += n
	}
	f.Cost = s.cost.figures(s.calls)
	return f
}
