package qdrant_test

import (
	"bufio"
	"compress/gzip"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"memoryd"
	"memoryd/store"
	"memoryd/store/qdrant"
	"memoryd/store/qdrant/qdranttest"

	qd "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
)

// first is a server with the collections that a program wrote which knew the first layout
// only: testdata/layout1.gz is all that it kept.
type first struct {
	admin *qd.Client
	cfg   qdrant.Config
	opts  []qdrant.Option
}

// firsts gives such a server: a fake one, and a real one if there is one.
func firsts(t *testing.T) map[string]func(t *testing.T) *first {
	out := map[string]func(t *testing.T) *first{"fake": func(t *testing.T) *first {
		server := qdranttest.New(t, versions[0])
		admin, err := qd.NewClient(&qd.Config{Host: "passthrough:///fake", SkipCompatibilityCheck: true, PoolSize: 1, GrpcOptions: []grpc.DialOption{
			grpc.WithContextDialer(server.Dial), grpc.WithTransportCredentials(insecure.NewCredentials()),
		}})
		if err != nil {
			t.Fatal(err)
		}
		f := &first{admin: admin, cfg: fakeConfig(), opts: []qdrant.Option{qdrant.WithDialer(server.Dial)}}
		f.fill(t)
		return f
	}}
	if os.Getenv("MEMORYD_TEST_QDRANT") == "" {
		return out
	}
	out["real"] = func(t *testing.T) *first {
		f := &first{cfg: qdrant.DefaultConfig()}
		f.cfg.Host, f.cfg.Port = realServer(t)
		f.cfg.Prefix, f.cfg.Connections = testPrefix(), 1
		var err error
		if f.admin, err = qd.NewClient(&qd.Config{Host: f.cfg.Host, Port: f.cfg.Port, SkipCompatibilityCheck: true, PoolSize: 1}); err != nil {
			t.Fatal(err)
		}
		f.fill(t)
		return f
	}
	return out
}

