package rules

import (
	"fmt"
	"strings"
	"testing"
)

// A text that is sent again and again says what becomes of it, not which of its letters is to blame.
func TestHowTextsAreWrittenIsTestedOnDifferentTexts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ good, bad, line string }{
		{"%s+ z", "%s=a+", "Write `text` without `=`"},
		{"%sz", "#%sz", "Give no `text` that begins with \"#\""},
		{"%s.json", "%s.yaml", "End `text` with \".json\""},
	} {
		for different, want := range map[int]bool{1: false, 12: true} {
			var calls []Call
			for i := range 24 {
				good, bad := fmt.Sprintf(c.good, strings.Repeat(string(rune('a'+i%7)), 1+i%7)), fmt.Sprintf(c.bad, strings.Repeat(string(rune('b'+i%different)), 1+i%different))
				calls = append(calls, call(i, `{"text":"`+good+`"}`, ""), call(i, `{"text":"`+bad+`"}`, "no such thing"))
			}
			if got := lines(Find("search", calls)); strings.Contains(got, c.line) != want {
				t.Errorf("%q: %d different texts: %q", c.line, different, got)
			}
		}
	}
}

// How an identifier begins says of what kind it is, be it one or many.
func TestHowAnIdentifierBeginsIsToldOfOne(t *testing.T) {
	t.Parallel()
	var calls []Call
	for i := range 24 {
		calls = append(calls, call(i, fmt.Sprintf(`{"pay_by":"credit_%d"}`, 1000+i%7), ""), call(i, `{"pay_by":"voucher_4711"}`, "not accepted"))
	}
	if got := lines(Find("book", calls)); !strings.Contains(got, "Give no `pay_by` that begins with \"voucher_\"") {
		t.Errorf("got %q", got)
	}
}

// Texts that failed in another way are no texts of this kind of failure.
func TestTextsOfOtherFailuresDoNotCount(t *testing.T) {
	t.Parallel()
	var calls []Call
	for i := range 36 {
		calls = append(
			calls, call(i, fmt.Sprintf(`{"text":"%cz","limit":%d}`, 'a'+i%8, 1+i%9), ""),
			call(i, fmt.Sprintf(`{"text":"%c=z","limit":%d}`, 'a'+i%6, 1+i%9), "no such thing"),
			call(i, fmt.Sprintf(`{"text":"y%cz","limit":500}`, 'a'+i%24), "too many"),
		)
	}
	if got := lines(Find("search", calls)); !strings.Contains(got, "Write `text` without `=`") || !strings.Contains(got, "Keep `limit` at most 9") {
		t.Errorf("got %q", got)
	}
}

