package trace

import (
	"sync/atomic"

	sdk "go.opentelemetry.io/otel/sdk/trace"
)

// maxBatch is how many spans go out in one request.
const maxBatch = 512

// queue bounds the spans that wait before the batches of OpenTelemetry, which
// would drop what is too much and tell nobody how much that was.
type queue struct {
	sdk.SpanProcessor
	sender                 *sender
	most                   int64 // spans that may wait or be under way
	ended, handed, dropped atomic.Int64
}

// open makes room for what may wait and for one batch under way.
func (q *queue) open(cfg Config) {
	batch := min(cfg.Queue, maxBatch)
	q.most = int64(cfg.Queue + batch)
	q.SpanProcessor = sdk.NewBatchSpanProcessor(q.sender,
		sdk.WithMaxQueueSize(cfg.Queue+batch), sdk.WithMaxExportBatchSize(batch),
		sdk.WithBatchTimeout(cfg.Interval), sdk.WithExportTimeout(cfg.Timeout))
}

// OnEnd implements sdk.SpanProcessor.
func (q *queue) OnEnd(s sdk.ReadOnlySpan) {
	q.ended.Add(1)
	if q.handed.Add(1)-q.sender.sent.Load()-q.sender.failed.Load() > q.most {
		q.handed.Add(-1)
		q.dropped.Add(1)
		return
	}
	q.SpanProcessor.OnEnd(s)
}
