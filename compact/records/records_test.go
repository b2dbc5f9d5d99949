package records_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"memoryd/compact/records"
)

var update = flag.Bool("update", false, "write the golden files anew")

// words counts a token for each four bytes begun.
func words(s string) int { return (len(s) + 3) / 4 }

func chosen(texts []records.Text, room int) string {
	sel := records.Collect(texts, records.Options{Count: words}).Select(room)
	return strings.Join(slices.Concat(sel.Said, sel.Done, sel.Records), "\n")
}

const flights = `[{"flight":"AB101","from":"OSL","to":"CDG","status":"open","seats":{"economy":3,"business":1},"fares":{"economy":120,"business":410}},
{"flight":"AB205","from":"OSL","to":"CDG","status":"open","seats":{"economy":9,"business":0},"fares":{"economy":95,"business":380}},
{"flight":"AB309","from":"OSL","to":"ORY","status":"open","seats":{"economy":1,"business":4},"fares":{"economy":140,"business":455}}]`

const order = `{"order_id":"#W100","user_id":"kim_12","items":[{"name":"Lamp","item_id":"7700000001","price":12.5,"options":{"color":"blue","plug":"EU"}},
{"name":"Desk","item_id":"7700000002","price":99,"options":{"color":"oak","plug":"none"}}],"payment":{"card_81":{"source":"card","id":"card_81","last_four":"4421"}},"note":null,"tags":[]}`

// TestNotation holds how each kind of text is written when there is room for all
// of it.
func TestNotation(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		text records.Text
	}{
		{"a list of like objects is a table", records.Text{From: records.Call, Output: flights, Tool: "search_flights", Body: `{"from":"OSL","date":"2031-05-02"}`}},
		{"objects inside a record are its units", records.Text{From: records.Call, Output: order, Tool: "get_order", Body: `{"order_id":"#W100"}`}},
		{"what was asked identifies an answer that does not say it", records.Text{From: records.Call, Output: `{"balance":120,"iban":"NO9386011117947"}`, Tool: "get_account", Body: `{"account_id":"acc_7"}`}},
		{"objects under their keys", records.Text{From: records.Call, Output: `{"n1":{"kind":"switch","ip":"10.0.0.1"},"n2":{"kind":"router","ip":"10.0.0.2"}}`, Tool: "inventory"}},
		{"JSON inside a text", records.Text{From: records.Call, Output: `{"result":"{\"ticket\":\"T-1001\",\"state\":\"open\"}"}`, Tool: "find_ticket"}},
		{"a logged object", records.Text{From: records.Call, Output: `meta=None content=[TextContent(type='text', text='{\n "page": "p_71", "title": "It\'s here"}', annotations=None)]`, Tool: "fetch"}},
		{"what the Model Context Protocol wraps", records.Text{From: records.Call, Output: `{"_meta":null,"content":[{"type":"text","text":"{\"ticket\":\"T-1001\",\"state\":\"open\"}","annotations":null}],"isError":false}`, Tool: "find_ticket"}},
		{"a wrapped text that was cut", records.Text{From: records.Call, Output: `{"_meta": null, "content": [{"type": "text", "text": "job_17 is queued\njob_18 is do`, Tool: "jobs"}},
		{"JSON that was cut", records.Text{From: records.Call, Output: `[{"job_id":"j-9911","state":"queued"},{"job_id":"j-9912","state":"done"},{"job_id":"j-99`, Tool: "jobs"}},
		{"groups of records", records.Text{From: records.Call, Output: `[[{"flight":"AB101","from":"OSL","to":"AMS","fare":95,"day":"2031-05-02"},{"flight":"AB701","from":"AMS","to":"JFK","fare":310,"day":"2031-05-02"}],[{"flight":"AB102","from":"OSL","to":"CDG","fare":75,"day":"2031-05-02"},{"flight":"AB702","from":"CDG","to":"JFK","fare":290,"day":"2031-05-02"}]]`, Tool: "connections"}},
		{"text behind a lead", records.Text{From: records.Call, Output: `OK: {"job":"j-9911","state":"queued"}`, Tool: "submit"}},
		{"indented members", records.Text{From: records.Call, Output: "- server_name: files-7\n  tool_name: read_file\n  about: reads\n    a whole file\n- server_name: web-9\n  tool_name: fetch_page", Tool: "route"}},
		{"what can be called, and how", records.Text{From: records.Call, Output: "- server_name: files-7\n  tool_name: read_part\n  tool_description: Reads a part of a file, however\n    long it may be\n  inputschema:\n    path: (string) Where it is\n    lines: '(Optional, array) Which lines'\n    raw: (boolean)\n", Tool: "route"}},
		{"a listing of a file", records.Text{From: records.Call, Output: "[File: src/clock.py (90 lines)]\n40:class Clock:\n41:    def tick_rate(self):\n42:        return self.base_unit.seconds", Tool: "open", Body: `{"path":"src/clock.py","line":41}`}},
		{"a listing of a folder", records.Text{From: records.Call, Output: "-rw-r--r-- 1 root root 1204 notes_2031.txt\n-rw-r--r-- 1 root root  88 run_all.sh", Tool: "shell", Body: `{"command":"ls -l"}`}},
		{"a call with its outcome", records.Text{From: records.Call, Body: `{"command":"python repro_1.py"}`, Tool: "shell", Output: "344"}},
		{"a person", records.Text{From: records.User, Body: "My id is kim_12,\nand I want the blue lamp."}},
		{"the assistant, line by line", records.Text{From: records.Assistant, Body: "I found two orders:\n- #W100 with the lamp\n- #W101 with the desk"}},
		{"binary data is left out", records.Text{From: records.Call, Output: "\x00\x01\x02\x03 8812\nok file_12.bin", Tool: "cat"}},
	}
	var b strings.Builder
	for _, tt := range tests {
		fmt.Fprintf(&b, "## %s\n%s\n\n", tt.name, chosen([]records.Text{tt.text}, 5000))
	}
	golden(t, "notation.txt", b.String())
}

