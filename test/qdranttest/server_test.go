package qdranttest_test

import (
	"context"
	"testing"

	"memoryd/test/qdranttest"

	qd "github.com/qdrant/go-client/qdrant"
	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// connect gives a client of a new server with a collection "c".
func connect(t *testing.T, version string) (*qdranttest.Server, *qd.Client) {
	s := qdranttest.New(t, version)
	c, err := qd.NewClient(&qd.Config{
		Host: "passthrough:///fake", SkipCompatibilityCheck: true, PoolSize: 1, KeepAliveTime: -1,
		GrpcOptions: []grpc.DialOption{grpc.WithContextDialer(s.Dial)},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := c.CreateCollection(t.Context(), &qd.CreateCollection{CollectionName: "c"}); err != nil {
		t.Fatal(err)
	}
	return s, c
}

func pointOf(id uint64, n int64) *qd.PointStruct {
	return &qd.PointStruct{
		Id: qd.NewIDNum(id), Payload: map[string]*qd.Value{"n": qd.NewValueInt(n)},
		Vectors: qd.NewVectorsMap(map[string]*qd.Vector{}),
	}
}

func numbers(t *testing.T, c *qd.Client, r *qd.ScrollPoints) []int64 {
	t.Helper()
	r.CollectionName, r.WithPayload = "c", qd.NewWithPayload(true)
	found, err := c.Scroll(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	var out []int64
	for _, p := range found {
		out = append(out, p.GetPayload()["n"].GetIntegerValue())
	}
	return out
}

func TestPointsNeedVectorsAndOrderNeedsAnIndex(t *testing.T) {
	_, c := connect(t, "1.16.3")
	bare := pointOf(1, 1)
	bare.Vectors = nil
	_, err := c.Upsert(t.Context(), &qd.UpsertPoints{CollectionName: "c", Points: []*qd.PointStruct{bare}})
	if status.Code(unwrap(err)) != codes.InvalidArgument {
		t.Errorf("a point without vectors: %v", err)
	}
	ordered := &qd.ScrollPoints{CollectionName: "c", OrderBy: &qd.OrderBy{Key: "n"}}
	if _, err = c.Scroll(t.Context(), ordered); status.Code(unwrap(err)) != codes.InvalidArgument {
		t.Errorf("an order without an index: %v", err)
	}
	_, err = c.CreateFieldIndex(t.Context(), &qd.CreateFieldIndexCollection{
		CollectionName: "c", FieldName: "n", FieldType: qd.FieldType_FieldTypeInteger.Enum(),
		FieldIndexParams: qd.NewPayloadIndexParamsInt(&qd.IntegerIndexParams{Range: new(true)}),
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Upsert(t.Context(), &qd.UpsertPoints{CollectionName: "c", Points: []*qd.PointStruct{pointOf(1, 7), pointOf(2, 9), pointOf(3, 8)}})
	if err != nil {
		t.Fatal(err)
	}
	down := &qd.OrderBy{Key: "n", Direction: qd.Direction_Desc.Enum(), StartFrom: qd.NewStartFromInt(8)}
	if got := numbers(t, c, &qd.ScrollPoints{OrderBy: down}); len(got) != 2 || got[0] != 8 || got[1] != 7 {
		t.Errorf("got %v", got)
	}
}

func unwrap(err error) error {
	for err != nil {
		if _, ok := err.(interface{ GRPCStatus() *status.Status }); ok {
			return err
		}
		inner, ok := err.(interface{ Unwrap() error })
		if !ok {
			return err
		}
		err = inner.Unwrap()
	}
	return nil
}

// An update mode is overlooked by a server that does not know it; a condition is
// not, and inserts what is not there.
func TestConditionsAndModes(t *testing.T) {
	for version, want := range map[string]int64{"1.16.3": 2, "1.17.0": 1} {
		_, c := connect(t, version)
		for n := range 2 {
			_, err := c.Upsert(t.Context(), &qd.UpsertPoints{
				CollectionName: "c", Points: []*qd.PointStruct{pointOf(1, int64(n)+1)}, UpdateMode: qd.UpdateMode_InsertOnly.Enum(),
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		if got := numbers(t, c, &qd.ScrollPoints{}); len(got) != 1 || got[0] != want {
			t.Errorf("%s: got %v, want %d", version, got, want)
		}
		_, err := c.Upsert(t.Context(), &qd.UpsertPoints{
			CollectionName: "c", Points: []*qd.PointStruct{pointOf(1, 50), pointOf(2, 51)},
			UpdateFilter: &qd.Filter{Must: []*qd.Condition{qd.NewMatchInt("n", 99)}},
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := numbers(t, c, &qd.ScrollPoints{}); len(got) != 2 || got[0] != want || got[1] != 51 {
			t.Errorf("%s: after a condition that does not hold: %v", version, got)
		}
	}
}

func TestFaultsBefall(t *testing.T) {
	s, c := connect(t, "1.16.3")
	put := func(n int64) error {
		_, err := c.Upsert(t.Context(), &qd.UpsertPoints{CollectionName: "c", Points: []*qd.PointStruct{pointOf(1, n)}})
		return err
	}
	s.Inject(func(string) qdranttest.Fault { return qdranttest.Fault{Code: codes.Unavailable} })
	if err := put(1); status.Code(unwrap(err)) != codes.Unavailable || s.Points("c") != 0 {
		t.Errorf("before: %v, %d points", err, s.Points("c"))
	}
	s.Inject(func(string) qdranttest.Fault { return qdranttest.Fault{LostAck: true} })
	if err := put(1); status.Code(unwrap(err)) != codes.Unavailable || s.Points("c") != 1 {
		t.Errorf("after: %v, %d points", err, s.Points("c"))
	}
	s.Inject(nil)
	s.Lag()
	if err := put(2); err != nil {
		t.Fatal(err)
	}
	s.Inject(func(string) qdranttest.Fault { return qdranttest.Fault{Stale: true} })
	if got := numbers(t, c, &qd.ScrollPoints{}); len(got) != 1 || got[0] != 1 {
		t.Errorf("stale: got %v", got)
	}
	majority := qd.NewReadConsistencyType(qd.ReadConsistencyType_Majority)
	if got := numbers(t, c, &qd.ScrollPoints{ReadConsistency: majority}); len(got) != 1 || got[0] != 2 {
		t.Errorf("majority: got %v", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	s.Inject(func(string) qdranttest.Fault {
		cancel()
		return qdranttest.Fault{Delay: 1 << 62}
	})
	if _, err := c.Scroll(ctx, &qd.ScrollPoints{CollectionName: "c"}); status.Code(unwrap(err)) != codes.Canceled {
		t.Errorf("delayed: %v", err)
	}
}
