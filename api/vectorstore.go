package api

import (
	"fmt"

	"memoryd/api/wire"
	"memoryd/ops"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/labstack/echo/v4"
)

// storeRequest is the body of vector_store.
type storeRequest struct {
	workspace string
	maxItems  int
	ops.StoreAction
}

var storeFields = []field[storeRequest]{
	{name: "workspace_id", kind: text, set: func(r *storeRequest, v jsontext.Value) *invalidRequest {
		return setName(&r.workspace, v)
	}},
	{name: "action", required: true, kind: text, set: func(r *storeRequest, v jsontext.Value) *invalidRequest {
		return setName(&r.Action, v)
	}},
	{name: "src_workspace_id", kind: text, set: func(r *storeRequest, v jsontext.Value) *invalidRequest {
		return setName(&r.Source, v)
	}},
	{name: "path", kind: text, set: func(r *storeRequest, v jsontext.Value) *invalidRequest {
		return setName(&r.Path, v)
	}},
	{name: "memory_ids", kind: array, set: func(r *storeRequest, v jsontext.Value) *invalidRequest {
		values, fault := elements(v, r.maxItems)
		if fault != nil {
			return fault
		}
		for i, id := range values {
			if id.Kind() != '"' {
				return invalid(text.code, text.msg, id, "memory_ids", i)
			}
			r.MemoryIDs = append(r.MemoryIDs, unquote(id))
		}
		return nil
	}},
}

func (s *server) vectorStore(c echo.Context, body []byte) (any, error) {
	req := storeRequest{maxItems: s.cfg.MaxItems}
	if fault := decodeBody(body, storeFields, &req); fault != nil {
		return nil, fault
	}
	st := &ops.State{Workspace: workspaceOr(req.workspace), StoreAction: req.StoreAction}
	if err := s.Flows[FlowVectorStore].Run(c.Request().Context(), st); err != nil {
		return nil, err
	}
	return wire.Response{
		Answer: st.Result.Answer, Success: true, Metadata: wire.StoreMetadata{ActionResult: actionResult(&st.StoreAction)},
	}, nil
}

// actionResult is what the clients of the endpoint expect of each action.
func actionResult(a *ops.StoreAction) any {
	switch a.Action {
	case "list":
		return memoriesOf(a.Memories)
	case "copy", "dump", "load":
		return wire.Size{Size: a.Size}
	}
	return fmt.Sprintf("%d tool memory(ies) deleted", a.Size)
}
