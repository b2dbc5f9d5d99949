package sqlite

import (
	"context"
	"database/sql/driver"
	"encoding/hex"
	"strings"

	"memoryd"
	"memoryd/store"
)

// putSearch makes SearchTools find the tool by its name and its guideline.
func (d *draft) putSearch(tool uint32, ref memoryd.ToolRef, guideline string) error {
	return d.c.exec(`INSERT OR REPLACE INTO search (rowid, space, words) VALUES (?,?,?)`,
		int64(tool), spaceWord(ref.Workspace), ref.Tool+"\n"+guideline)
}

// spaceWord is a workspace as one word of the index.
func spaceWord(workspace string) string { return "w" + hex.EncodeToString([]byte(workspace)) }

// SearchTools implements store.Tools, by FTS5 and its BM25.
func (s *backend) SearchTools(ctx context.Context, workspace, query string, limit int) ([]memoryd.Tool, error) {
	words := store.Words(query)
	if len(words) == 0 || limit == 0 || workspace == "" {
		return nil, nil
	}
	match := `space : "` + spaceWord(workspace) + `" AND words : ("` + strings.Join(words, `" OR "`) + `")`
	var ids []uint32
	err := s.read(ctx, func(c *conn) error {
		return c.query(ctx, `SELECT rowid FROM search WHERE search MATCH ? ORDER BY bm25(search, 0.0, 1.0), rowid LIMIT ?`,
			func(v []driver.Value) error {
				ids = append(ids, uint32(integer(v[0])))
				return nil
			}, match, int64(limit))
	})
	if err != nil {
		return nil, err
	}
	return s.cat.toolsByID(ids), nil
}

// toolsByID gives the tools that are still there.
func (c *catalog) toolsByID(ids []uint32) []memoryd.Tool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	var out []memoryd.Tool
	for _, id := range ids {
		if t := c.byID[id]; t != nil {
			out = append(out, t.info)
		}
	}
	return out
}
