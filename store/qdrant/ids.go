package qdrant

import (
	"crypto/sha256"
	"encoding/binary"
	"strings"

	"memoryd"
	"memoryd/store"

	"github.com/google/uuid"
	qd "github.com/qdrant/go-client/qdrant"
)

// derive makes a UUID from what a point stands for: version 8 (RFC 9562, section
// 5.8) of SHA-256 over all parts, each with its length before it.
func derive(kind string, parts ...string) string {
	h := sha256.New()
	var n [8]byte
	for _, p := range append([]string{kind}, parts...) {
		binary.BigEndian.PutUint64(n[:], uint64(len(p)))
		h.Write(n[:])
		h.Write([]byte(p))
	}
	var id uuid.UUID
	copy(id[:], h.Sum(nil))
	id[6] = id[6]&0x0f | 0x80
	id[8] = id[8]&0x3f | 0x80
	return id.String()
}

func toolID(ref memoryd.ToolRef) string { return derive("tool", ref.Workspace, ref.Tool) }

func workspaceID(workspace string) string { return derive("workspace", workspace) }

func callID(workspace string, key memoryd.CallKey) string {
	return derive("call", workspace, string(key[:]))
}

// runID is what the calls of a run have in common.
func runID(workspace, run string) string { return derive("run", workspace, run) }

// contentID stands for an input and an output within one life of a tool.
func contentID(life, content string) string { return derive("content", life, content) }

// graveID stands for a life of a tool that was ended.
func graveID(life string) string { return derive("grave", life) }

// recordGroup is what ListRecords lists; recordID is one of it. The life is that
// of the record's tool, so that records leave with it.
func recordGroup(k store.RecordKey, life string) string {
	return derive("records", k.Workspace, k.Tool, k.Kind, life)
}

func recordID(group, id string) string { return derive("record", group, id) }

func verdictID(key [16]byte) string { return derive("verdict", string(key[:])) }

func pointIDs(ids []string) []*qd.PointId {
	out := make([]*qd.PointId, len(ids))
	for i, id := range ids {
		out[i] = qd.NewIDUUID(id)
	}
	return out
}

// newNonce marks a write, so that its writer can tell it from others' later.
func newNonce() string { return uuid.NewString() }

// newMark is a nonce among a few others: 48 random bits.
func newMark() string { return strings.ReplaceAll(newNonce()[:13], "-", "") }

// content is what two calls have in common that are repeats of each other.
func content(c *memoryd.Call) string {
	if c.Hash != "" {
		return c.Hash
	}
	return memoryd.HashOf(c.Input, c.Output)
}