// TestChoice holds what is taken of a conversation as the room shrinks.
func TestChoice(t *testing.T) {
	t.Parallel()
	texts := []records.Text{
		{From: records.User, Place: 0, Body: "I am kim_12. Which flight is cheapest on 2031-05-02?"},
		{From: records.Call, Place: 2, Body: `{"user_id":"kim_12"}`, Tool: "get_user", Output: `{"user_id":"kim_12","name":{"first":"Kim","last":"Dahl"},"cards":{"card_81":{"source":"card","id":"card_81"},"card_93":{"source":"card","id":"card_93"}}}`},
		{From: records.Call, Place: 4, Body: `{"from":"OSL","date":"2031-05-02"}`, Tool: "search_flights", Output: flights},
		{From: records.Assistant, Place: 5, Body: "AB205 is the cheapest, at 95. Shall I book it?", Kept: true},
	}
	var b strings.Builder
	for _, room := range []int{25, 50, 100, 400} {
		fmt.Fprintf(&b, "## %d tokens\n%s\n\n", room, chosen(texts, room))
	}
	golden(t, "choice.txt", b.String())
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs (-update writes it anew):\n%s", path, got)
	}
}

func TestTheNewestLineOfAThingStandsLast(t *testing.T) {
	t.Parallel()
	got := chosen([]records.Text{
		{From: records.Call, Place: 0, Tool: "get_ticket", Output: `{"ticket_id":"T-1001","state":"open","owner":"ida_3","queue":"net"}`},
		{From: records.Call, Place: 1, Tool: "close_ticket", Output: `{"ticket_id":"T-1001","state":"closed","owner":"ida_3","queue":"net"}`},
		{From: records.Call, Place: 2, Tool: "get_queue", Output: `{"ticket_id":"T-1001","rank":"4"}`}, // says little: what it does not repeat stays
	}, 400)
	if before, after := strings.Index(got, "state open"), strings.Index(got, "state closed"); after < 0 || after < before {
		t.Errorf("%s", got)
	}
}

func TestAListingIsQuotedNearTheLineThatWasAskedFor(t *testing.T) {
	t.Parallel()
	var view strings.Builder
	for i := 1; i <= 200; i++ {
		fmt.Fprintf(&view, "%d:    step_%d.run(self.queue_%d)\n", i, i, i)
	}
	got := chosen([]records.Text{{From: records.Call, Tool: "open", Body: `{"command":"open jobs.py 120"}`, Output: view.String()}}, 80)
	if !strings.Contains(got, "> 120: ") {
		t.Errorf("line 120 is not in\n%s", got)
	}
}

