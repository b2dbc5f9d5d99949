// Package revisions keeps the guidelines of a store: it has them written when they
// are stale, keeps their versions with the evidence behind each, counts how the
// calls of agents that were shown a version came out, takes a version back that
// made things worse, and lets people pin one or go back to an earlier one.
//
// A version is a record of the tool (kind "guideline"), written right after the
// compare-and-set that made it the tool's guideline. If the process dies between
// the two, the version is missing in the list and everything else works.
package revisions

import (
	"context"
	"fmt"
	"time"

	"memoryd"
	"memoryd/guidelines"
	"memoryd/store"
)

// Composer writes guidelines.
type Composer interface {
	// Compose writes the guideline of a tool from its kept calls, oldest first;
	// the newest recent of them are the recent window. prev is the version before,
	// or nil.
	Compose(ctx context.Context, tool memoryd.Tool, calls []memoryd.Call, recent int, prev *guidelines.Document) (*guidelines.Document, error)
}

// Store is what a Manager needs of a store.Store.
type Store interface {
	store.Calls
	store.Tools
	store.Records
}

// Manager keeps guidelines. It is safe for concurrent use, also by several
// processes on one store.
type Manager struct {
	Store    Store
	Composer Composer
	// Recent is the size of the recent window.
	Recent int
	Config Config
	Now    func() time.Time
	// Index is told of guidelines and tools; nil: nobody is.
	Index Index
}

// Config is when guidelines are refreshed and how many versions are kept.
type Config struct {
	Staleness `yaml:",inline"`
	// Versions is how many versions of a tool's guideline are kept.
	Versions int `yaml:"versions"`
	// Interval is the time between two passes of the built-in refresh; 0 switches
	// it off. PerRound bounds the guidelines written in one.
	Interval time.Duration `yaml:"interval"`
	PerRound int           `yaml:"per_round"`
	// ABShare is the share of sessions that are shown the newest version while it
	// is being compared with the one before; 1 shows it to all.
	ABShare float64 `yaml:"ab_share"`
}

// Validate names the setting that is wrong.
func (c Config) Validate() error {
	switch {
	case c.Versions < 2:
		return fmt.Errorf("versions: must be at least 2, got %d", c.Versions)
	case c.Interval != 0 && c.Interval < time.Second:
		return fmt.Errorf("interval: must be 0 (off) or at least 1s, got %v", c.Interval)
	case c.PerRound < 1:
		return fmt.Errorf("per_round: must be at least 1, got %d", c.PerRound)
	case !(c.ABShare > 0 && c.ABShare <= 1):
		return fmt.Errorf("ab_share: must be above 0 and at most 1, got %v", c.ABShare)
	}
	return c.Staleness.Validate()
}

// Index finds tools by their guidelines. Its methods wait for no model, and what
// fails in them is its own affair.
type Index interface {
	// Wrote is told of each guideline after it was written.
	Wrote(ref memoryd.ToolRef)
	// Saw is told of all tools when the refresher look at them: those of a workspace
	// whose names come after a name, in byte order; last says that there are no more.
	Saw(ctx context.Context, workspace, after string, tools []memoryd.Tool, last bool)
}

func (m *Manager) wrote(ref memoryd.ToolRef) {
	if m.Index != nil {
		m.Index.Wrote(ref)
	}
}

func (m *Manager) saw(ctx context.Context, workspace, after string, tools []memoryd.Tool, last bool) {
	if m.Index != nil {
		m.Index.Saw(ctx, workspace, after, tools, last)
	}
}

// Show is the guideline that a session is shown: the newest, or, while that is
// being compared with the version before it, one of the two, always the same for
// the same session. With maxTokens above 0 it holds the most valuable statements
// that fit, else the whole text.
func (m *Manager) Show(ctx context.Context, tool memoryd.Tool, session string, maxTokens int) (memoryd.Guideline, error) {
	g := tool.Guideline
	if g.Revision == 0 || m.Config.ABShare >= 1 && maxTokens <= 0 {
		return g, nil
	}
	e, err := m.current(ctx, tool)
	if err != nil {
		return g, err
	}
	if m.Config.ABShare < 1 {
		if e, err = m.arm(ctx, tool, e, session); err != nil {
			return g, err
		}
	}
	shown := e.guideline()
	shown.Revision = e.Number
	if maxTokens > 0 && e.Document != nil {
		shown.Content = e.Document.Within(maxTokens)
	}
	return shown, nil
}

// arm gives the session's side of the comparison of e with the version before.
func (m *Manager) arm(ctx context.Context, tool memoryd.Tool, e Revision, session string) (Revision, error) {
	if e.Number < 2 || e.RolledBackTo > 0 {
		return e, nil
	}
	st, _, err := m.status(ctx, tool.ToolRef)
	if err != nil || st.Pinned > 0 || st.Proven == e.Number {
		return e, err
	}
	experiment := tool.MemoryID() + revisionKey(tool.ToolRef, e.Number).ID
	if Assign(experiment, session, m.Config.ABShare) == CurArm {
		return e, nil
	}
	prev, err := m.Revision(ctx, tool.ToolRef, e.Number-1)
	if memoryd.IsKind(err, memoryd.NotFound) {
		return e, nil
	}
	return prev, err
}