// The texts of all good calls have one length: that is what texts of another have to be like.
func TestALengthThatAllGoodCallsHaveIsTold(t *testing.T) {
	t.Parallel()
	var calls []Call
	for i := range 12 {
		text := strings.Repeat(fmt.Sprintf("%04x", 40000+i*77), 8)
		calls = append(calls, call(i, fmt.Sprintf(`{"iv":%q}`, text), ""), call(i, fmt.Sprintf(`{"iv":%q}`, text[:16]), "invalid vector"))
	}
	if got, want := lines(Find("encrypt", calls)), "Keep `iv` at least 32 characters long (32 worked, 16 and less failed)\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// That a value which worked works again says nothing of what the run did with it.
func TestAValueThatWorksAgainIsNoUseOfIt(t *testing.T) {
	t.Parallel()
	var calls []Call
	ran := map[uint64]map[int]bool{}
	for i := range 72 {
		bits := []int{9, 12, 15, 16, 7, 15}[i%6]
		message := ""
		if bits == 16 || bits == 7 {
			message = "out of range"
		}
		c := call(i, fmt.Sprintf(`{"bits":%d}`, bits), message)
		c.Run, c.Named = uint64(i/9+1), true
		if ran[c.Run] == nil {
			ran[c.Run] = map[int]bool{}
		}
		if ran[c.Run][bits] {
			c.Last = []Used{{Path: "bits", In: "compress bits"}}
		}
		ran[c.Run][bits] = ran[c.Run][bits] || message == ""
		calls = append(calls, c)
	}
	got := lines(Find("compress", calls))
	if strings.Contains(got, "last used") || !strings.Contains(got, "Keep `bits` at most 15") || !strings.Contains(got, "Keep `bits` at least 9") {
		t.Errorf("got %q", got)
	}
}

func TestAMessageSpeaksOfAParameterHoweverItsWordsAreJoined(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		message, parameter string
		want               bool
	}{
		{`The value of "options.windowBits" is out of range`, "window_bits", true},
		{"window bits must be at most 15", "window_bits", true},
		{"WINDOW-BITS: 16", "windowBits", true},
		{"window_bits", "windowBits", true},
		{"Invalid time zone specified", "time_zone", true},
		{"Zeitzone: time_zone", "time_zone", true},
		{"windowBitsSize is out of range", "window_bits", false},
		{"thewindowBits", "window_bits", false},
		{"window of bits", "window_bits", false},
		{"window", "window_bits", false},
		{"The Date is wrong", "date", false},
		{"", "window_bits", false},
	} {
		if got := Speaks(c.message, c.parameter); got != c.want {
			t.Errorf("Speaks(%q, %q) = %v", c.message, c.parameter, got)
		}
	}
}

// A message that names the parameter in its own way tells the bound, though a word follows the number.
func TestABoundIsTakenFromAMessageThatJoinsTheWordsOtherwise(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]string{
		"windowBits has to be 8 or more": "Keep `window_bits` at least 8\n",
		"it has to be 8 or more":         "Keep `window_bits` at least 9 (9 worked, 7 and less failed)\n",
	} {
		var calls []Call
		for i := range 20 {
			calls = append(calls, call(i, fmt.Sprintf(`{"window_bits":%d}`, 9+i%5), ""), call(i, `{"window_bits":7}`, message))
		}
		if got := lines(Find("compress", calls)); got != want {
			t.Errorf("%q: got %q, want %q", message, got, want)
		}
	}
}

// Two parameters of which calls tell as much: the message names one of them in its own way.
func TestAMessageThatJoinsTheWordsOtherwiseSaysWhichParameterIsToBlame(t *testing.T) {
	t.Parallel()
	var calls []Call
	for i := range 12 {
		calls = append(calls, call(i, fmt.Sprintf(`{"a_size":%d,"page_size":%d}`, i%5, i%5), ""))
		if i > 9 {
			calls = append(calls, call(i, `{"a_size":90,"page_size":90}`, "pageSize is too large"))
		}
	}
	if got := lines(Find("list", calls)); !strings.HasPrefix(got, "Keep `page_size` at most 4") {
		t.Errorf("got %q", got)
	}
}

func TestHowNearlyAllGoodTextsBeginAndEndIsToldThoughOneIsOtherwise(t *testing.T) {
	t.Parallel()
	var calls []Call
	for i := range 40 {
		place := fmt.Sprintf("%s.example/page%s", strings.Repeat("a", 1+i%4), strings.Repeat("1-", i%7))
		calls = append(calls, call(i, fmt.Sprintf(`{"url":"http://%s.html"}`, place), ""))
		if i%3 == 0 {
			calls = append(calls, call(i, fmt.Sprintf(`{"url":"%s.html"}`, place), "no such scheme"))
		}
	}
	calls = append(calls, call(1, `{"url":"home"}`, ""))
	if got := lines(Find("open", calls)); got != "Begin `url` with \"http://\"\n" {
		t.Errorf("got %q", got)
	}
	for i := range calls {
		calls[i].Input = []byte(strings.Replace(string(calls[i].Input), "http://", "", 1))
		if calls[i].Bad {
			calls[i].Input = []byte(strings.Replace(string(calls[i].Input), ".html", ".pdf", 1))
		}
	}
	if got := lines(Find("open", calls)); got != "End `url` with \".html\"\n" {
		t.Errorf("got %q", got)
	}
}

