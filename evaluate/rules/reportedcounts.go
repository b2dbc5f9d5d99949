package rules

import (
	"strconv"
	"strings"

	"memoryd/internal/phrases"
)

// goodCounts and badCounts are words for what a tool did to many things, and did not do.
var (
	goodCounts = phrases.Words(
		"succeeded", "successful", "successfully", "success", "successes", "ok", "sent", "created", "updated", "imported", "uploaded", "delivered", "inserted", "deleted", "completed",
		"passed", "written", "saved", "applied", "migrated", "copied", "indexed", "synced", "accepted", "published", "processed", "added", "done",
	)
	badCounts = phrases.Words("failed", "failures", "failure", "errors", "error", "rejected", "invalid", "bounced", "denied", "undelivered", "unreachable", "unsuccessful")
)

// tallied: a tool that acts on many things counts in its first or last line those with
// which it failed: all of them, or some.
func tallied(v *view, t *text) (finding, bool) {
	if v.ask.reads || v.ask.command != "" || !t.short(12, 1500) || !strings.ContainsAny(t.full, "0123456789") || phrases.HasAny(v.ask.names, inspectors) || phrases.HasAny(v.ask.names, tellers) {
		return finding{}, false
	}
	if good, bad := countedLines(t); bad > 0 && good > 0 {
		return half("tallied", t.last().s, "it counts failures beside successes"), true
	}
	for _, l := range [...]*line{t.first(), t.last()} {
		if len(l.s) > 200 || !l.has(hasComplaintWord) && !strings.Contains(l.s, " of ") {
			continue
		}
		good, bad := doneAndFailed(l.low())
		switch {
		case bad > 0 && good == 0 && !phrases.HasAny(v.ask.names, testers):
			return fails("tallied", l.s, "it counts failures only").unsure(), true
		case bad > 0 && good >= 0:
			return half("tallied", l.s, "it counts failures beside successes"), true
		}
	}
	return finding{}, false
}

// countedLines adds up lines such as "Successfully deleted: 2 messages" and "Failed to delete: 1".
func countedLines(t *text) (good, bad int) {
	if t.total < 2 {
		return 0, 0
	}
	for i := range t.lines {
		label, value, ok := strings.Cut(t.lines[i].low(), ": ")
		digits := value[:len(value)-len(strings.TrimLeft(value, "0123456789"))]
		n, err := strconv.Atoi(digits)
		if !ok || err != nil || len(label) > 40 {
			continue
		}
		switch word := label[:phrases.NameLen(label)]; {
		case badCounts[word]:
			bad += n
		case goodCounts[word]:
			good += n
		}
	}
	return good, bad
}

var testers = phrases.Words("test", "tests", "tester", "spec", "jest", "pytest")

// doneAndFailed reads "3 of 5 rows imported", "sent: 0, failed: 4": how many were done, -1 where
// the line does not say, and how many were not.
func doneAndFailed(low string) (good, bad int) {
	good = -1
	words := strings.FieldsFunc(low, func(r rune) bool {
		return r == ' ' || r == ',' || r == ';' || r == '(' || r == ')' || r == '.' || r == '/'
	})
	for i, w := range words {
		n, err := strconv.Atoi(strings.TrimSuffix(w, ":"))
		if err != nil || n < 0 {
			continue
		}
		if i > 0 { // failed: 3
			if label, ok := strings.CutSuffix(words[i-1], ":"); ok && (goodCounts[label] || badCounts[label]) {
				good, bad = count(label, n, good, bad)
				continue
			}
		}
		if i > 0 && words[i-1] == "of" || i > 1 && words[i-2] == "of" && words[i-1] == "the" {
			continue // how many there were
		}
		of := -1
		after := words[i+1:]
		if len(after) > 1 && (after[0] == "of" || after[0] == "out" && after[1] == "of") {
			rest := after[1:]
			if after[0] == "out" {
				rest = after[2:]
			}
			if len(rest) > 0 {
				if of, err = strconv.Atoi(rest[0]); err == nil {
					after = rest[1:]
				}
			}
		}
		classed := false
		for k, next := range after[:min(len(after), 4)] {
			if k > 0 && phrases.IsDigit(next[0]) {
				break
			}
			if !goodCounts[next] && !badCounts[next] {
				continue
			}
			good, bad = count(next, n, good, bad)
			classed = true
			if of > n {
				if goodCounts[next] {
					bad = max(bad, of-n)
				} else {
					good = max(good, of-n)
				}
			}
			break
		}
		if !classed && i > 0 && goodCounts[words[i-1]] { // imported 98 rows
			good, bad = count(words[i-1], n, good, bad)
			bad = max(bad, of-n)
		}
	}
	return good, bad
}

func count(word string, n, good, bad int) (int, int) {
	if badCounts[word] {
		return good, bad + n
	}
	return max(good, 0) + n, bad
}
