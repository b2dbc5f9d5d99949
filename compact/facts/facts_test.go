package facts_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"memoryd/compact/facts"

	"pgregory.net/rapid"
)

func values(text string, src facts.Source) []string {
	return facts.Collect([]facts.Span{{Text: text, Source: src}}, facts.Options{}).Values()
}

func TestCollectFindsWhatCallsPass(t *testing.T) {
	tests := map[string]struct {
		text string
		src  facts.Source
		want []string
		not  []string
	}{
		"JSON":                {`{"reservation_id": "H9ZU1C", "total": 1204, "when": "2024-05-20", "status": "open"}`, facts.FromResult, []string{"H9ZU1C", "1204", "2024-05-20", "open"}, []string{"null"}},
		"JSON inside JSON":    {`{"text": "{\"id\": \"card_991\", \"title\": \"Cancer immunotherapy\"}"}`, facts.FromResult, []string{"card_991", "Cancer immunotherapy"}, nil},
		"escaped many times":  {`\\\"title\\\": \\\"Timeline of things\\\", \\\"kinds\\\": [\\\"shop\\\", \\\"amenity\\\"]`, facts.FromResult, []string{"Timeline of things", "shop", "amenity"}, nil},
		"paths and addresses": {"see /var/log/app.log and https://example.com/a?b=1, or write to mia@example.com", facts.FromResult, []string{"/var/log/app.log", "https://example.com/a?b", "mia@example.com"}, nil},
		"a stamp has a date":  {`created: 2024-05-09T13:43:03`, facts.FromResult, []string{"2024-05-09T13:43:03", "2024-05-09"}, nil},
		"names and words":     {"please book it for Kevin Smith in economy", facts.FromUser, []string{"Kevin", "Smith", "economy"}, []string{"please", "for"}},
		"options in brackets": {"the mode (bike, foot or car)", facts.FromResult, []string{"bike"}, []string{"mode"}},
		"camel case":          {"sort by startTime", facts.FromResult, []string{"startTime"}, []string{"sort"}},
		"emphasis":            {"use **react-chartjs-2** here", facts.FromAssistant, []string{"**react-chartjs-2**"}, []string{"react-chartjs-2"}},
		"keys of arguments":   {`{"item_id": "a-1"}`, facts.FromArgs, []string{"a-1"}, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := values(tc.text, tc.src)
			for _, w := range tc.want {
				if len(w) >= 4 && !slices.Contains(got, w) {
					t.Errorf("%q is not among %q", w, got)
				}
			}
			for _, w := range tc.not {
				if slices.Contains(got, w) {
					t.Errorf("%q is among %q", w, got)
				}
			}
		})
	}
}

func TestBlockPutsEachValueBehindItsLabel(t *testing.T) {
	text := `[{"flight_number": "HAT139", "price": 1140, "city": "New York"}, {"flight_number": "HAT271", "price": 1174, "city": "Des Moines"}]`
	block := facts.Collect([]facts.Span{{Text: text, Source: facts.FromResult}}, facts.Options{}).Block(1000, nil)
	for _, want := range []string{"flight_number: HAT139 HAT271", "price: 1140 1174", `city: "New York" "Des Moines"`} {
		if !slices.Contains(strings.Split(block, "\n"), want) {
			t.Errorf("no line %q in\n%s", want, block)
		}
	}
}

func TestALabelIsRepeatedBeforeItIsTooFar(t *testing.T) {
	var items []string
	for i := range 60 {
		items = append(items, fmt.Sprintf(`{"reservation_id": "QX%04d"}`, i))
	}
	block := facts.Collect([]facts.Span{{Text: strings.Join(items, ","), Source: facts.FromResult}}, facts.Options{}).Block(4000, nil)
	for line := range strings.SplitSeq(block, "\n") {
		label, rest, ok := strings.Cut(line, ": ")
		if last := strings.LastIndexByte(line, ' ') + 1; !ok || label == "" || rest == "" || last > 60 {
			t.Errorf("the last value begins at %d in %q", last, line)
		}
	}
	if n := strings.Count(block, "QX"); n != 60 {
		t.Errorf("%d of 60 values", n)
	}
}

func TestABlockOfManyLinesStaysWithinItsLimit(t *testing.T) {
	var text strings.Builder
	for i := range 400 {
		fmt.Fprintf(&text, `{"order_id": "Q%s%d", "path": "/srv/%s/%d"} `, strings.Repeat("x", i*7%23), i, strings.Repeat("y", i*5%19), i*i)
	}
	set := facts.Collect([]facts.Span{{Text: text.String(), Source: facts.FromResult}}, facts.Options{})
	for limit := 100; limit < 9000; limit += 97 {
		n := utf8.RuneCountInString(set.Block(limit, nil))
		if n > limit || n < limit*9/10-60 {
			t.Errorf("%d characters, the limit is %d", n, limit)
		}
	}
}

func TestWhatWasPassedBeforeComesFirst(t *testing.T) {
	spans := []facts.Span{
		{Text: `{"id": "card_111", "other": "card_222", "third": "card_333"}`, Source: facts.FromResult, Place: 1},
		{Text: `{"payment_id": "card_222"}`, Source: facts.FromArgs, Place: 2},
	}
	if got := facts.Collect(spans, facts.Options{}).Values(); got[0] != "card_222" {
		t.Errorf("first is %q of %q", got[0], got)
	}
}

