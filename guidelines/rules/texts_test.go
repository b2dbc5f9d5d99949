package rules

import (
	"fmt"
	"strings"
	"testing"
)

// A text that is sent again and again says what becomes of it, not which of its letters is to blame.
func TestHowTextsAreWrittenIsTestedOnDifferentTexts(t *testing.T) {
	t.Parallel()
	for different, want := range map[int]bool{1: false, 2: false, 12: true} {
		var calls []Call
		for i := range 24 {
			good, bad := fmt.Sprintf("%c+ z", 'a'+i%13), fmt.Sprintf("%c=a+", 'a'+i%different)
			calls = append(calls, call(i, fmt.Sprintf(`{"pattern":%q}`, good), ""), call(i, fmt.Sprintf(`{"pattern":%q}`, bad), "no such thing"))
		}
		if got := lines(Find("search", calls)); strings.Contains(got, "`=`") != want {
			t.Errorf("%d different texts: %q", different, got)
		}
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

// A form that stands for a single text is that text, and the text may not be told.
func TestAFormIsTestedOnTextsThatShareIt(t *testing.T) {
	t.Parallel()
	for texts, want := range map[int]bool{1: false, 8: true} {
		var calls []Call
		for i := range 24 {
			good := fmt.Sprintf("10.0.%d.0", i%texts)
			calls = append(calls, call(i, fmt.Sprintf(`{"network":%q}`, good), ""), call(i, fmt.Sprintf(`{"network":"192.168.1.%d"}`, 100+i%8), "host bits set"))
		}
		if got := lines(Find("split", calls)); strings.Contains(got, "Write `network` like") != want {
			t.Errorf("%d texts: %q", texts, got)
		}
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
		c.Since = SinceKnown
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
