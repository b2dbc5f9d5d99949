package facts

// shape is what a value looks like.
type shape uint8

const (
	plain  shape = iota // a word
	joined              // words joined by - . _ @ and the like, or by a capital
	ident               // letters and digits
	capsID              // capitals only: codes, constants
	number
	date
	stamp    // a date with a time
	location // has a slash: path or URL
	phrase   // several words between quotes
	errText  // a line that reports a failure
)

// shapeOf looks at each byte once.
func shapeOf(v string) shape {
	var digits, letters, capitals, slashes, seps, others int
	for i := range len(v) {
		switch c := v[i]; {
		case c >= '0' && c <= '9':
			digits++
		case c >= 'A' && c <= 'Z':
			capitals++
			letters++
		case c >= 'a' && c <= 'z' || c >= 0x80:
			letters++
		case c == '/':
			slashes++
		case c == '-' || c == '_' || c == '.' || c == '@' || c == ':':
			seps++
		default:
			others++
		}
	}
	switch {
	case isDate(v) && len(v) > 13:
		return stamp
	case isDate(v):
		return date
	case slashes > 0 && letters > 0:
		return location
	case digits > 0 && letters == 0:
		return number
	case digits > 0:
		return ident
	case capitals == letters && letters >= 4 && seps == 0 && others == 0:
		return capsID
	case seps > 0 || camel(v):
		return joined
	}
	return plain
}

// camel reports whether small letters and capitals mix inside a word, as in
// startTime.
func camel(v string) bool {
	for i := 1; i < len(v); i++ {
		if v[i] >= 'A' && v[i] <= 'Z' && v[i-1] >= 'a' && v[i-1] <= 'z' {
			return true
		}
	}
	return false
}

// isDate reports whether v starts like 2024-05-20.
func isDate(v string) bool {
	if len(v) < 10 || v[4] != '-' || v[7] != '-' {
		return false
	}
	for i, c := range []byte(v[:10]) {
		if i != 4 && i != 7 && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}
