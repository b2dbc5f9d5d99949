package qdrant

import (
	"context"
	"hash/fnv"
	"maps"
	"math"
	"slices"

	"memoryd"
	"memoryd/store"

	qd "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc/codes"
)

// wordVector gives the words of a text as a sparse vector: the number of a word
// is its hash, its weight grows with the logarithm of how often it occurs. The
// server multiplies by how rare the word is.
func wordVector(text string) (numbers []uint32, weights []float32) {
	times := map[uint32]int{}
	for _, w := range store.Words(text) {
		times[wordNumber(w)]++
	}
	for _, n := range slices.Sorted(maps.Keys(times)) {
		numbers = append(numbers, n)
		weights = append(weights, float32(1+math.Log(float64(times[n]))))
	}
	return numbers, weights
}

func wordNumber(w string) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(w)) // never fails
	return h.Sum32()
}

// searchVectors is what a tool is found by; none when its name and guideline
// hold no word.
func searchVectors(tool, guideline string) *qd.Vectors {
	numbers, weights := wordVector(tool + "\n" + guideline)
	vectors := map[string]*qd.Vector{}
	if len(numbers) > 0 {
		vectors[searchVector] = qd.NewVectorSparse(numbers, weights)
	}
	return qd.NewVectorsMap(vectors)
}

// index replaces what a tool is found by, if the filter holds for it still.
func (s *backend) index(ctx context.Context, id string, f *qd.Filter, tool, guideline string) error {
	vectors := searchVectors(tool, guideline)
	if len(vectors.GetVectors().GetVectors()) == 0 {
		return update(ctx, s, "delete vectors", s.client.DeleteVectors, &qd.DeletePointVectors{
			CollectionName: s.tools, Wait: new(true), Ordering: s.compareOrder(),
			PointsSelector: qd.NewPointsSelectorFilter(f), Vectors: &qd.VectorsSelector{Names: []string{searchVector}},
		})
	}
	err := update(ctx, s, "update vectors", s.client.UpdateVectors, &qd.UpdatePointVectors{
		CollectionName: s.tools, Wait: new(true), Ordering: s.compareOrder(), UpdateFilter: f,
		Points: []*qd.PointVectors{{Id: qd.NewIDUUID(id), Vectors: vectors}},
	})
	if codeOf(err) == codes.NotFound {
		return nil // the tool was deleted meanwhile
	}
	return err
}

// SearchTools implements store.Tools. Two words may have the same number, so results are
// checked against the text.
func (s *backend) SearchTools(ctx context.Context, workspace, query string, limit int) ([]memoryd.Tool, error) {
	numbers, _ := wordVector(query)
	if len(numbers) == 0 || limit == 0 {
		return nil, nil
	}
	weights := slices.Repeat([]float32{1}, len(numbers))
	found, err := ask(ctx, s, "query", func(ctx context.Context) ([]*qd.ScoredPoint, error) {
		return s.client.Query(ctx, &qd.QueryPoints{
			CollectionName: s.tools, Query: qd.NewQuerySparse(numbers, weights), Using: new(searchVector),
			Filter: all(is(fieldSpaceID, workspaceID(workspace))), Limit: new(uint64(limit) + 8),
			WithPayload: qd.NewWithPayload(false), ReadConsistency: s.consistency(),
		})
	})
	if err != nil {
		return nil, err
	}
	ps := make([]point, len(found))
	for i, p := range found {
		ps[i].id = p.GetId().GetUuid()
	}
	tools, err := s.describeAll(ctx, ps)
	if err != nil {
		return nil, err
	}
	tools = slices.DeleteFunc(tools, func(t memoryd.Tool) bool { return !holdsWord(&t, query) })
	return tools[:min(len(tools), limit)], nil
}

func holdsWord(t *memoryd.Tool, query string) bool {
	wanted := store.Words(query)
	return slices.ContainsFunc(store.Words(t.Tool+"\n"+t.Guideline.Content), func(w string) bool {
		return slices.Contains(wanted, w)
	})
}
