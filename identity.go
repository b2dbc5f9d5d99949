package memoryd

import (
	"crypto/md5" //nolint:gosec // call_hash is MD5 by the wire format; it guards nothing
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"strings"
	"sync"
)

// Identity decides whether two calls that were sent are the same call.
type Identity struct {
	ToolRef
	Input      json.RawMessage
	Output     string
	CreateTime string // as the caller sent it; "" if missing
	ToolCallID string // the result of ToolCallID
	// Source is the id of the API key that recorded the call; "" without one. It matters for a
	// call_ref only: another key that guesses a reference cannot turn a call into a duplicate.
	Source string
	// RequestKey and Index identify an item by the Idempotency-Key header of its request and its
	// index there. They count only for items without CreateTime and ToolCallID.
	RequestKey string
	Index      int
}

// refMark begins a ToolCallID that is a metadata.call_ref: it alone, in its
// workspace and of its source, is the identity of the call, so that accounts of one call that differ in
// the tool's name, the output or the time are known as one.
const refMark = "\x00ref:"

// RefID returns the ToolCallID of a call_ref.
func RefID(ref string) string { return refMark + ref }

// Key returns the first 16 bytes of the SHA-256 of all parts, each prefixed by its length. The
// input is canonicalised, so key order and white space do not matter.
func (id Identity) Key() CallKey {
	key, _ := id.KeyAndHash()
	return key
}

// KeyAndHash returns Key and HashOf, and parses the input only once.
func (id Identity) KeyAndHash() (key CallKey, hash string) {
	withHashedText(id.Input, id.Output, func(text []byte, n int) { key, hash = id.key(text[:n], text[n+1:]), hashOf(text) })
	return key, hash
}

func (id Identity) key(input, output []byte) CallKey {
	h := sha256.New()
	var n [8]byte
	part := func(b []byte) {
		binary.BigEndian.PutUint64(n[:], uint64(len(b)))
		h.Write(n[:])
		h.Write(b)
	}
	part([]byte(id.Workspace))
	if strings.HasPrefix(id.ToolCallID, refMark) {
		part([]byte(id.ToolCallID))
		if id.Source != "" {
			part([]byte(id.Source))
		}
		var k CallKey
		copy(k[:], h.Sum(nil))
		return k
	}
	part([]byte(id.Tool))
	part(input)
	part(output)
	part([]byte(id.CreateTime))
	part([]byte(id.ToolCallID))
	if id.CreateTime == "" && id.ToolCallID == "" {
		part([]byte(id.RequestKey))
		binary.BigEndian.PutUint64(n[:], uint64(id.Index))
		h.Write(n[:])
	}
	var k CallKey
	copy(k[:], h.Sum(nil))
	return k
}

// HashOf returns the call_hash of the wire format: the lower-case hexadecimal MD5 of the input
// text, a vertical bar and the output.
func HashOf(input json.RawMessage, output string) (hash string) {
	withHashedText(input, output, func(text []byte, _ int) { hash = hashOf(text) })
	return hash
}

// withHashedText calls use with the input text, a vertical bar and the output; n is
// the length of the first. The text is used again afterwards.
func withHashedText(input json.RawMessage, output string, use func(text []byte, n int)) {
	buffer := hashed.Get().(*[]byte) //nolint:forcetypeassert // the pool holds nothing else
	text := appendInputText((*buffer)[:0], input)
	n := len(text)
	text = append(append(text, '|'), output...)
	use(text, n)
	if cap(text) <= maxBuffer {
		*buffer = text
		hashed.Put(buffer)
	}
}

// hashed are buffers for texts that are hashed.
var hashed = sync.Pool{New: func() any { return new([]byte) }}

func hashOf(text []byte) string {
	sum := md5.Sum(text) //nolint:gosec // see above
	return hex.EncodeToString(sum[:])
}
