package records_test

import (
	"fmt"
	"strings"
	"testing"

	"memoryd/compact/records"
)

// TestCallsThatBeginAlikeAreOneLine: of each further call it tells what differs.
func TestCallsThatBeginAlikeAreOneLine(t *testing.T) {
	t.Parallel()
	var texts []records.Text
	for i, row := range []string{"apples", "pears", "plums"} {
		texts = append(texts, records.Text{
			From: records.Call, Place: i, Tool: "run", Output: fmt.Sprintf("Successfully appended to /srv/reports/harvest.csv (%d lines)", i+1),
			Body: fmt.Sprintf(`{"server":"files-and-folders","tool":"append","path":"/srv/reports/harvest.csv","row":%q}`, row),
		})
	}
	want := `- run(server files-and-folders, tool append, path /srv/reports/harvest.csv, row apples) → "Successfully appended to /srv/reports/harvest.csv (1 lines)"; … row pears) → …(2 lines)"; … row plums) → …(3 lines)"`
	if got := chosen(texts, 400); !strings.Contains(got, want) {
		t.Errorf("no %q in\n%s", want, got)
	}
}

// TestWhatASearchFindsIsNoDeed, also where another search showed other values of it.
func TestWhatASearchFindsIsNoDeed(t *testing.T) {
	t.Parallel()
	search := func(place int, day string, price int) records.Text {
		rows := make([]string, 4)
		for i := range rows {
			rows[i] = fmt.Sprintf(`{"flight":"FL10%d","from":"OSL","to":"CDG","starts":"09:00:00","ends":"11:30:00","seats":%d,"price":%d}`, i, 10+i, price+i)
		}
		return records.Text{From: records.Call, Place: place, Tool: "search", Body: fmt.Sprintf(`{"day":%q}`, day), Output: "[" + strings.Join(rows, ",") + "]"}
	}
	if got := chosen([]records.Text{search(0, "2031-05-02", 100), search(1, "2031-05-03", 200)}, 900); strings.Contains(got, "- search(") || !strings.Contains(got, "FL103") {
		t.Errorf("%s", got)
	}
}

// TestALongTextInsideARecordIsReadLineByLine, however deep it lies.
func TestALongTextInsideARecordIsReadLineByLine(t *testing.T) {
	t.Parallel()
	var lines []string
	for w := range strings.FieldsSeq("apples pears plums cherries medlars quinces damsons figs") {
		lines = append(lines, "the harvest of "+w+" was brought in by the neighbours")
	}
	body := fmt.Sprintf(`{"/srv/notes.txt":{"ranges":[{"content":%q,"start":1,"end":8}],"size":512}}`, strings.Join(lines, "\n"))
	got := chosen([]records.Text{{From: records.Call, Tool: "read", Body: `{"path":"/srv/notes.txt"}`, Output: body}}, 600)
	for _, l := range lines {
		if !strings.Contains(got, "> "+l) {
			t.Errorf("no %q in\n%s", l, got)
		}
	}
}

// TestAShortReplyIsTheSameWithItsStructure: a server may send what its text says as a
// structure too.
func TestAShortReplyIsTheSameWithItsStructure(t *testing.T) {
	t.Parallel()
	reply := func(text, structure string) string {
		return fmt.Sprintf(`{"content":[{"type":"text","text":%q}],"structuredContent":%s,"isError":false}`, text, structure)
	}
	open := func(out string) string {
		return chosen([]records.Text{{From: records.Call, Tool: "open_deck", Body: `{"deck":"D-4410"}`, Output: out}}, 400)
	}
	said := "deck D-4410 is not loaded or the id is invalid; none is loaded now, so load_deck has to come before open_deck"
	failed := fmt.Sprintf(`{"error":%q}`, said)
	for _, out := range []string{reply(failed, failed), reply(failed, `{"result":`+failed+`}`), reply(said, fmt.Sprintf(`{"result":%q}`, said))} {
		if got := open(out); !strings.Contains(got, "- open_deck(deck D-4410) → ") || !strings.Contains(got, said[:40]) {
			t.Errorf("%s\n%s", out, got)
		}
	}
	if got := open("# D-4410\n\n\n\nLoading...\n\n"); !strings.Contains(got, `→ "# D-4410 Loading..."`) {
		t.Errorf("a short reply of several lines is not in\n%s", got)
	}
	if got := open(reply("opened", `{"slides":12,"owner":"ida_33"}`)); !strings.Contains(got, "ida_33") {
		t.Errorf("what only the structure says is gone:\n%s", got)
	}
}
