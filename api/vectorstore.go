package api

import (
	"cmp"
	"fmt"

	"memoryd/api/wire"
	"memoryd/ops"

	"github.com/labstack/echo/v4"
)

func (s *server) vectorStore(c echo.Context, body []byte) (any, error) {
	var req wire.StoreRequest
	err := s.decode(body, &req)
	if err == nil {
		err = cmp.Or(checkName(req.Workspace, "workspace_id"), checkName(req.Action, "action"),
			checkName(req.Source, "src_workspace_id"), checkName(req.Path, "path"))
	}
	if err == nil && req.Action == nil {
		err = missing("action")
	}
	if err != nil {
		return nil, err
	}
	st := &ops.State{Workspace: workspaceOf(req.Workspace), StoreAction: ops.StoreAction{
		Action: *req.Action, Source: or(req.Source, ""), Path: or(req.Path, ""), MemoryIDs: req.MemoryIDs,
	}}
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
