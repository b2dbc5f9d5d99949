package evaluate

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"memoryd/internal/configtest"

	"memoryd"
	"memoryd/evaluate/rules"
	"memoryd/internal/reading"
	"memoryd/store"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeStore is a Ledger in memory that keeps to the promises of package store.
type fakeStore struct {
	store.Records // of which it has what the evaluator uses
	mu            sync.Mutex
	calls         []memoryd.Call
	cache         map[[16]byte]memoryd.Evaluation
	records       map[store.RecordKey]store.Record
	settles       int
	failNext      int // how many calls of Settle fail
	down          bool
	claimed       func() // called after each Claim, unless nil
}

func newFakeStore() *fakeStore {
	return &fakeStore{cache: map[[16]byte]memoryd.Evaluation{}, records: map[store.RecordKey]store.Record{}}
}

var errDown = memoryd.Errorf(memoryd.Unavailable, "the store is down")

// put appends calls as the store would and gives them back.
func (s *fakeStore) put(calls ...memoryd.Call) []memoryd.Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, calls...)
	return calls
}

func (s *fakeStore) call(key memoryd.CallKey) memoryd.Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.calls {
		if c.Key == key {
			return c
		}
	}
	return memoryd.Call{}
}

func (s *fakeStore) History(_ context.Context, ref memoryd.ToolRef, limit int) ([]memoryd.Call, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.down {
		return nil, errDown
	}
	var list []memoryd.Call
	for _, c := range s.calls {
		if c.ToolRef == ref {
			list = append(list, c)
		}
	}
	return list[max(0, len(list)-limit):], nil
}

func (s *fakeStore) Claim(ctx context.Context, now time.Time, lease time.Duration, limit int) ([]memoryd.Call, error) {
	if s.claimed != nil {
		defer s.claimed()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.down || ctx.Err() != nil {
		return nil, errDown
	}
	var list []memoryd.Call
	for i := range s.calls {
		e := &s.calls[i].Evaluation
		if e.State == memoryd.Pending && !e.NotBefore.After(now) && len(list) < limit {
			e.NotBefore = now.Add(lease)
			list = append(list, s.calls[i])
		}
	}
	return list, nil
}

func (s *fakeStore) Settle(ctx context.Context, settled []memoryd.Settlement) ([]bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settles++
	if s.failNext > 0 {
		s.failNext--
		return nil, errDown
	}
	if s.down || ctx.Err() != nil {
		return nil, errDown
	}
	written := make([]bool, len(settled))
	for i, v := range settled {
		for j := range s.calls {
			c := &s.calls[j]
			if c.Key != v.Key || c.ToolRef != v.ToolRef || c.Evaluation.State != memoryd.Pending {
				continue
			}
			written[i] = true
			if v.Evaluation.State == memoryd.Pending {
				e := &c.Evaluation
				e.Attempts, e.LastError, e.NotBefore = v.Evaluation.Attempts, v.Evaluation.LastError, v.Evaluation.NotBefore
				continue
			}
			c.Evaluation = v.Evaluation
		}
	}
	return written, nil
}

func (s *fakeStore) CachedVerdict(_ context.Context, key [16]byte) (memoryd.Evaluation, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e, ok := s.cache[key]; ok && !s.down {
		return e, nil
	}
	return memoryd.Evaluation{}, memoryd.Errorf(memoryd.NotFound, "no such verdict")
}

func (s *fakeStore) CacheVerdict(_ context.Context, key [16]byte, e memoryd.Evaluation) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.down {
		return errDown
	}
	s.cache[key] = e
	return nil
}

// scripted is a Model that answers by a function and counts what it is asked.
type scripted struct {
	answer func(ctx context.Context, n int, p memoryd.Prompt) (string, error)

	mu       sync.Mutex
	prompts  []memoryd.Prompt
	inFlight int
	most     int
}

func (m *scripted) Name() string { return "test-model" }

func (m *scripted) Complete(ctx context.Context, p memoryd.Prompt) (memoryd.Completion, error) {
	m.mu.Lock()
	m.prompts = append(m.prompts, p)
	n := len(m.prompts)
	m.inFlight++
	m.most = max(m.most, m.inFlight)
	m.mu.Unlock()
	text, err := m.answer(ctx, n, p)
	m.mu.Lock()
	m.inFlight--
	m.mu.Unlock()
	return memoryd.Completion{Text: text, Model: "test-model", Usage: memoryd.Usage{PromptTokens: 100, CompletionTokens: 10}}, err
}

func (m *scripted) asked() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.prompts)
}

// always answers every request with the same text or error.
func always(text string, err error) *scripted {
	return &scripted{answer: func(context.Context, int, memoryd.Prompt) (string, error) { return text, err }}
}

// reply is a well-formed answer for one call.
func reply(score float64) string {
	return fmt.Sprintf(`{"evaluation":"The model's reason.","failed_checks":[],"score":%v,"summary":"The model's summary."}`, score)
}

