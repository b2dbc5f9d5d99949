package ops

import (
	"encoding/json"

	"memoryd"

	lru "github.com/hashicorp/golang-lru/v2"
)

// maxToldRuns bounds the runs and tools of which Told remembers.
const maxToldRuns = 1 << 16

type toldOf struct{ workspace, session, tool string }

// Told remembers which runs asked about which tools, and marks their later calls: told says whether
// they got an answer, guideline_version which one.
type Told struct{ runs *lru.Cache[toldOf, told] }

type told struct {
	version int64 // 0: of a warning, or nothing
	untold  bool  // on purpose
}

// NewTold returns an empty Told.
func NewTold() *Told {
	runs, _ := lru.New[toldOf, told](maxToldRuns) // it fails for no size
	return &Told{runs}
}

// note takes that a run asked about a tool.
func (t *Told) note(ref memoryd.ToolRef, run string, version int64, untold bool) {
	if run != "" {
		of := toldOf{ref.Workspace, run, ref.Tool}
		before, _ := t.runs.Get(of)
		t.runs.Add(of, told{max(version, before.version), untold})
	}
}

// mark notes in the metadata of calls what their runs were told. What a caller says of it
// stays.
func (t *Told) mark(calls []memoryd.Call) {
	if t.runs.Len() == 0 {
		return
	}
	for i := range calls {
		c := &calls[i]
		known, asked := t.runs.Get(toldOf{c.Workspace, c.Run(), c.Tool})
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
