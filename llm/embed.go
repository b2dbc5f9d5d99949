package llm

import (
	"context"
	"fmt"
	"math"

	"memoryd"

	"github.com/sashabaranov/go-openai"
)

// Bounds of an embeddings request and its reply.
const (
	maxTexts           = 2048     // of one request, as OpenAI has it
	maxDimensions      = 16384    // of one vector; models have 384 to 4096
	maxEmbeddingsReply = 64 << 20 // bytes of the body, after decompression
)

// Embedder asks the client's model for vectors. It is safe for concurrent use.
type Embedder struct {
	model      *Model
	dimensions int
}

// EmbedderForOp is a view of the client for one op that needs vectors, under the
// same limits, pauses and counts as requests for text. dimensions is how many
// numbers a vector shall have; 0 leaves it to the model.
func (c *Client) EmbedderForOp(op string, dimensions int) *Embedder {
	return &Embedder{model: c.ForOp(op, 0), dimensions: dimensions}
}

// Name is the model's name, as configured.
func (e *Embedder) Name() string { return e.model.Name() }

// Embed gives a vector for each text, in their order, all of one length and as
// the model made them. The texts travel in one request on the workspace's behalf.
// The errors are those of Model.Complete; a reply that does not hold exactly one
// usable vector for each text is a "bad_reply".
func (e *Embedder) Embed(ctx context.Context, workspace string, texts []string) ([][]float32, error) {
	if len(texts) == 0 {
		return nil, nil
	}
	if len(texts) > maxTexts {
		return nil, memoryd.Errorf(memoryd.Invalid, "%d texts to embed at once, at most %d", len(texts), maxTexts)
	}
	bytes := 0
	for _, text := range texts {
		bytes += len(text)
	}
	q := &embedding{texts: texts, dimensions: e.dimensions}
	if err := e.model.newRun(q, workspace, "", bytes, 1).do(ctx); err != nil {
		return nil, err
	}
	return q.vectors, nil
}

// embedding is a question for vectors.
type embedding struct {
	texts      []string
	dimensions int
	vectors    [][]float32
}

// form is one that knows no other: an embeddings request has nothing to adapt.
func (q *embedding) form(dialect) dialect { return dialect{format: formatText, noTemperature: true} }

func (q *embedding) most() int { return maxEmbeddingsReply }

func (q *embedding) send(ctx context.Context, api *openai.Client, model string, _ dialect, _ int) (memoryd.Usage, *fault, error) {
	resp, err := api.CreateEmbeddings(ctx, openai.EmbeddingRequest{
		Input: q.texts, Model: openai.EmbeddingModel(model), Dimensions: q.dimensions,
	})
	if err != nil {
		return memoryd.Usage{}, nil, err
	}
	usage := readUsage(resp.Usage)
	if q.vectors, err = readVectors(resp.Data, len(q.texts), q.dimensions); err != nil {
		return usage, newFault(badReply, "bad_reply", err).temp().retried(1), nil
	}
	return usage, nil, nil
}

// readVectors puts n vectors into the order of their texts, which their indexes
// tell, or says what is wrong with them. dimensions 0 takes any length.
func readVectors(data []openai.Embedding, n, dimensions int) ([][]float32, error) {
	if len(data) != n {
		return nil, fmt.Errorf("the reply has %d vectors for %d texts", len(data), n)
	}
	vectors := make([][]float32, n)
	for _, d := range data {
		switch {
		case d.Index < 0 || d.Index >= n:
			return nil, fmt.Errorf("the reply has a vector for text %d of %d", d.Index, n)
		case vectors[d.Index] != nil:
			return nil, fmt.Errorf("the reply has two vectors for text %d", d.Index)
		}
		if dimensions == 0 {
			dimensions = len(d.Embedding)
		}
		if err := checkVector(d.Embedding, dimensions); err != nil {
			return nil, fmt.Errorf("vector %d: %w", d.Index, err)
		}
		vectors[d.Index] = d.Embedding
	}
	return vectors, nil
}

// checkVector wants finite numbers that are not all zero: a vector with a
// direction.
func checkVector(v []float32, dimensions int) error {
	if len(v) != dimensions || len(v) == 0 || len(v) > maxDimensions {
		return fmt.Errorf("it has %d dimensions, want %d (1 to %d)", len(v), dimensions, maxDimensions)
	}
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if !(sum > 0) || math.IsInf(sum, 0) {
		return fmt.Errorf("it has no direction (its squares add up to %v)", sum)
	}
	return nil
}
