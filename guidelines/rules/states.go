package rules

import (
	"encoding/json"
	"iter"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// maxStateFields is how many fields beside a value are kept, of words and of numbers each.
const maxStateFields = 4

// stateName and stateWord are a field and its value that say in what state something is:
// one of few words, or yes or no.
var (
	stateName = regexp.MustCompile(`^[A-Za-z][A-Za-z_-]{1,23}$`)
	stateWord = regexp.MustCompile(`^[A-Za-z][A-Za-z_-]{1,15}$`)
)

// Given is an identifier in an answer, with the names that it stood under (of the member, and of
// what holds that) and the words and numbers in the same object, as in "available=true status=open
// balance=80".
type Given struct {
	Value, State string
	Under        []string
}

// Identifiers lists those of an answer in JSON. A name may be one itself, as in
// {"payment_methods": {"card_1": {...}}}.
func Identifiers(answer string) iter.Seq[Given] {
	return func(yield func(Given) bool) {
		s := strings.TrimSpace(answer)
		var tree any
		if s != "" && (s[0] == '{' || s[0] == '[') && json.Unmarshal([]byte(s), &tree) == nil {
			identifiers(tree, Given{Under: []string{"", ""}}, yield)
		}
	}
}

// identifiers are those in a value; at says what it stands under, and beside what.
func identifiers(v any, at Given, yield func(Given) bool) bool {
	switch v := v.(type) {
	case string:
		at.Value = v
		return !IdentifierLike(v) || yield(at)
	case []any:
		at.State = ""
		return !slices.ContainsFunc(v, func(e any) bool { return !identifiers(e, at, yield) })
	case map[string]any:
		state := stateOf(v)
		for _, name := range slices.Sorted(maps.Keys(v)) {
			in := Given{Under: []string{name, at.Under[0]}, State: state}
			if s, isText := v[name].(string); isText && isState(name, s) {
				in.State = ""
			}
			if _, holds := v[name].(map[string]any); holds && !identifiers(name, Given{Under: at.Under[:1]}, yield) {
				return false
			}
			if !identifiers(v[name], in, yield) {
				return false
			}
		}
	}
	return true
}

func isState(name, word string) bool {
	return stateName.MatchString(name) && stateWord.MatchString(word)
}

// stateOf is what an object says beside its identifiers.
func stateOf(object map[string]any) string {
	var fields, numbers []string
	for name, e := range object {
		switch e := e.(type) {
		case string:
			if isState(name, e) {
				fields = append(fields, name+"="+e)
			}
		case float64:
			if stateName.MatchString(name) {
				numbers = append(numbers, name+"="+plain(e))
			}
		case bool:
			if stateName.MatchString(name) {
				fields = append(fields, name+"="+strconv.FormatBool(e))
			}
		}
	}
	slices.Sort(fields)
	slices.Sort(numbers)
	return strings.Join(slices.Concat(fields[:min(len(fields), maxStateFields)], numbers[:min(len(numbers), maxStateFields)]), " ")
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