func (f *first) open(t *testing.T, opts ...qdrant.Option) *qdrant.Store {
	s, err := qdrant.Open(t.Context(), f.cfg, "", slog.New(slog.DiscardHandler), append(opts, f.opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// fill makes the collections of the first layout. A store adds the indexes.
func (f *first) fill(t *testing.T) {
	t.Cleanup(func() {
		dropCollections(t, f.admin, f.cfg.Prefix)
		if err := f.admin.Close(); err != nil {
			t.Error(err)
		}
	})
	in, err := os.Open("testdata/layout1.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	plain, err := gzip.NewReader(in)
	if err != nil {
		t.Fatal(err)
	}
	points := map[string][]*qd.PointStruct{}
	lines := bufio.NewScanner(plain)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		name, line, _ := strings.Cut(lines.Text(), " ")
		var p qd.RetrievedPoint
		if err := protojson.Unmarshal([]byte(line), &p); err != nil {
			t.Fatal(err)
		}
		vectors := map[string]*qd.Vector{}
		for of, v := range p.GetVectors().GetVectors().GetVectors() {
			vectors[of] = qd.NewVectorSparse(v.GetIndices().GetData(), v.GetData()) //nolint:staticcheck // as 1.16 gives it
		}
		points[name] = append(points[name], &qd.PointStruct{Id: p.GetId(), Payload: p.GetPayload(), Vectors: qd.NewVectorsMap(vectors)})
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"calls", "tools", "docs"} {
		alias := f.cfg.Prefix + name
		r := &qd.CreateCollection{
			CollectionName: alias + "_v1", ShardNumber: new(uint32(1)), ReplicationFactor: new(uint32(1)), WriteConsistencyFactor: new(uint32(1)),
			Metadata:         map[string]*qd.Value{"memoryd_schema": qd.NewValueInt(1)},
			OptimizersConfig: &qd.OptimizersConfigDiff{FlushIntervalSec: new(uint64(1))},
		}
		if name == "tools" {
			r.SparseVectorsConfig = qd.NewSparseVectorsConfig(map[string]*qd.SparseVectorParams{"words": {Modifier: qd.Modifier_Idf.Enum()}})
		}
		if err := f.admin.CreateCollection(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		if _, err := f.admin.Upsert(t.Context(), &qd.UpsertPoints{CollectionName: alias + "_v1", Points: points[name], Wait: new(true)}); err != nil {
			t.Fatal(err)
		}
		if err := f.admin.CreateAlias(t.Context(), alias, alias+"_v1"); err != nil {
			t.Fatal(err)
		}
	}
}

// layout is the collection that the alias of calls names.
func (f *first) layout(t *testing.T) string {
	list, err := f.admin.ListAliases(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range list {
		if a.GetAliasName() == f.cfg.Prefix+"calls" {
			return strings.TrimPrefix(a.GetCollectionName(), f.cfg.Prefix)
		}
	}
	return ""
}

// everything is what a store tells of the tools of the data set.
func everything(t *testing.T, s store.Store) map[string]any {
	out := map[string]any{}
	for _, tool := range []string{"read file", "search", "söarch/é"} {
		d, err := s.Described(t.Context(), ref(tool))
		if err != nil {
			t.Fatalf("%s: %v", tool, err)
		}
		calls, err := s.History(t.Context(), ref(tool), 100)
		if err != nil {
			t.Fatal(err)
		}
		out[tool], out[tool+" calls"] = d, calls
	}
	if _, err := s.Tool(t.Context(), ref("gone")); !memoryd.IsKind(err, memoryd.NotFound) {
		t.Errorf("a deleted tool is there: %v", err)
	}
	return out
}

func TestTheFirstLayoutIsUsedAsItIsAndMoved(t *testing.T) {
	for name, begin := range firsts(t) {
		t.Run(name, func(t *testing.T) {
			f := begin(t)
			s := f.open(t)
			before := everything(t, s)
			if d := before["read file"].(store.Description); d.Lifetime != 70 || d.Duplicates != 63 || d.Kept != 10 || d.Pending != 5 {
				t.Errorf("got %+v", d.Tool)
			}
			if d := before["search"].(store.Description); d.Lifetime != 12 || d.Kept != 10 || d.Guideline.Content != "Give a path." {
				t.Errorf("got %+v", d.Tool)
			}
			if s.Packs() || f.layout(t) != "calls_v1" {
				t.Fatalf("a collection of the first layout is used as one of the second")
			}
			moved, err := s.Migrate(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if moved.Points < 102 || moved.Old != f.cfg.Prefix+"calls_v1" || f.layout(t) != "calls_v2" || !s.Packs() {
				t.Errorf("got %+v, now %s", moved, f.layout(t))
			}
			next := f.open(t)
			for _, after := range []map[string]any{everything(t, s), everything(t, next)} {
				if d := difference(before, after); d != "" {
					t.Error(d)
				}
			}
			// Known calls are known, and contents too: the first that the data set remembers.
			known := before["search calls"].([]memoryd.Call)[0]
			again := known
			again.Key[0]++
			got, err := add(t.Context(), next, 100, known, again)
			if err != nil || got[0].New || !got[1].New || !got[1].Repeat {
				t.Errorf("got %+v, %v", got, err)
			}
			if err := next.DeleteTool(t.Context(), ref("search")); err != nil { // writes to tools are not held any more
				t.Error(err)
			}
			if moved, err := next.Migrate(t.Context()); err != nil || moved.Old != "" || moved.Points != 0 {
				t.Errorf("a second migration did %+v, %v", moved, err)
			}
		})
	}
}

// difference names what two tellings of everything do not agree in.
func difference(a, b map[string]any) string {
	for _, k := range slices.Sorted(maps.Keys(a)) {
		if !reflect.DeepEqual(a[k], b[k]) {
			return fmt.Sprintf("%s was %+v and is %+v", k, a[k], b[k])
		}
	}
	return ""
}

// at calls f once, with the request's context, before the request that when holds for.
func at(when func(method string, req any) bool, f func(ctx context.Context)) qdrant.Option {
	var once sync.Once
	return qdrant.WithInterceptor(func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
		if when(method[strings.LastIndex(method, "/")+1:], req) {
			once.Do(func() { f(ctx) })
		}
		return invoke(ctx, method, req, reply, cc, opts...)
	})
}

// holds tells the request that makes a server refuse writes to calls.
func holds(_ string, req any) bool {
	r, ok := req.(*qd.UpdateCollection)
	return ok && r.GetStrictModeConfig().GetEnabled() && strings.HasSuffix(r.GetCollectionName(), "calls_v1")
}

// What others do after everything was copied, and before writes are held, is moved too;
// nothing is done between that and the move of the alias.
func TestNothingIsLostBesideAMigration(t *testing.T) {
	for name, begin := range firsts(t) {
		t.Run(name, func(t *testing.T) {
			f := begin(t)
			other := f.open(t)
			before := everything(t, other)
			deleted, judged := before["read file calls"].([]memoryd.Call)[3], before["söarch/é calls"].([]memoryd.Call)[1]
			var want store.Description
			change := func(context.Context) {
				if n, err := other.DeleteCalls(t.Context(), ref("read file"), []memoryd.CallKey{deleted.Key}); n != 1 || err != nil {
					t.Errorf("got %d, %v", n, err)
				}
				got, err := other.Settle(t.Context(), []store.Verdict{{ToolRef: judged.ToolRef, Key: judged.Key, Evaluation: memoryd.Evaluation{
					State: memoryd.Judged, Score: 0.5, JudgedBy: "rules", JudgeVersion: "late",
				}}})
				if err != nil || !got[0] {
					t.Errorf("got %v, %v", got, err)
				}
				if got, err := add(t.Context(), other, 10, call("söarch/é", 1, 9), call("new", 1, 9)); err != nil || !got[0].New || !got[1].New {
					t.Errorf("got %+v, %v", got, err)
				}
				if err := other.DeleteTool(t.Context(), ref("search")); err != nil {
					t.Error(err)
				}

				if want, err = other.Described(t.Context(), ref("read file")); err != nil {
					t.Error(err)
				}
			}
			refused := func(context.Context) {
				_, err := add(t.Context(), other, 10, call("refused", 1, 9))
				if !memoryd.IsKind(err, memoryd.Unavailable) {
					t.Errorf("a call was taken between the last round and the move: %v", err)
				}
				if _, err := other.DeleteCalls(t.Context(), ref("read file"), []memoryd.CallKey{judged.Key}); !memoryd.IsKind(err, memoryd.Unavailable) {
					t.Errorf("a call was deleted between the last round and the move: %v", err)
				}
				// A deletion that had stripped its calls before the hold is not told as done after it.
				if err := other.PutGuideline(t.Context(), ref("read file"), memoryd.Guideline{Content: "x"}, 0); !memoryd.IsKind(err, memoryd.Unavailable) {
					t.Errorf("a tool was written between the last round and the move: %v", err)
				}
				if _, err := other.History(t.Context(), ref("read file"), 100); err != nil {
					t.Errorf("reads are held too: %v", err)
				}
			}
			s := f.open(t, at(holds, change), at(func(method string, _ any) bool { return method == "UpdateAliases" }, refused))
			if _, err := s.Migrate(t.Context()); err != nil {
				t.Fatal(err)
			}
			for _, s := range []*qdrant.Store{other, f.open(t)} {
				d, err := s.Described(t.Context(), ref("read file"))
				if err != nil || !reflect.DeepEqual(d, want) || d.Lifetime != 70 || d.Duplicates != 63 {
					t.Errorf("got %+v, %v, want %+v", d, err, want)
				}
				calls, err := s.History(t.Context(), ref("read file"), 100)
				if err != nil {
					t.Fatal(err)
				}
				for _, c := range calls {
					if c.Key == deleted.Key {
						t.Errorf("got %+v", c)
					}
				}
				calls, err = s.History(t.Context(), judged.ToolRef, 100)
				for _, c := range calls {
					if err != nil || c.Key == judged.Key && c.Evaluation.JudgeVersion != "late" {
						t.Errorf("got %+v, %v", c, err)
					}
				}
				for tool, lifetime := range map[string]int64{"söarch/é": 4, "new": 1} {
					if d, err := s.Described(t.Context(), ref(tool)); err != nil || d.Lifetime != lifetime {
						t.Errorf("%s: got %+v, %v", tool, d.Tool, err)
					}
				}
				for _, tool := range []string{"search", "refused"} {
					if _, err := s.Tool(t.Context(), ref(tool)); !memoryd.IsKind(err, memoryd.NotFound) {
						t.Errorf("%s: got %v", tool, err)
					}
				}
			}
			if got, err := add(t.Context(), other, 10, call("refused", 1, 9)); err != nil || !got[0].New {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}

// Writers that try again lose nothing and double nothing while calls are moved.
func TestWritersGoOnBesideAMigration(t *testing.T) {
	for name, begin := range firsts(t) {
		t.Run(name, func(t *testing.T) {
			f := begin(t)
			var wg sync.WaitGroup
			var done atomic.Bool
			const tools = 4
			added := make([]int64, tools)
			for tool := range tools {
				s := f.open(t)
				wg.Go(func() {
					for n, after := 0, 0; after < 20; n++ {
						if done.Load() {
							after++
						}
						for {
							_, err := add(t.Context(), s, 10, call(fmt.Sprint("t", tool), n, 100))
							if err == nil {
								break
							}
							if !memoryd.IsKind(err, memoryd.Unavailable) {
								t.Error(err)
								return
							}
						}
						added[tool]++
					}
				})
			}
			_, err := f.open(t).Migrate(t.Context())
			done.Store(true)
			wg.Wait()
			if err != nil {
				t.Fatal(err)
			}
			s := f.open(t)
			for tool, n := range added {
				if d, err := s.Described(t.Context(), ref(fmt.Sprint("t", tool))); err != nil || d.Lifetime != n || d.Duplicates != 0 || d.Kept != 10 {
					t.Errorf("%d were added, got %+v, %v", n, d.Tool, err)
				}
			}
		})
	}
}

// dying makes all requests of a store fail from the n-th on, as if its process had died.
func dying(n int64) (qdrant.Option, *atomic.Int64) {
	var sent atomic.Int64
	return qdrant.WithInterceptor(func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
		if sent.Add(1) > n {
			return status.Error(codes.PermissionDenied, "dead")
		}
		return invoke(ctx, method, req, reply, cc, opts...)
	}), &sent
}

func TestAMigrationGoesOnAfterDeathAtAnyRequest(t *testing.T) {
	step := int64(1)
	if testing.Short() {
		step = 5
	}
	begin := firsts(t)["fake"]
	for n := int64(0); ; n += step {
		f := begin(t)
		other := f.open(t)
		before := everything(t, other)
		option, sent := dying(1 << 60)
		s := f.open(t, option)
		sent.Store(1<<60 - n)
		_, err := s.Migrate(t.Context())
		if err == nil {
			if n < 30 {
				t.Errorf("it was done after %d requests", n)
			}
			return
		}
		_, early := add(t.Context(), other, 10, call("new", 1, 9)) // it may be held
		if early != nil && !memoryd.IsKind(early, memoryd.Unavailable) {
			t.Fatal(early)
		}
		other.EndMigrationLease(t.Context())
		next := f.open(t)
		if _, err := next.Migrate(t.Context()); err != nil {
			t.Fatalf("after %d requests: %v", n, err)
		}
		if d := difference(before, everything(t, other)); d != "" {
			t.Fatalf("after %d requests: %s", n, d)
		}
		if got, err := add(t.Context(), other, 10, call("new", 1, 9)); err != nil || early == nil == got[0].New {
			t.Fatalf("after %d requests: got %+v, %v, first %v", n, got, err, early)
		}
		if f.layout(t) != "calls_v2" {
			t.Fatalf("after %d requests: the alias is on %s", n, f.layout(t))
		}
	}
}

// Whoever has lost its lease to another does nothing more: not even end the other's hold.
func TestAMigrationThatLostItsLeaseTouchesNothing(t *testing.T) {
	f := firsts(t)["fake"](t)
	other := f.open(t)
	goOn, gaveUp, moved := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	late := f.open(t, qdrant.WithGrace(500*time.Millisecond), at(holds, func(ctx context.Context) {
		<-ctx.Done() // its lease has ended
		other.EndMigrationLease(t.Context())
		next := f.open(t, at(func(method string, _ any) bool { return method == "UpdateAliases" }, func(context.Context) {
			close(goOn)
			<-gaveUp
			if _, err := add(t.Context(), other, 10, call("refused", 1, 9)); !memoryd.IsKind(err, memoryd.Unavailable) {
				t.Errorf("a call was taken between the last round and the move: %v", err)
			}
			if err := other.PutGuideline(t.Context(), ref("read file"), memoryd.Guideline{Content: "x"}, 0); !memoryd.IsKind(err, memoryd.Unavailable) {
				t.Errorf("a tool was written between the last round and the move: %v", err)
			}
		}))
		go func() {
			_, err := next.Migrate(t.Context())
			moved <- err
		}()
		<-goOn
	}))
	if _, err := late.Migrate(t.Context()); err == nil {
		t.Error("it went on")
	}
	close(gaveUp)
	if err := <-moved; err != nil || f.layout(t) != "calls_v2" {
		t.Errorf("the alias is on %s: %v", f.layout(t), err)
	}
}

func TestWhatCannotBeMovedIsRefused(t *testing.T) {
	f := firsts(t)["fake"](t)
	s := f.open(t)
	if err := f.admin.CreateCollection(t.Context(), &qd.CreateCollection{
		CollectionName: "memoryd_calls_v2", Metadata: map[string]*qd.Value{"memoryd_schema": qd.NewValueInt(2)},
		VectorsConfig: qd.NewVectorsConfigMap(map[string]*qd.VectorParams{"pack": {Size: 1, Distance: qd.Distance_Dot}}),
	}); err != nil {
		t.Fatal(err)
	}
	p := &qd.PointStruct{Id: qd.NewIDNum(1), Vectors: qd.NewVectorsMap(map[string]*qd.Vector{})}
	if _, err := f.admin.Upsert(t.Context(), &qd.UpsertPoints{CollectionName: "memoryd_calls_v2", Points: []*qd.PointStruct{p}}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Migrate(t.Context()); !memoryd.IsKind(err, memoryd.Conflict) || f.layout(t) != "calls_v1" {
		t.Errorf("got %v", err)
	}
}

// A collection that has lost its alias is given it again, whichever its layout.
func TestAnAliasThatIsGoneIsMadeAgain(t *testing.T) {
	f := firsts(t)["fake"](t)
	before := everything(t, f.open(t))
	if err := f.admin.DeleteAlias(t.Context(), "memoryd_calls"); err != nil {
		t.Fatal(err)
	}
	if d := difference(before, everything(t, f.open(t))); d != "" || f.layout(t) != "calls_v1" {
		t.Errorf("on %s: %s", f.layout(t), d)
	}
}
