package phrases

import (
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestOnlyTwoCharactersFoldToASCII(t *testing.T) {
	for r := rune(utf8.RuneSelf); r <= unicode.MaxRune; r++ {
		if low := unicode.ToLower(r); low < utf8.RuneSelf && !foldsToASCII(string(r)) {
			t.Errorf("%U becomes %q", r, low)
		}
	}
}
