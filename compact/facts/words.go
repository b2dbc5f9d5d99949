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

// tellsMuch reports whether a word can serve as a label.
func tellsMuch(w string) bool {
	if len(w) < 3 || len(w) > 30 {
		return false
	}
	c := w[0] | 0x20
	return (c >= 'a' && c <= 'z' || w[0] >= 0x80) && !stop[strings.ToLower(w)]
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
