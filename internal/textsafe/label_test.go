package textsafe_test

import (
	"testing"

	"memoryd/internal/textsafe"
)

func TestALabelIsShortAndHasNoControlCharacters(t *testing.T) {
	for s, want := range map[string]bool{
		"": true, "Ann": true, "Änn": true, "Annie": false, "a\x7f": false, "a\nb": false, "a\xff": false, "a b": true,
	} {
		if textsafe.IsLabel(s, 4) != want {
			t.Errorf("%q: want %v", s, want)
		}
	}
}
