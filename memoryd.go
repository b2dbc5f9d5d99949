// Package memoryd defines the types that every other package uses (tool calls, evaluations,
// tool memories, guidelines), the kinds of error that cross package borders, and the built-in
// configuration.
//
// It imports no other package of the project. README.md and api/openapi.json explain the
// types to users; docs/design.md explains how the packages fit together.
package memoryd

import (
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
)

// DefaultConfig is the documented configuration file with every setting at its default. A
// user's file needs only the settings that differ.
//
//go:embed default.yaml
var DefaultConfig []byte

//go:embed VERSION
var versionFile string

// Version returns the version of this release. The file VERSION holds it; the clients, the
// chart and the plugin copy it.
func Version() string { return strings.TrimSpace(versionFile) }

// DefaultWorkspace is the workspace of requests that name none.
const DefaultWorkspace = "default"

// MaxNameBytes limits the length of a workspace or tool name, in bytes of UTF-8.
const MaxNameBytes = 1024

// NameFault returns why a name is not allowed, or "" if it is. Line breaks and invisible characters
// are refused, because they could forge parts of an answer.
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

// Limits of a tool's name. Names appear inside our own text, so a name must not be a sentence.
const (
	MaxToolNameBytes = 256
	MaxToolNameWords = 5
)

// ToolNameFault returns why calls of a tool with that name are rejected, or "" if they are
// accepted.
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

// MaxCost limits the seconds and tokens of a call, so that sums stay finite.
const MaxCost = 1e9

// TimeLayout is the format of times without a time zone: the server's own, and those of callers who
// give no zone.
const TimeLayout = "2006-01-02 15:04:05"

// ParseTime parses a create_time. A text without a zone is in the given zone.
func ParseTime(text string, zone *time.Location) (time.Time, error) {
	for _, layout := range []string{TimeLayout, "2006-01-02T15:04:05", time.RFC3339, "2006-01-02 15:04:05Z07:00"} {
		if t, err := time.ParseInLocation(layout, text, zone); err == nil {
			return t, nil
		}
	}
	return time.Time{}, errors.New(`must be "YYYY-MM-DD HH:MM:SS" or RFC 3339`)
}

// TimeText formats a time of the server in its zone; "" for the zero time.
func TimeText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format(TimeLayout)
}
