// Package revisions manages the guidelines of a store. It updates stale guidelines, and keeps
// their versions with the evidence for each. It counts the outcomes of calls whose agents saw
// a version, rolls back versions that made things worse, and lets people pin a version or
// return to an earlier one.
//
// A version is a record of the tool (kind "guideline"), written right after the
// compare-and-set that made it the tool's guideline. If the process dies between the two
// writes, the version is missing in the list, and everything else works.
package revisions

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"time"

	"memoryd"
	"memoryd/guidelines"
	"memoryd/store"
)

// Composer writes guidelines.
type Composer interface {
	// Compose writes the guideline of a tool from its stored calls, oldest first. The newest
	// recent of them are the recent window. prev is the previous version, or nil.
	Compose(ctx context.Context, tool memoryd.Tool, calls []memoryd.Call, recent int, prev *guidelines.Document) (*guidelines.Document, error)
}

// Store is the part of a store.Store that a Manager uses.
type Store interface {
	store.Calls
	store.Tools
	store.Records
}

// Manager manages guidelines. It is safe for concurrent use, also by several processes on one
// store.
type Manager struct {
	Store    Store
	Composer Composer
	// Recent is the size of the recent window.
	Recent int
	Config Config
	Now    func() time.Time
	// Sourced lists what was observed of a tool's calls, beyond its history: their keys, verdicts and
	// sources. also are ids of sources to know beside those of the workspace. nil means there are none.
	Sourced func(ctx context.Context, ref memoryd.ToolRef, also ...string) ([]memoryd.Call, error)
}

// Config is when guidelines are updated and how many versions are kept.
type Config struct {
	Staleness `yaml:",inline"`
	// Versions is the number of versions kept per tool.
	Versions int `yaml:"versions" must:"at least 2"`
	// Interval is the time between two passes of the background refresh; 0 turns it off.
	Interval time.Duration `yaml:"interval"`
	// UntoldShare is the share of runs that get no advice, for comparison; 0 gives advice to
	// all.
	UntoldShare float64 `yaml:"untold_share" must:"0 or more and below 1"`
}

// Validate returns the first invalid setting.
func (c Config) Validate() error {
	if c.Interval != 0 && c.Interval < time.Second {
		return fmt.Errorf("interval: must be 0 (off) or at least 1s, got %v", c.Interval)
	}
	return c.Staleness.Validate()
}

// Show returns the guideline to show. With maxTokens above 0, it has the most valuable
// statements that fit; otherwise the whole text.
func (m *Manager) Show(ctx context.Context, tool memoryd.Tool, maxTokens int) (memoryd.Guideline, error) {
	g := tool.Guideline
	if g.Revision == 0 || maxTokens <= 0 {
		return g, nil
	}
	e, err := m.current(ctx, tool)
	if err == nil && e.Document != nil {
		g.Content = e.Document.Within(maxTokens)
	}
	return g, err
}

// Untold reports whether a run gets no advice, for comparison. The answer is always the same
// for a run, and false for agents that name no run.
func (m *Manager) Untold(workspace, run string) bool {
	if run == "" || m.Config.UntoldShare <= 0 {
		return false
	}
	sum := sha256.Sum256([]byte("untold\x00" + workspace + "\x00" + run))
	return float64(binary.BigEndian.Uint64(sum[:8])>>11)/(1<<53) < m.Config.UntoldShare
}
