package backup_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"memoryd"
	"memoryd/store/backup"
	"memoryd/store/mem"
)

var hashText = regexp.MustCompile(`"sha256":"[0-9a-f]*"`)

// signed gives a changed file the hash that fits.
func signed(lines []string) []byte {
	last := len(lines) - 1
	body := strings.Join(lines[:last], "\n") + "\n"
	sum := sha256.Sum256([]byte(body))
	return []byte(body + hashText.ReplaceAllString(lines[last], `"sha256":"`+hex.EncodeToString(sum[:])+`"`) + "\n")
}

func linesOf(file []byte) []string {
	return strings.Split(strings.TrimSuffix(string(file), "\n"), "\n")
}

func TestADamagedFileIsRefusedByItsLine(t *testing.T) {
	whole := linesOf(export(t, makeStore(t), "a"))
	// 1 manifest, 2 record of the workspace, 3 tool, 4-6 calls, 7-8 records, 9 tool, 10-12 calls, 13-14 records, 15 trailer
	edit := func(n int, old, now string) func([]string) []string {
		return func(l []string) []string {
			if !strings.Contains(l[n-1], old) {
				t.Fatalf("line %d has no %q", n, old)
			}
			l[n-1] = strings.Replace(l[n-1], old, now, 1)
			return l
		}
	}
	drop := func(n int) func([]string) []string {
		return func(l []string) []string { return append(l[:n-1], l[n:]...) }
	}
	for name, tc := range map[string]struct {
		change func([]string) []string
		at     int // the line that the error names
		says   string
	}{
		"newer version":      {edit(1, `"version":1`, `"version":2,"new":true`), 1, "use a newer memoryd"},
		"no version":         {edit(1, `"version":1`, `"version":0`), 1, "manifest is not valid"},
		"another format":     {edit(1, `"memoryd"`, `"other"`), 1, "not an export"},
		"unknown scope":      {edit(1, `"scope":"workspace"`, `"scope":"all"`), 1, "manifest is not valid"},
		"no manifest":        {drop(1), 1, "not an export"},
		"unknown field":      {edit(4, `"seq"`, `"odd":1,"seq"`), 4, "odd"},
		"field twice":        {edit(4, `"seq":38`, `"seq":38,"seq":38`), 4, "seq"},
		"case of a field":    {edit(4, `"seq"`, `"Seq"`), 4, "Seq"},
		"unknown line":       {edit(3, `{"tool"`, `{"tools"`), 3, "tools"},
		"two in a line":      {edit(15, `}}`, `},"manifest":{"format":"memoryd","version":1,"scope":"store"}}`), 15, "one tool, call or record"},
		"empty line":         {edit(3, whole[2], ``), 3, "not a line"},
		"null":               {edit(3, whole[2], `null`), 3, "one tool, call or record"},
		"not JSON":           {edit(4, `{`, `<`), 4, "not a line"},
		"invalid UTF-8":      {edit(3, `"fetch"`, "\"\xff\""), 3, ""},
		"wrong type":         {edit(4, `"seq":38`, `"seq":"38"`), 4, "seq"},
		"bad key":            {edit(4, `"key":"`, `"key":"0`), 4, "key"},
		"bad time":           {edit(4, `"time":"2026`, `"time":"x`), 4, "time"},
		"bad base64":         {edit(2, `"d3M="`, `"?"`), 2, "data"},
		"call without head":  {drop(3), 3, "belongs to no tool"},
		"too few calls":      {drop(5), 6, "instead of"},
		"too many calls":     {edit(3, `"calls":3`, `"calls":2`), 6, "belongs to no tool"},
		"no calls":           {edit(3, `"calls":3`, `"calls":0`), 3, "has no calls"},
		"call twice":         {func(l []string) []string { l[4] = l[3]; return l }, 5, "occurs twice"},
		"seq out of order":   {edit(5, `"seq":39`, `"seq":37`), 6, "out of order"},
		"state":              {edit(6, `"pending"`, `"odd"`), 6, "odd"},
		"counters":           {edit(3, `"lifetime":40`, `"lifetime":2`), 6, "counters"},
		"huge counter":       {edit(3, `"lifetime":40`, `"lifetime":9223372036854775807`), 6, "too high"},
		"huge number":        {edit(6, `"seq":40`, `"seq":41`), 6, "too high"},
		"tool twice":         {edit(9, `"sh,ell "`, `"fetch"`), 9, "occurs twice"},
		"tools out of order": {edit(9, `"sh,ell "`, `"a"`), 9, "out of order"},
		"empty name":         {edit(3, `"tool":"fetch"`, `"tool":""`), 3, "out of order"},
		"long name":          {edit(9, `"sh,ell "`, `"`+strings.Repeat("x", 1025)+`"`), 12, "name"},
		"another workspace":  {edit(9, `"workspace":"a"`, `"workspace":"b"`), 9, "file of workspace"},
		"foreign record":     {edit(7, `"tool":"fetch"`, `"tool":"nope"`), 7, "does not stand before it"},
		"record twice":       {func(l []string) []string { l[7] = l[6]; return l }, 8, "occurs twice"},
		"record too early":   {func(l []string) []string { l[2], l[6] = l[6], l[2]; return l }, 3, "does not stand before it"},
		"late workspace":     {func(l []string) []string { l[7] = l[1]; return l }, 8, "out of order"},
		"kind of record":     {edit(7, `"kind":"note"`, `"kind":"No Te"`), 7, "kind"},
		"no trailer":         {drop(15), 14, "incomplete"},
		"only a manifest":    {func(l []string) []string { return l[:1] }, 1, "incomplete"},
		"wrong counts":       {edit(15, `"tools":2`, `"tools":3`), 15, "counts other"},
		"line after trailer": {func(l []string) []string { return append(l, l[1]) }, 16, "after the trailer"},
	} {
		t.Run(name, func(t *testing.T) {
			lines := tc.change(append([]string(nil), whole...))
			file := []byte(strings.Join(lines, "\n") + "\n")
			if strings.Contains(lines[len(lines)-1], "sha256") {
				file = signed(lines)
			}
			s := mem.New()
			_, err := backup.Restore(t.Context(), s, bytes.NewReader(file), backup.RestoreOptions{})
			refused(t, err, tc.at, tc.says)
			if names, _ := s.ListWorkspaces(t.Context(), "", 9); len(names) > 0 {
				t.Errorf("something was written: %q", names)
			}
			n, err := backup.Restore(t.Context(), mem.New(), bytes.NewBuffer(file), backup.RestoreOptions{})
			refused(t, err, tc.at, tc.says)
			if !strings.Contains(err.Error(), n.String()+" were restored") {
				t.Errorf("does not say what was restored: %v", err)
			}
		})
	}
}

func refused(t *testing.T, err error, at int, says string) {
	t.Helper()
	if kind, msg := memoryd.KindOf(err); kind != memoryd.Invalid || !strings.Contains(msg, fmt.Sprintf("line %d: ", at)) || !strings.Contains(msg, says) {
		t.Errorf("got %v (%s), want line %d and %q", err, kind, at, says)
	}
}

func TestEveryFlippedOrMissingByteIsNoticed(t *testing.T) {
	if testing.Short() {
		t.Skip("one caller: the race detector has nothing to see")
	}
	file := export(t, makeStore(t), "β/..")
	for i := range file {
		spoilt := bytes.Clone(file)
		spoilt[i] ^= 1
		if _, err := backup.Restore(t.Context(), mem.New(), bytes.NewReader(spoilt), backup.RestoreOptions{}); err == nil {
			t.Fatalf("byte %d of %d changed unseen", i, len(file))
		}
		if i == len(file)-1 { // only the end of the last line is missing: nothing is lost
			break
		}
		if _, err := backup.Restore(t.Context(), mem.New(), bytes.NewReader(file[:i]), backup.RestoreOptions{}); err == nil {
			t.Fatalf("cut at byte %d of %d unseen", i, len(file))
		}
	}
}
