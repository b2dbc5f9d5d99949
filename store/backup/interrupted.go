package backup

import (
	"context"
	"encoding/json"
	"fmt"

	"memoryd"
	"memoryd/store"
)

// interrupted is the mark of a restore that is under way or was interrupted.
type interrupted struct {
	Name      string `json:"name"`
	Workspace string `json:"workspace,omitempty"`
}

func markKey() store.RecordKey { return store.RecordKey{Kind: "restore", ID: "interrupted"} }

// CheckWhole refuses a store that holds a part of a restore: what is missing in it was
// not lost, it was never brought. The error is a Conflict and names the command that
// goes on. A store whose records cannot be read says so when it is asked for them.
func CheckWhole(ctx context.Context, s store.Records) error {
	if m, err := markOf(ctx, s); err == nil && m != nil {
		return m.fault()
	}
	return nil
}

// markOf is the mark in a store; nil where there is none.
func markOf(ctx context.Context, s store.Records) (*interrupted, error) {
	r, err := s.Record(ctx, markKey())
	if memoryd.IsKind(err, memoryd.NotFound) {
		return nil, nil
	}
	m := new(interrupted)
	if err == nil {
		err = json.Unmarshal(r.Data, m)
	}
	return m, err
}

func (m interrupted) set(ctx context.Context, s store.Records) error {
	data, err := json.Marshal(m)
	if err != nil {
		return err
	}
	_, err = s.PutRecord(ctx, store.Record{RecordKey: markKey(), Revision: store.AnyRevision, Data: data})
	return err
}

func (m interrupted) fault() error {
	into := ""
	if m.Workspace != "" {
		into = fmt.Sprintf(" --workspace %q", m.Workspace)
	}
	return memoryd.Errorf(memoryd.Conflict, "the store holds a part of a restore that was interrupted: run memoryd restore %q%s again, which completes it", m.Name, into)
}