func TestAWholeValueMakesItsPartsSuperfluous(t *testing.T) {
	text := `{"user": "mia_li_3668", "email": "mia_li_3668@example.com"} mail mia_li_3668@example.com mia_li_3668@example.com`
	block := facts.Collect([]facts.Span{{Text: text, Source: facts.FromArgs}}, facts.Options{}).Block(500, nil)
	if n := strings.Count(block, "mia_li_3668"); n < 1 || n > 2 {
		t.Errorf("%d times in\n%s", n, block)
	}
}

func TestHiddenAndKnownValuesStayOut(t *testing.T) {
	spans := []facts.Span{{Text: `{"password": "hunter2x", "order": "QX7781", "copy": "hunter2x", "seen": "QX9999"}`, Source: facts.FromResult}}
	set := facts.Collect(spans, facts.Options{Hide: func(label, _ string) bool { return label == "password" }})
	block := set.Block(500, func(v string) bool { return v == "QX9999" })
	if strings.Contains(block, "hunter2x") || strings.Contains(block, "QX9999") || !strings.Contains(block, "QX7781") {
		t.Errorf("%s", block)
	}
}

func TestErrorLinesAreKept(t *testing.T) {
	text := "building\nmain.go:12: Error: undefined: frobnicate\ndone"
	block := facts.Collect([]facts.Span{{Text: text, Source: facts.FromResult}}, facts.Options{}).Block(800, nil)
	if !strings.Contains(block, "error: main.go:12: Error: undefined: frobnicate") {
		t.Errorf("%s", block)
	}
}

func TestABlockReadAgainGivesItsFactsAgain(t *testing.T) {
	text := `{"reservation_id": "H9ZU1C", "city": "New York", "status": "open", "paths": ["/a/b.txt", "/c/d.txt"]}`
	first := facts.Collect([]facts.Span{{Text: text, Source: facts.FromResult}}, facts.Options{}).Block(500, nil)
	var spans []facts.Span
	for line := range strings.SplitSeq(first, "\n") {
		spans = append(spans, facts.Span{Text: line, Source: facts.FromLedger, Ledger: true})
	}
	second := facts.Collect(spans, facts.Options{}).Block(500, nil)
	for _, v := range []string{"H9ZU1C", "New York", "open", "/a/b.txt", "/c/d.txt"} {
		if !strings.Contains(second, v) {
			t.Errorf("%q is lost:\n%s\n\n%s", v, first, second)
		}
	}
}

func TestAnyBytesGiveABlockWithinItsLimit(t *testing.T) { rapid.Check(t, blockProperty) }

func FuzzBlock(f *testing.F) { f.Fuzz(rapid.MakeFuzz(blockProperty)) }

func blockProperty(t *rapid.T) {
	var spans []facts.Span
	for i := range rapid.IntRange(0, 6).Draw(t, "spans") {
		text := rapid.OneOf(
			rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
			rapid.StringMatching(`(\{"[a-z_]{1,8}": ("[A-Za-z0-9 ]{0,12}"|[0-9]{1,6})\}[, \n]{0,2}){0,8}`),
			rapid.StringMatching(`([a-z]{1,9}[:= ]{1,2}[A-Z0-9/_.@-]{1,14}[ \n]){0,8}`),
		).Draw(t, "text")
		spans = append(spans, facts.Span{Text: text, Source: facts.Source(rapid.IntRange(0, 4).Draw(t, "source")), Ledger: rapid.Bool().Draw(t, "ledger"), Place: i})
	}
	set := facts.Collect(spans, facts.Options{})
	limit := rapid.IntRange(-5, 600).Draw(t, "limit")
	block := set.Block(limit, nil)
	if n := utf8.RuneCountInString(block); n > max(0, limit) {
		t.Fatalf("%d characters, the limit is %d:\n%s", n, limit, block)
	}
	if again := facts.Collect(spans, facts.Options{}).Block(limit, nil); again != block {
		t.Fatalf("not the same twice:\n%s\n\n%s", block, again)
	}
	for line := range strings.SplitSeq(block, "\n") {
		if block != "" && !strings.Contains(line, ": ") {
			t.Fatalf("a line without a label: %q", line)
		}
	}
}

func TestGrounded(t *testing.T) {
	seen := facts.NewSeen()
	seen.Add("order QX7781 was shipped on 2024-05-20 to /srv/out")
	for line, want := range map[string]bool{
		"The order QX7781 went out.":        true,
		"The order QX9999 went out.":        false,
		"It left on 2024-05-21.":            false,
		"Nothing in particular happened.":   true,
		"It was written to /srv/elsewhere.": false,
	} {
		if got := facts.Grounded(line, seen); got != want {
			t.Errorf("%q: got %t", line, got)
		}
	}
}

func TestALineOfManyIdentifiersGivesABoundedNumberOfFacts(t *testing.T) {
	var line strings.Builder
	for i := range 150_000 {
		fmt.Fprintf(&line, "x%05d ", i)
	}
	spans := []facts.Span{{Text: line.String(), Source: facts.FromResult}, {Text: `{"order_id": "Q-17"}`, Source: facts.FromArgs, Place: 1}}
	set := facts.Collect(spans, facts.Options{})
	if n := set.Len(); n > 4010 {
		t.Errorf("%d facts", n)
	}
	if got := set.Block(400, nil); !strings.Contains(got, "Q-17") {
		t.Errorf("what a call passed is not in\n%s", got)
	}
}
