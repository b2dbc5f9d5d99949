package qdrant_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"memoryd/store/qdrant"
	"memoryd/store/qdrant/qdranttest"

	qd "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc"
)

func TestAForeignCollectionIsReadToItsEnd(t *testing.T) {
	server := qdranttest.New(t, versions[0])
	client, err := qd.NewClient(&qd.Config{
		Host: "passthrough:///x", SkipCompatibilityCheck: true, KeepAliveTime: -1,
		GrpcOptions: []grpc.DialOption{grpc.WithContextDialer(server.Dial)},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if err := client.CreateCollection(t.Context(), &qd.CreateCollection{CollectionName: "work"}); err != nil {
		t.Fatal(err)
	}
	const points = 150
	for i := range points {
		_, err := client.Upsert(t.Context(), &qd.UpsertPoints{CollectionName: "work", Points: []*qd.PointStruct{{
			Id:      qd.NewIDUUID(fmt.Sprintf("00000000-0000-0000-0000-%012d", i)),
			Vectors: qd.NewVectorsMap(map[string]*qd.Vector{}),
			Payload: qd.NewValueMap(map[string]any{
				"content": fmt.Sprint("tool ", i),
				"metadata": map[string]any{
					"tool_call_results": []any{map[string]any{"score": 1.0, "token_cost": 5, "success": true, "output": "é\n", "extra": nil}},
				},
			}),
		}}})
		if err != nil {
			t.Fatal(err)
		}
	}
	seen := map[string]bool{}
	for p, err := range qdrant.ReadForeign(t.Context(), fakeConfig(), "", "work", qdrant.WithDialer(server.Dial)) {
		if err != nil {
			t.Fatal(err)
		}
		var got struct {
			Content  string
			Metadata struct {
				Calls []map[string]json.RawMessage `json:"tool_call_results"`
			}
		}
		if err := json.Unmarshal(p.Payload, &got); err != nil {
			t.Fatalf("%v: %s", err, p.Payload)
		}
		c := got.Metadata.Calls[0]
		if string(c["score"]) != "1.0" || string(c["token_cost"]) != "5" || string(c["success"]) != "true" || string(c["extra"]) != "null" {
			t.Fatalf("numbers lost their kind: %s", p.Payload)
		}
		seen[got.Content] = true
	}
	if len(seen) != points {
		t.Errorf("read %d of %d points", len(seen), points)
	}
	for _, err := range qdrant.ReadForeign(t.Context(), fakeConfig(), "", "nowhere", qdrant.WithDialer(server.Dial)) {
		if err == nil {
			t.Error("a point of a collection that is not there")
		}
	}
}
