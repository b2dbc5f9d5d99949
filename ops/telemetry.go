package ops

import (
	"context"
	"errors"
	"slices"

	"memoryd"
	"memoryd/internal/accounts"
)

// TelemetryRequest is an OpenTelemetry export request of spans or log records.
type TelemetryRequest struct {
	Workspace string
	Logs      bool // log records; otherwise spans
	JSON      bool // the encoding; otherwise protobuf
	Body      []byte
}

// TelemetryTaken is the result of an export request.
type TelemetryTaken struct {
	// Rejected is the number of calls that were not saved to disk, and Why is the reason for the
	// first of them.
	Rejected int
	Why      string
	// Answer is the body of the response, in the encoding of the request.
	Answer []byte
}

// telemetryBatch is how many calls are recorded at a time.
const telemetryBatch = 200

// receiveTelemetry records the tool calls that an export request tells of, each
// once, however many of its spans tell of it, and leaves all else.
func (d *Deps) receiveTelemetry(ctx context.Context, r TelemetryRequest) (*TelemetryTaken, error) {
	b, err := d.Readers.Telemetry(r.Body, r.Logs, r.JSON)
	if err != nil {
		return nil, memoryd.Wrap(memoryd.Invalid, err, "the body is not an export request of OTLP in the encoding that Content-Type names")
	}
	d.Intake.Drop("otlp", b.Skipped)
	taken := &TelemetryTaken{}
	d.Intake.Plan(r.Workspace, b.Planned)
	if err := d.recordAccounts(ctx, r.Workspace, d.Intake.Join(r.Workspace, b.Calls), taken); err != nil {
		return nil, err
	}
	taken.Answer = d.Readers.Accepted(r.JSON, taken.Rejected, taken.Why)
	return taken, nil
}

// recordAccounts records calls that a source told of.
func (d *Deps) recordAccounts(ctx context.Context, workspace string, calls []accounts.Call, taken *TelemetryTaken) error {
	for batch := range slices.Chunk(calls, telemetryBatch) {
		request := RecordRequest{Workspace: workspace, Async: true}
		for i := range batch {
			request.Items = append(request.Items, Item{Call: batch[i].Record()})
		}
		recorded, err := d.flows.AddToolCallResult.Run(ctx, request)
		var rejected []Rejection
		if refusal, ok := errors.AsType[*Refusal](err); ok {
			rejected = refusal.Rejected
		} else if err != nil {
			return err
		} else {
			rejected = recorded.Rejected
		}
		taken.Rejected += len(rejected)
		if len(rejected) > 0 && taken.Why == "" {
			taken.Why = rejected[0].Reason
		}
	}
	return nil
}