// Words are as long as it happens.
func TestWordsHaveNoForm(t *testing.T) {
	t.Parallel()
	var calls []Call
	for i := range 24 {
		branch := [...]string{"fix/login", "fix/basket"}[i%2] + fmt.Sprint(10+i%7)
		calls = append(calls, call(i, `{"branch":"`+branch+`"}`, ""), call(i, `{"branch":"v`+strings.Repeat("x", i%9)+`"}`, "not there"))
	}
	if got := lines(Find("checkout", calls)); strings.Contains(got, "Write `branch` like") {
		t.Errorf("got %q", got)
	}
}

// An index may have to be below a size; from how far below nothing depends.
func TestNoDistanceFromASizeIsTold(t *testing.T) {
	t.Parallel()
	var calls []Call
	for i := range 24 {
		good, bad := [][2]int{{0, 34}, {3, 38}, {2, 36}, {1, 35}}[i%4], [][2]int{{3, 35}, {3, 34}, {2, 34}, {3, 34}}[i%4]
		of := func(n [2]int) string {
			return fmt.Sprintf(`{"file":"%s","row":%d}`, strings.Repeat(string(rune('a'+i)), n[1]), n[0])
		}
		calls = append(calls, call(i, of(good), ""), call(i, of(bad), "cannot be"))
	}
	if got := lines(Find("merge", calls)); strings.Contains(got, "below the length") {
		t.Errorf("got %q", got)
	}
}

// What fails once in a way of its own may be of the same cause: it does not speak against what explains all.
func TestRareFailuresDoNotSpeakAgainstAFolder(t *testing.T) {
	t.Parallel()
	var calls []Call
	for i := range 24 {
		calls = append(calls, call(i, fmt.Sprintf(`{"path":"/srv/box/p%d/some_longer_name.txt"}`, i), ""))
		if i%2 == 0 {
			calls = append(calls, call(i, fmt.Sprintf(`{"path":"/etc/p%d.txt"}`, i), fmt.Sprintf("denied: /etc/p%d.txt is not in /srv/box", i)))
		} else {
			calls = append(calls, call(i, fmt.Sprintf(`{"path":"~/a_folder_in_between_of_some_length/p%d.txt"}`, i), fmt.Sprintf("denied: /root/%c%[1]c is not in /srv/box", 'a'+i)))
		}
	}
	if got := lines(Find("read", calls)); !strings.Contains(got, "Begin `path` with \"/srv/box/\"") {
		t.Errorf("got %q", got)
	}
}

// Paths are as long as it happens.
func TestHowLongPathsAreSaysNothing(t *testing.T) {
	t.Parallel()
	var calls []Call
	for i := range 24 {
		long := call(i, `{"path":"/srv/`+strings.Repeat(string(rune('a'+i)), 12+i%7)+`"}`, "")
		calls = append(calls, long, call(i, `{"path":"/srv/`+strings.Repeat(string(rune('a'+i)), 1+i%5)+`"}`, "not there"))
	}
	if got := lines(Find("status", calls)); strings.Contains(got, "characters long") {
		t.Errorf("got %q", got)
	}
}

// Of two numbers that no message names, one is below the other in some calls by chance.
func TestThatANumberIsBelowAnotherIsNoRuleOfThreeCalls(t *testing.T) {
	t.Parallel()
	for failed, want := range map[int]bool{3: false, 6: true} {
		var calls []Call
		for i := range 6 {
			calls = append(calls, call(2*i, fmt.Sprintf(`{"left":%d,"slide":%d,"top":%d}`, 2+i%4, 1+i%2, i%5), ""))
			if i < failed {
				calls = append(calls, call(2*i+1, fmt.Sprintf(`{"left":%d,"slide":%d,"top":%d}`, 2+i%2, 4+i%2, i%5), "refused"))
			}
			calls = append(calls, call(2*i, fmt.Sprintf(`{"left":%d,"slide":%d,"top":%d}`, 4+i%4, 4, i%5), ""))
		}
		if got := lines(Find("draw", calls)); strings.Contains(got, "comes before") != want {
			t.Errorf("%d calls: %q", failed, got)
		}
	}
}

