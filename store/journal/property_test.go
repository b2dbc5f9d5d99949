package journal_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"memoryd"
	"memoryd/store"
	"memoryd/store/journal"
	"memoryd/store/mem"
	"memoryd/store/storetest"

	"pgregory.net/rapid"
)

// Random operations, while the remote store goes away, loses acknowledgements and
// comes back, and the process dies: answers are the model's all along, and in the
// end the remote store is equal to it.
func TestTheRemoteStoreCatchesUp(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := &process{local: lasting{mem.New()}, inner: lasting{mem.New()}, model: mem.New()}
		p.start(rt)
		defer func() {
			if err := p.s.Close(); err != nil {
				rt.Error(err)
			}
		}()
		rt.Repeat(map[string]func(*rapid.T){
			"append": p.append, "settle": p.settle, "delete tool": p.deleteTool, "delete workspace": p.deleteWorkspace,
			"guideline": p.guideline, "override": p.override, "cut": p.setLine, "restart": p.restart, "": p.compareLocally,
		})
		p.line.Store(whole)
		p.catchUp(rt)
		p.compare(rt, p.inner)
	})
}

// States of the line to the remote store.
const (
	whole = iota
	cut
	lossy // each second acknowledgement of what is forwarded is lost
	lines
)

// process is a journal beside the model of what it should hold.
type process struct {
	local, inner, model store.Store
	s                   *journal.Store
	line                atomic.Int64
	requests            atomic.Int64
	estimates           bool // what waits since before a restart is estimated
}

func (p *process) start(t *rapid.T) {
	remote := storetest.NewFaults(p.inner, func(method string, stage storetest.Stage) error {
		broken := p.line.Load() == cut && method != "Close"
		forwards := journaled[method] || method == "DeleteWorkspace"
		if p.line.Load() == lossy && forwards && stage == storetest.After {
			broken = p.requests.Add(1)%2 == 0
		}
		if broken {
			return memoryd.Errorf(memoryd.Unavailable, "injected")
		}
		return nil
	})
	cfg := brief()
	cfg.RemoteWait = time.Millisecond
	var err error
	if p.s, err = journal.New(p.local, remote, cfg, slog.New(slog.DiscardHandler), time.Now); err != nil {
		t.Fatal(err)
	}
	p.s.Start(context.Background())
}

func (p *process) restart(t *rapid.T) {
	if err := p.s.Close(); err != nil {
		t.Fatal(err)
	}
	p.start(t)
	p.estimates = true
}

func (p *process) setLine(t *rapid.T) { p.line.Store(rapid.Int64Range(0, lines-1).Draw(t, "line")) }

func (p *process) catchUp(t *rapid.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if err := p.s.Drain(ctx); err != nil {
		t.Fatalf("drain: %v, %+v", err, p.s.Status())
	}
}

func drawCall(t *rapid.T) memoryd.Call {
	return pending(rapid.SampledFrom([]string{"t", "u"}).Draw(t, "tool"), rapid.IntRange(0, 9).Draw(t, "call"))
}

func (p *process) append(t *rapid.T) {
	b := store.Batch{Workspace: "w", Keep: rapid.SampledFrom([]int{2, 4, 4, 4}).Draw(t, "keep")}
	for range rapid.IntRange(1, 4).Draw(t, "calls") {
		b.Calls = append(b.Calls, drawCall(t))
	}
	got, err := p.s.Append(t.Context(), b)
	want, wantErr := p.model.Append(t.Context(), b)
	equal(t, "append", got, want, err, wantErr)
}

func (p *process) settle(t *rapid.T) {
	vs := []store.Verdict{verdict(drawCall(t), 1), verdict(drawCall(t), 0)}
	got, err := p.s.Settle(t.Context(), vs)
	want, wantErr := p.model.Settle(t.Context(), vs)
	equal(t, "settle", got, want, err, wantErr)
}

func (p *process) deleteTool(t *rapid.T) {
	r := drawCall(t).ToolRef
	equal(t, "delete", 0, 0, p.s.DeleteTool(t.Context(), r), p.model.DeleteTool(t.Context(), r))
}

func (p *process) deleteWorkspace(t *rapid.T) {
	got, err := p.s.DeleteWorkspace(t.Context(), "w")
	want, wantErr := p.model.DeleteWorkspace(t.Context(), "w")
	equal(t, "delete workspace", got, want, err, wantErr)
}

// guideline and override need the remote store; without it they change nothing.
func (p *process) guideline(t *rapid.T) {
	r, expect := drawCall(t).ToolRef, rapid.Int64Range(0, 2).Draw(t, "expect")
	g := memoryd.Guideline{Content: fmt.Sprint("text ", expect), Written: epoch}
	err := p.s.PutGuideline(t.Context(), r, g, expect)
	if !memoryd.IsKind(err, memoryd.Unavailable) {
		equal(t, "guideline", 0, 0, err, p.model.PutGuideline(t.Context(), r, g, expect))
	}
}

func (p *process) override(t *rapid.T) {
	v := verdict(drawCall(t), 0.5)
	got, err := p.s.Override(t.Context(), v)
	if !memoryd.IsKind(err, memoryd.Unavailable) {
		want, wantErr := p.model.Override(t.Context(), v)
		equal(t, "override", got, want, err, wantErr)
	}
}

// compareLocally reads through the journal: what one process recorded can always be
// read.
func (p *process) compareLocally(t *rapid.T) {
	if p.estimates = p.estimates && p.s.Status().Operations > 0; !p.estimates {
		p.compare(t, p.s)
	}
}

func (p *process) compare(t *rapid.T, s store.Store) {
	got, err := s.ListTools(t.Context(), "w", "", 9)
	want, wantErr := p.model.ListTools(t.Context(), "w", "", 9)
	for _, list := range [][]memoryd.Tool{got, want} {
		for i := range list {
			list[i].Created, list[i].Modified = time.Time{}, time.Time{}
			list[i].Revision = 0 // counted anew while something waits
		}
	}
	equal(t, "tools", got, want, err, wantErr)
	for _, tool := range want {
		got, err := s.History(t.Context(), tool.ToolRef, 0)
		want, wantErr := p.model.History(t.Context(), tool.ToolRef, 0)
		equal(t, "history", got, want, err, wantErr)
	}
}

func equal[V any](t *rapid.T, what string, got, want V, err, wantErr error) {
	t.Helper()
	kind, _ := memoryd.KindOf(err)
	wantKind, _ := memoryd.KindOf(wantErr)
	if (err == nil) != (wantErr == nil) || kind != wantKind {
		t.Fatalf("%s: got error %v, want %v", what, err, wantErr)
	}
	if g, w := fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", want); g != w {
		t.Fatalf("%s:\ngot  %s\nwant %s", what, g, w)
	}
}
