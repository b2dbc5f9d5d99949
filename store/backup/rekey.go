package backup

import (
	"encoding/json"

	"memoryd"
)

// move puts calls into another workspace. A key that follows from the call and
// its old workspace is made anew, so that the same call sent to the new workspace
// is known there; one that does not (the call had neither a time nor an id of its
// own, or was cut) stays.
func move(calls []memoryd.Call, workspace string) {
	for i := range calls {
		c := &calls[i]
		if c.Workspace == workspace {
			continue
		}
		id := memoryd.Identity{
			ToolRef: c.ToolRef, Input: c.Input, Output: c.Output, CreateTime: c.CreateTime, ToolCallID: toolCallID(c.Metadata),
		}
		timeless := id
		timeless.CreateTime = ""
		c.Workspace = workspace
		for _, id := range []memoryd.Identity{id, timeless} {
			if (id.CreateTime != "" || id.ToolCallID != "") && id.Key() == c.Key {
				id.Workspace = workspace
				c.Key = id.Key()
				break
			}
		}
	}
}

// toolCallID is metadata.tool_call_id, "" when there is none.
func toolCallID(metadata []byte) string {
	var known struct {
		ToolCallID any `json:"tool_call_id"`
	}
	if len(metadata) == 0 || json.Unmarshal(metadata, &known) != nil {
		return ""
	}
	id, _ := known.ToolCallID.(string)
	return id
}
