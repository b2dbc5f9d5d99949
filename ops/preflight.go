package ops

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"

	"memoryd"
	"memoryd/guidelines/preflight"

	"github.com/go-json-experiment/json/jsontext"
)

// PreflightRequest requests a forecast for a planned call.
type PreflightRequest struct {
	memoryd.ToolRef

	Input json.RawMessage
	// By is the run, session and agent of the call, as far as known.
	By preflight.Caller
	// Host reports that a hook asks, which names the server of each tool that has one and notes
	// itself what it tells.
	Host bool
}

// Forecast is what to expect of a planned call, from the history and the run.
type Forecast struct {
	Tool       string
	Assessment Assessment
	// Nearest are the known tools with the most similar names, if the tool is unknown.
	Nearest []string
}

// Assessment is the result for the planned call.
type Assessment = preflight.Assessment

// SimilarCall is a recorded call that resembles the planned one.
type SimilarCall = preflight.Similar

// Caller identifies who plans a call.
type Caller = preflight.Caller

// PreflightParams are the settings of the op.
type PreflightParams = preflight.Config

// preflight says what to expect of a call. It uses no model.
func (d *Deps) preflight(ctx context.Context, r PreflightRequest) (*Forecast, error) {
	run := cmp.Or(r.By.Run, r.By.Session)
	untold := d.Revisions.Untold(r.Workspace, run)
	if !r.Host || untold {
		d.Told.note(r.ToolRef, run, 0, untold)
	}
	if untold {
		return &Forecast{Tool: r.Tool}, nil
	}
	// The history that it is held against was redacted likewise.
	redacted := d.Redaction.JSON(ctx, r.Input)
	r.By.Source = sourceOf(ctx)
	a, err := d.Forecasts.Assess(ctx, r.ToolRef, redacted, r.By)
	if err != nil {
		return nil, err
	}
	a.Suggestion = unredacted(a.Suggestion, redacted, r.Input)
	f := &Forecast{Tool: r.Tool, Assessment: a}
	if a.Judged == 0 && len(a.Warnings) == 0 {
		if _, err := d.Store.Tool(ctx, r.ToolRef); memoryd.IsKind(err, memoryd.NotFound) {
			f.Nearest = nearest(ctx, d.Store, r.ToolRef)
		}
	}
	return f, nil
}

// unredacted puts the caller's own secrets back into a suggestion: with their placeholders it is no call. It is nil where
// it is not known which secret one stands for.
func unredacted(suggestion, redacted, input json.RawMessage) json.RawMessage {
	veiled, plain := scalars(redacted), scalars(input)
	if len(veiled) != len(plain) {
		return nil
	}
	secrets := map[string]string{}
	for i := range veiled {
		secret := string(input[plain[i].from:plain[i].to])
		if veiled[i].text == plain[i].text {
			continue
		}
		if known, again := secrets[veiled[i].text]; again && known != secret {
			return nil
		}
		secrets[veiled[i].text] = secret
	}
	var out []byte
	done := 0
	for _, s := range scalars(suggestion) {
		if secret, is := secrets[s.text]; is {
			out = append(append(out, suggestion[done:s.from]...), secret...)
			done = s.to
		}
	}
	return append(out, suggestion[done:]...)
}

// scalar is a text or a number in JSON, and where it stands.
type scalar struct {
	text     string
	from, to int
}

func scalars(v json.RawMessage) (list []scalar) {
	dec := jsontext.NewDecoder(bytes.NewReader(v), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	for kind := dec.PeekKind(); kind != 0; kind = dec.PeekKind() {
		if kind != '"' && kind != '0' {
			if _, err := dec.ReadToken(); err != nil {
				return list
			}
			continue
		}
		raw, err := dec.ReadValue()
		if err != nil {
			return list
		}
		s := scalar{text: string(raw), to: int(dec.InputOffset())}
		if s.from = s.to - len(raw); kind == '"' {
			unquoted, _ := jsontext.AppendUnquote(nil, raw)
			s.text = string(unquoted)
		}
		list = append(list, s)
	}
	return list
}