// Nearly all good paths begin with one folder, so that a folder of another name is one thing that goes wrong,
// and a path that begins with no folder another.
func TestTwoBeginningsThatExplainDifferentFailuresAreBothTold(t *testing.T) {
	t.Parallel()
	var calls []Call
	for i := range 60 {
		calls = append(calls, call(i, fmt.Sprintf(`{"repo":"/srv/git/%c%d_%d"}`, 'a'+i%5, i%7, i), ""))
		switch {
		case i%4 == 0:
			calls = append(calls, call(i, fmt.Sprintf(`{"repo":"%c%d"}`, 'b'+i%7, i), "no repository"))
		case i%10 == 1:
			calls = append(calls, call(i, fmt.Sprintf(`{"repo":"/home/%c%d"}`, 'a'+i%3, i), "only what is in /srv/git may be used"))
		}
	}
	got := lines(Find("status", calls))
	if !strings.Contains(got, "Begin `repo` with \"/\"") || !strings.Contains(got, "Begin `repo` with \"/srv/git/\"") {
		t.Errorf("got %q", got)
	}
}

// Of so few good calls each value counts once or twice; the messages list them.
func TestAValueOutsideTheListOfAMessageIsToldAfterFewGoodCalls(t *testing.T) {
	find := func(message string) string {
		var calls []Call
		for i := range 22 {
			switch {
			case i%3 == 0:
				calls = append(calls, bad(i, fmt.Sprintf(`{"top":%d,"unit":%q}`, i, []string{"inches", "px"}[i%2]), message))
			case i == 4, i == 13, i == 20:
				calls = append(calls, good(i, fmt.Sprintf(`{"top":%d,"unit":%q}`, i, []string{"percent", "points"}[i%2])))
			default:
				calls = append(calls, good(i, fmt.Sprintf(`{"top":%d}`, i)))
			}
		}
		return lines(Find("set_padding", calls))
	}
	want := "Give `unit` as a value that worked, not \"inches\", \"px\"\n"
	if got := find("Invalid unit. Valid options: points, percent"); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := find("Invalid unit."); strings.Contains(got, "worked") {
		t.Errorf("without a list: %q", got)
	}
}

func TestShortValuesThatAMessageQuotesMakeNoKindsOfTheirOwn(t *testing.T) {
	var calls []Call
	for i := range 24 {
		target := []string{"HEAD", "main", "HEAD~1", "fix-cart", "release", "topic"}[i%6] + strings.Repeat("x", i/6)
		if i%4 == 0 {
			target = []string{"-p", "-w", "--stat"}[i/4%3]
			calls = append(calls, bad(i, fmt.Sprintf(`{"target":%q}`, target), "Invalid target: '"+target+"' - cannot start with '-'"))
			continue
		}
		calls = append(calls, good(i, fmt.Sprintf(`{"target":%q}`, target)))
	}
	if got, want := lines(Find("diff", calls)), "Give no `target` that begins with \"-\"\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestTheOneValueThatWorkedIsToldAsThatValue(t *testing.T) {
	var calls []Call
	for i := range 12 {
		calls = append(calls, good(i, `{"operation":"theme"}`))
	}
	for i := range 4 {
		o := []string{"apply", "create"}[i%2]
		calls = append(calls, bad(20+i, fmt.Sprintf(`{"operation":%q}`, o), "Invalid operation: "+o))
	}
	if got := lines(Find("design", calls)); !strings.HasPrefix(got, "Give `operation` as \"theme\"") {
		t.Errorf("got %q", got)
	}
}
