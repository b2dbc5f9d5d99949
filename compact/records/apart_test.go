package records_test

import (
	"fmt"
	"strings"
	"testing"

	"memoryd/compact/records"
)

// sharedStart is longer than what a line shows of one text.
var sharedStart = strings.Repeat("the beginning that both have in common ", 4)

// TestCallsThatAreEqualInShortHaveHeadsOfTheirOwn: an old line of a file does not stand
// under the head of the edit that came after it, also where an earlier summary has that head.
func TestCallsThatAreEqualInShortHaveHeadsOfTheirOwn(t *testing.T) {
	t.Parallel()
	edit := func(place int, old, replaced, out string) records.Text {
		return records.Text{From: records.Call, Place: place, Tool: "edit", Body: fmt.Sprintf(`{"path":"billing/limits.py","old":%q,"new":%q}`, sharedStart+old, sharedStart+replaced), Output: out}
	}
	first := edit(1, "LIMIT = 9", "LIMIT = 17", "RATE_ALPHA = 17\n"+strings.Repeat("alpha beta gamma delta\n", 12))
	second := edit(3, "rate = 40", "rate = 41", "RATE_BETA = 23; check(rate)\n"+strings.Repeat("(((x)))\n", 40))
	third := edit(5, "rate = 40", "rate = 52", "RATE_GAMMA = 31; print(rate, rate, rate)\n"+strings.Repeat("[x, x]\n", 40))
	nested := func(x records.Text) records.Text {
		x.Body = `{"edits":[` + x.Body + `]}`
		return x
	}
	for _, texts := range [][]records.Text{
		{first, second, third},
		{nested(first), nested(second), nested(third)},
		{{From: records.Earlier, Body: chosen([]records.Text{first}, 900)}, second, third},
	} {
		got := chosen(texts, 900)
		var heads []string
		for l := range strings.SplitSeq(got, "\n") {
			if strings.HasPrefix(l, "# edit") {
				heads = append(heads, l)
			}
		}
		for i, limit := range []string{"> RATE_ALPHA = 17", "> RATE_BETA = 23", "> RATE_GAMMA = 31"} {
			if len(heads) != 3 || !strings.Contains(got, heads[i]+"\n"+limit) {
				t.Fatalf("%q has no head of its own in\n%s", limit, got)
			}
		}
	}
}

// TestTheSameCallAgainSharesItsHead.
func TestTheSameCallAgainSharesItsHead(t *testing.T) {
	t.Parallel()
	search := records.Text{From: records.Call, Tool: "search", Body: fmt.Sprintf(`{"query":%q}`, sharedStart), Output: `[{"id":"T-1001","state":"open"},{"id":"T-1002","state":"open"}]`}
	again := search
	again.Place, again.Output = 2, "nothing else was found, because the index is being built anew\n"+strings.Repeat("step\n", 4)
	if got := chosen([]records.Text{search, again}, 900); strings.Count(got, "# search") != 1 {
		t.Errorf("%s", got)
	}
}

// TestTheLedgerKeepsDeedsApartThatAreEqualInShort: what one gave does not stand behind the other.
func TestTheLedgerKeepsDeedsApartThatAreEqualInShort(t *testing.T) {
	t.Parallel()
	book := func(place int, seat, out string) records.Text {
		return records.Text{From: records.Call, Place: place, Tool: "book", Body: fmt.Sprintf(`{"user":"ida_33","remark":%q,"reason":%q,"wish":%q,"seat":%q}`, sharedStart, sharedStart, sharedStart, seat), Output: out}
	}
	got := chosen([]records.Text{book(1, "12A", "done, K-1"), book(2, "14C", "done, K-2")}, 900)
	if !strings.Contains(got, `seat 12A) → "done, K-1"`) || !strings.Contains(got, `seat 14C) → "done, K-2"`) {
		t.Errorf("%s", got)
	}
}

// TestNotesWithLongTextsInOneFolderAreTwoDeeds, but a file that is written again is one.
func TestNotesWithLongTextsInOneFolderAreTwoDeeds(t *testing.T) {
	t.Parallel()
	save := func(place int, tool, where, end string) records.Text {
		return records.Text{From: records.Call, Place: place, Tool: tool, Body: fmt.Sprintf(`{"where":%q,"text":%q}`, where, sharedStart+end), Output: "saved"}
	}
	if got := chosen([]records.Text{save(1, "add_note", "recipes", "apples"), save(2, "add_note", "recipes", "pears")}, 900); !strings.Contains(got, `apples) → "saved"`) || !strings.Contains(got, `pears) → "saved"`) {
		t.Errorf("two notes:\n%s", got)
	}
	if got := chosen([]records.Text{save(1, "write_file", "src/limits.py", "apples"), save(2, "write_file", "src/limits.py", "pears")}, 900); strings.Count(got, `) → "saved"`) != 1 {
		t.Errorf("one file:\n%s", got)
	}
}
