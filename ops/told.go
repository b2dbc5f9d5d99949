package ops

import (
	"encoding/json"
	"sync"

	"memoryd"
)

// maxToldRuns bounds the runs and tools of which Told remembers.
const maxToldRuns = 1 << 16

type toldOf struct{ workspace, session, tool string }

// Told remembers which runs asked about which tools, and marks their later calls: told says whether
// they got an answer, guideline_version which one.
type Told struct {
	mu   sync.Mutex
	runs map[toldOf]told
}

type told struct {
	version int64 // 0: of a warning, or nothing
	untold  bool  // on purpose
}

// NewTold returns an empty Told.
func NewTold() *Told { return &Told{runs: map[toldOf]told{}} }

// note takes that a run asked about a tool.
func (t *Told) note(ref memoryd.ToolRef, run string, version int64, untold bool) {
	if run == "" {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.runs) >= maxToldRuns {
		clear(t.runs)
	}
	of := toldOf{ref.Workspace, run, ref.Tool}
	t.runs[of] = told{max(version, t.runs[of].version), untold}
}

// mark notes in the metadata of calls what their runs were told. What a caller says of it
// stays.
func (t *Told) mark(calls []memoryd.Call) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.runs) == 0 {
		return
	}
	for i := range calls {
		c := &calls[i]
		known, asked := t.runs[toldOf{c.Workspace, c.Run(), c.Tool}]
		if !asked {
			continue
		}
		members := map[string]json.RawMessage{}
		if json.Unmarshal(c.Metadata, &members) != nil || members["told"] != nil || members["guideline_version"] != nil {
			continue // there is a run, so that there are metadata
		}
		marks := map[string]any{"told": !known.untold}
		if known.version > 0 {
			marks["guideline_version"] = known.version
		}
		c.Metadata = memoryd.WithMembers(c.Metadata, marks)
	}
}
