package facts

import "strings"

// separates marks the bytes between tokens.
//
//nolint:gochecknoglobals // a constant table
var separates = func() (t [256]bool) {
	for b := range 0x21 {
		t[b] = true
	}
	for _, b := range []byte("\"'(),;[]{}<>=\\|`*\x7f") {
		t[b] = true
	}
	return t
}()

// trims marks the punctuation that trim drops at the ends of a token.
//
//nolint:gochecknoglobals // a constant table
var trims = func() (t [256]uint8) {
	for _, b := range []byte(".:,!?*~") {
		t[b] = atFront | atEnd
	}
	t['#'], t['-'] = atFront, atFront
	return t
}()

const (
	atFront uint8 = 1 << iota
	atEnd
)

// isGeneric and isStop look a word up, whatever its case. Words much longer than
// the longest of the list are not even made lower case.
func isGeneric(w string) bool { return len(w) <= longestWord && generic[strings.ToLower(w)] }
func isStop(w string) bool    { return len(w) <= longestWord && stop[strings.ToLower(w)] }

// longestWord is the most bytes of a listed word before it is made lower case:
// seven letters, of three bytes at most.
const longestWord = 21

// tellsMuch reports whether a word can serve as a label.
func tellsMuch(w string) bool {
	if len(w) < 3 || len(w) > 30 {
		return false
	}
	c := w[0] | 0x20
	return (c >= 'a' && c <= 'z' || w[0] >= 0x80) && !isStop(w)
}

// generic are words that JSON and its schemas use for themselves.
//
//nolint:gochecknoglobals // a constant table
var generic = map[string]bool{
	"true": true, "false": true, "null": true, "none": true, "string": true, "integer": true, "number": true, "boolean": true,
	"object": true, "array": true, "text": true, "type": true, "the": true, "this": true, "you": true, "yes": true, "not": true, "and": true,
}

//nolint:gochecknoglobals // a constant table
var stop = func() map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq("the and for with from that this have has had was were are not but you your our its his her their " +
		"will would can could should may might into onto over under about which what when where who how all any some one two here there " +
		"please also then than they them been being does did done just let like need want") {
		m[w] = true
	}
	return m
}()
