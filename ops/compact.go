package ops

import (
	"context"
	"fmt"

	"memoryd/compact"
)

// Compaction is a request to make a conversation smaller, and its answer.
type Compaction struct {
	Request compact.Request
	Result  compact.Result
}

// CompactParams are the settings of CompactConversation.
type CompactParams struct {
	// CompactSleepInterval is the time in seconds between the starts of model
	// requests; 0 means no spacing.
	CompactSleepInterval float64 `yaml:"compact_sleep_interval"`
}

// Validate names the setting that is wrong.
func (p CompactParams) Validate() error {
	if !(p.CompactSleepInterval >= 0) {
		return fmt.Errorf("params.compact_sleep_interval: must be 0 or more")
	}
	return nil
}

// CompactConversation makes the conversation of a request smaller.
type CompactConversation struct {
	Compactor interface {
		Compact(ctx context.Context, r compact.Request) (compact.Result, error)
	}
}

// Name implements Op.
func (CompactConversation) Name() string { return "compact_conversation_op" }

// Run implements Op.
func (o CompactConversation) Run(ctx context.Context, st *State) (err error) {
	st.Compaction.Request.Workspace = st.Workspace
	st.Compaction.Result, err = o.Compactor.Compact(ctx, st.Compaction.Request)
	return err
}