func TestALaterRecordTakesWhatItSaysOutOfTheEarlierOne(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a remark that makes the answer long ", 8)
	got := chosen([]records.Text{
		{From: records.Call, Place: 0, Tool: "get_ticket", Body: `{"ticket_id":"T-1001"}`, Output: `{"ticket_id":"T-1001","state":"open","owner":"ida_3","queue":"net","remark":"` + long + `"}`},
		{From: records.Call, Place: 1, Tool: "close_ticket", Body: `{"ticket_id":"T-1001"}`, Output: `{"ticket_id":"T-1001","state":"closed","by":"ola_7","remark":"` + long + `"}`},
	}, 400)
	if strings.Contains(got, "state open") || !strings.Contains(got, "owner ida_3") || !strings.Contains(got, "state closed") {
		t.Errorf("%s", got)
	}
}

func TestIndentedLinesOfOneKindAreToldAsOne(t *testing.T) {
	t.Parallel()
	var view strings.Builder
	for i := 1; i <= 60; i++ {
		fmt.Fprintf(&view, "%d:    assert cents(%d.005)  ==  %d\n", i, i, i*100+1)
	}
	got := chosen([]records.Text{{From: records.Call, Tool: "open", Body: `{"path":"cents.py"}`, Output: view.String() + "61:    assert refund(2.345) == -235\n"}}, 400)
	if strings.Count(got, "assert cents(") != 2 || !strings.Contains(got, "(60 lines like these)") || !strings.Contains(got, "refund(2.345)") {
		t.Errorf("%s", got)
	}
}

func TestSecretsStandBehindTheirLabelOnly(t *testing.T) {
	t.Parallel()
	hide := func(label, value string) string {
		if label == "password" {
			return "[secret]"
		}
		return value
	}
	set := records.Collect([]records.Text{{From: records.Call, Tool: "get_login", Output: `{"user":"ida_3","password":"hunter2_9931","hosts":[{"name":"db-1","password":"s3same_4410"}]}`}}, records.Options{Count: words, Redact: hide})
	for _, room := range []int{20, 200} {
		if all := strings.Join(set.Select(room).Records, "\n"); strings.Contains(all, "hunter2") || strings.Contains(all, "s3same") {
			t.Errorf("%d: %s", room, all)
		}
	}
}

func TestDeepArgumentsTakeNoLongerThanTheyAreLong(t *testing.T) {
	t.Parallel()
	var deep string
	for range 20 {
		deep = `{"a":{"k":[` + deep + `]},"b":{"k":1}}`
		deep = strings.ReplaceAll(deep, "[]", "[{}]")
	}
	if got := chosen([]records.Text{{From: records.Call, Tool: "plan", Body: deep}}, 400); len(got) > 400 {
		t.Errorf("%d bytes: %s", len(got), got)
	}
}

// FuzzSelect feeds any text as output, arguments and speech. Whatever it is: lines
// are single lines of valid text, the same twice, and within the room.
func FuzzSelect(f *testing.F) {
	for _, s := range []string{flights, order, "a: b\n  c: d\n- e: f", "12: x\n13: y_1", `{"a":[[1,[2,{"b":"c_1"}]]]}`, "\x00\xff", `{"a":"` + strings.Repeat("x_1 ", 300) + `"}`, "[{},{\"a\":1}]", "content=[TextContent(text='a')]"} {
		f.Add(s, s, uint16(60))
	}
	f.Fuzz(func(t *testing.T, body, args string, room uint16) {
		texts := []records.Text{
			{Output: body, From: records.Call, Tool: "tool", Body: args, Place: 1},
			{Body: args, From: records.Call, Tool: "tool", Output: "done"},
			{Body: body, From: records.User, Place: 2},
			{Body: body, From: records.Assistant, Place: 3},
			{Body: args, From: records.Earlier, Place: 0},
		}
		set := records.Collect(texts, records.Options{Count: words})
		limit := int(room % 2000)
		sel := set.Select(limit)
		if again := set.Select(limit); fmt.Sprint(again) != fmt.Sprint(sel) {
			t.Fatalf("twice gives two results:\n%v\n%v", sel, again)
		}
		if sel.Tokens > limit {
			t.Fatalf("%d tokens in a room of %d", sel.Tokens, limit)
		}
		for _, l := range slices.Concat(sel.Done, sel.Records) {
			if strings.ContainsAny(l, "\n\r") && !strings.Contains(args, "\r") || !utf8.ValidString(l) && utf8.ValidString(body) && utf8.ValidString(args) {
				t.Fatalf("%q is no line", l)
			}
		}
	})
}
