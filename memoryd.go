// Package memoryd holds the nouns that every other package of the project
// speaks of (tool calls, evaluations, tool memories, guidelines), the kinds of
// error that cross package borders, and the built-in configuration.
//
// It imports nothing of the project. What the nouns mean to a user is written
// in README.md and api/openapi.yaml; how the packages fit together is written
// in docs/design.md.
package memoryd

import (
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
)

// DefaultConfig is the documented configuration file with every setting at its
// default. A user's file need only hold what differs.
//
//go:embed default.yaml
var DefaultConfig []byte

//go:embed VERSION
var versionFile string

// Version is the release that this source makes. The file VERSION holds it; the
// clients, the chart and the plugin repeat it.
func Version() string { return strings.TrimSpace(versionFile) }

// DefaultWorkspace is the workspace of a request that names none.
const DefaultWorkspace = "default"

// MaxNameBytes bounds the name of a workspace or of a tool, in bytes of UTF-8.
const MaxNameBytes = 1024

// NameFault says why nothing new can have a name, "" if it can. What
// breaks a line or hides would let a name forge the answers that show it.
func NameFault(name string) string {
	if len(name) > MaxNameBytes {
		return fmt.Sprintf("is longer than %d bytes", MaxNameBytes)
	}
	if strings.ContainsFunc(name, func(r rune) bool {
		return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || unicode.Is(unicode.Bidi_Control, r)
	}) {
		return "holds a line break or another control character"
	}
	return ""
}

// What the name of a tool may be at most. Names are shown where text of ours stands, so
// one may not be a sentence.
const (
	MaxToolNameBytes = 256
	MaxToolNameWords = 5
)

// ToolNameFault says why calls of a tool with that name are not recorded, "" if they are.
func ToolNameFault(name string) string {
	fault := NameFault(name)
	switch {
	case fault != "":
	case len(name) > MaxToolNameBytes:
		fault = fmt.Sprintf("is longer than %d bytes", MaxToolNameBytes)
	case len(strings.Fields(name)) > MaxToolNameWords:
		fault = fmt.Sprintf("has more than %d words", MaxToolNameWords)
	}
	return fault
}

// MaxCost bounds the time (seconds) and the tokens of a call: nobody waits for 31
// years, and sums of such numbers stay numbers.
const MaxCost = 1e9

// TimeLayout is how times are written that name no zone: the server's own, and
// those of callers who give none.
const TimeLayout = "2006-01-02 15:04:05"

// ParseTime reads a call's create_time. A text that names no zone is in the given
// one.
func ParseTime(text string, zone *time.Location) (time.Time, error) {
	for _, layout := range []string{TimeLayout, "2006-01-02T15:04:05", time.RFC3339, "2006-01-02 15:04:05Z07:00"} {
		if t, err := time.ParseInLocation(layout, text, zone); err == nil {
			return t, nil
		}
	}
	return time.Time{}, errors.New(`must be "YYYY-MM-DD HH:MM:SS" or RFC 3339`)
}

// TimeText writes an instant of the server's own, in its zone; "" for none.
func TimeText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format(TimeLayout)
}