// shown is the data block of a prompt, read back.
type shown struct {
	Tool    string           `json:"tool"`
	Earlier []map[string]any `json:"earlier_verdicts"`
	Call    shownCall        `json:"call"`
}

type shownCall struct {
	Input   json.RawMessage `json:"input"`
	Output  json.RawMessage `json:"output"`
	Success bool            `json:"success"`
}

func (c shownCall) output(t *testing.T) string {
	t.Helper()
	var s string
	if err := json.Unmarshal(c.Output, &s); err != nil {
		t.Fatalf("output %s: %v", c.Output, err)
	}
	return s
}

// blockOf reads the data block back: everything between the first line of the
// user part and the line that closes it.
func blockOf(t *testing.T, p memoryd.Prompt) shown {
	t.Helper()
	lines := strings.Split(p.User, "\n")
	nonce, ok := strings.CutPrefix(lines[0], "<<<DATA ")
	if !ok || len(lines) < 3 || lines[2] != "<<<END "+nonce {
		t.Fatalf("no data block in %q", p.User)
	}
	var s shown
	if err := json.Unmarshal([]byte(lines[1]), &s); err != nil {
		t.Fatalf("data block %q: %v", lines[1], err)
	}
	return s
}

// ruleFunc is a Rules by function.
type ruleFunc func(c *memoryd.Call) (score float64, sure bool)

func (f ruleFunc) Version() string { return "rules-test" }

func (f ruleFunc) JudgeRead(c *memoryd.Call, _ *reading.Reading, _ *rules.Profile) rules.Result {
	score, sure := f(c)
	return rules.Result{Evaluation: memoryd.Evaluation{
		State: memoryd.Judged, Score: score, Summary: "The rules' summary.", Evaluation: "The rules' reason.",
		JudgedBy: memoryd.JudgedByRules, Rule: "test-rule", JudgeVersion: "rules-test",
	}, Sure: sure}
}

// unsure is a rules judge that finds nothing.
var unsure = ruleFunc(func(*memoryd.Call) (float64, bool) { return memoryd.ScoreSuccess, false })

// testEvaluator makes an evaluator with the default configuration as change leaves it. The
// caller starts it; it is stopped when the test ends.
func testEvaluator(t *testing.T, l Ledger, m memoryd.Model, r Rules, change func(*Config)) *Evaluator {
	t.Helper()
	cfg := configtest.Section[Config]("evaluate")
	cfg.KindSampling = 1 // most tests look at what becomes of each call
	if change != nil {
		change(&cfg)
	}
	d, err := NewEvaluator(cfg, r, m, l, slog.New(slog.DiscardHandler), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Stop)
	return d
}

// someCall is a call of the tool "search" with an own key.
func someCall(n int, output string) memoryd.Call {
	c := memoryd.Call{
		ToolRef: memoryd.ToolRef{Workspace: "w", Tool: "search"}, Input: json.RawMessage(fmt.Sprintf(`{"query":"q%d"}`, n)),
		Output: output, Success: true, TokenCost: -1, Evaluation: memoryd.PendingEvaluation(),
	}
	c.Key[0], c.Key[1] = byte(n>>8), byte(n)
	return c
}

// record does what the pipeline does: prejudge, store, await.
func record(ctx context.Context, d *Evaluator, s *fakeStore, calls ...memoryd.Call) []memoryd.Call {
	d.Prejudge(ctx, calls)
	s.put(calls...)
	d.Await(ctx, calls)
	return calls
}

func (s *fakeStore) Record(_ context.Context, key store.RecordKey) (store.Record, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r, ok := s.records[key]; ok && !s.down {
		return r, nil
	}
	return store.Record{}, memoryd.Errorf(memoryd.NotFound, "no such record")
}

func (s *fakeStore) PutRecord(_ context.Context, r store.Record) (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.down {
		return 0, errDown
	}
	if old := s.records[r.RecordKey]; old.Revision != r.Revision {
		return 0, memoryd.Errorf(memoryd.Conflict, "somebody else wrote it")
	}
	r.Revision++
	s.records[r.RecordKey] = r
	return r.Revision, nil
}

func (s *fakeStore) ListRecords(_ context.Context, from store.RecordKey, limit int) (list []store.Record, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.down {
		return nil, errDown
	}
	for key, r := range s.records {
		if key.ToolRef == from.ToolRef && key.Kind == from.Kind && key.ID > from.ID {
			list = append(list, r)
		}
	}
	slices.SortFunc(list, func(a, b store.Record) int { return cmp.Compare(a.ID, b.ID) })
	return list[:min(len(list), limit)], nil
}

func (s *fakeStore) DeleteRecord(_ context.Context, key store.RecordKey) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.records, key)
	return nil
}
