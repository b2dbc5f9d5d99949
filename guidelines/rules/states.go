package rules

import (
	"encoding/json"
	"iter"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// maxStateFields is how many fields beside a value are kept, of words and of numbers each,
// maxStateBytes how long an answer may be that is read for them.
const (
	maxStateFields = 4
	maxStateBytes  = 16 << 10
)

// stateName and stateWord are a field and its value that say in what state something is:
// one of few words, or yes or no.
var (
	stateName = regexp.MustCompile(`^[A-Za-z][A-Za-z_-]{1,23}$`)
	stateWord = regexp.MustCompile(`^[A-Za-z][A-Za-z_-]{1,15}$`)
)

// States lists the identifiers in an answer, with the words and numbers in the same object,
// as in "available=true status=open balance=80".
func States(answer string) iter.Seq2[string, string] {
	return func(yield func(value, state string) bool) {
		s := strings.TrimSpace(answer)
		if s == "" || s[0] != '{' && s[0] != '[' || len(s) > maxStateBytes {
			return
		}
		var tree any
		if json.Unmarshal([]byte(s), &tree) == nil {
			states(tree, yield)
		}
	}
}

func states(v any, yield func(value, state string) bool) bool {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			if !states(e, yield) {
				return false
			}
		}
	case map[string]any:
		var fields, numbers, values []string
		for name, e := range v {
			switch e := e.(type) {
			case string:
				if stateName.MatchString(name) && stateWord.MatchString(e) {
					fields = append(fields, name+"="+e)
				} else if IdentifierLike(e) {
					values = append(values, e)
				}
			case float64:
				if stateName.MatchString(name) {
					numbers = append(numbers, name+"="+plain(e))
				}
			case bool:
				if stateName.MatchString(name) {
					fields = append(fields, name+"="+strconv.FormatBool(e))
				}
			case map[string]any, []any:
				if !states(e, yield) {
					return false
				}
			}
		}
		slices.Sort(fields)
		slices.Sort(numbers)
		state := strings.Join(append(slices.Clone(fields[:min(len(fields), maxStateFields)]), numbers[:min(len(numbers), maxStateFields)]...),
			" ")
		for _, value := range values {
			if state != "" && !yield(value, state) {
				return false
			}
		}
	}
	return true
}

// numberIn is the number that a field of a state holds; false where it holds none.
func numberIn(state, field string) (float64, bool) {
	for f := range strings.FieldsSeq(state) {
		if n, is := strings.CutPrefix(f, field+"="); is {
			v, err := strconv.ParseFloat(n, 64)
			return v, err == nil
		}
	}
	return 0, false
}

// isNumber reports whether a field of a state, as "balance=80", holds a number.
func isNumber(field string) bool {
	name, _, _ := strings.Cut(field, "=")
	_, is := numberIn(field, name)
	return is
}
