package rules

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"memoryd/guidelines/constraints"
)

var (
	slotNumber = regexp.MustCompile(`\d+(?:\.\d+)?`)
	longNumber = regexp.MustCompile(`\d{5,}|\d+[.:]\d+`)
	formToken  = regexp.MustCompile(`[\pL\pN+][\pL\pN./:+-]{3,23}`)
)

// kindOf masks what varies in a message: the values of the call, and long numbers.
// Statuses and codes stay.
func kindOf(message string, in map[string]value) string {
	m := message[:min(len(message), 400)]
	for _, name := range slices.Sorted(maps.Keys(in)) {
		v := in[name]
		switch {
		case v.kind == text && len(v.text) > 2:
			m = strings.ReplaceAll(m, v.text, "@")
		case v.kind == number:
			m = replaceNumber(m, plain(v.num))
		}
	}
	return longNumber.ReplaceAllString(m, "#")
}

// replaceNumber masks a number where it is not a part of another one or of a code.
func replaceNumber(m, n string) string {
	for _, at := range slices.Backward(slotNumber.FindAllStringIndex(m, 16)) {
		if m[at[0]:at[1]] == n && (at[0] == 0 || m[at[0]-1] < 'A' || m[at[0]-1] > 'z') {
			m = m[:at[0]] + "@" + m[at[1]:]
		}
	}
	return m
}

// write words the rule, narrowed by what the messages behind it agree on.
func (r *Rule) write(rows []row, behind []*row) {
	h := &r.when
	r.Parameter = h.p
	narrow, example := "", ""
	switch h.what {
	case above, aboveWithout, below:
		narrow = r.boundSaid(behind)
	case notLike:
		for i := range slices.Backward(rows) {
			if v := rows[i].in[h.p]; !rows[i].bad && v.kind == text && shown(v.text) {
				example = form(v.text) // its form alone: a value may be private
				break
			}
		}
		if said := agreed(behind, formToken, func(s string) bool { return s != example && sameShape(s, example) }); said != "" {
			narrow = " (" + said + ")"
		}
	case without, with, notIn, offStep, apart, both, notAfter, notBefore:
	}
	r.Line = h.line(narrow, example)
}

// boundSaid moves the bound to the number in the gap between good and failed calls
// that the messages agree on, and gives the gap.
func (r *Rule) boundSaid(behind []*row) string {
	h := &r.when
	first := behind[0].in[h.p].num
	for _, b := range behind {
		if n := b.in[h.p].num; h.what == below {
			first = max(first, n)
		} else {
			first = min(first, n)
		}
	}
	said := agreed(behind, slotNumber, func(s string) bool {
		n, err := strconv.ParseFloat(s, 64)
		if h.what == below {
			return err == nil && n > first && n <= h.bound
		}
		return err == nil && n >= h.bound && n < first
	})
	worked := h.bound
	if n, err := strconv.ParseFloat(said, 64); err == nil {
		h.bound = n
		return ""
	}
	if h.what == below {
		return fmt.Sprintf(" (%s worked, %s and less failed)", plain(worked), plain(first))
	}
	return fmt.Sprintf(" (%s worked, %s and more failed)", plain(worked), plain(first))
}

// agreed is the one token that stands in the messages of three calls of two runs, and
// in most of them; "" where there is none, or more than one.
func agreed(behind []*row, token *regexp.Regexp, fits func(string) bool) string {
	calls, runs := map[string]int{}, map[string]map[uint64]bool{}
	for _, b := range behind {
		var seen []string
		for _, s := range token.FindAllString(b.Message, 24) {
			if fits(s) && !slices.Contains(seen, s) {
				seen = append(seen, s)
				if calls[s]++; runs[s] == nil {
					runs[s] = map[uint64]bool{}
				}
				runs[s][b.Run] = true
			}
		}
	}
	only := ""
	for s, n := range calls {
		if n < minCalls || len(runs[s]) < minRuns || 2*n < len(behind) {
			continue
		}
		if only != "" {
			return ""
		}
		only = s
	}
	return only
}

// sameShape reports whether two texts have the same length and the same marks at the
// same places.
func sameShape(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	marks := 0
	for i := range len(a) {
		x, y := form(a[i:i+1]), form(b[i:i+1])
		plainX, plainY := x == "A" || x == "0", y == "A" || y == "0"
		if plainX != plainY || !plainX && x != y {
			return false
		}
		if !plainX {
			marks++
		}
	}
	return marks > 0
}

// plainForm is a value of digits and marks, such as a date or a number of a telephone.
var plainForm = regexp.MustCompile(`^[0-9][0-9 .:/-]{0,23}$`)

// shown reports whether a value of a caller's input may stand in a line.
func shown(s string) bool {
	return constraints.Token(s) || plainForm.MatchString(strings.TrimPrefix(s, "+"))
}

// worked reports whether each value of a set worked in enough calls and may be shown.
func worked(rows []row, p string, set []string) bool {
	for _, s := range set {
		n, runs := 0, map[uint64]bool{}
		for i := range rows {
			if v := rows[i].in[p]; !rows[i].bad && v.text == s {
				n++
				runs[rows[i].Run] = true
			}
		}
		if n < minCalls || len(runs) < minRuns || !shown(s) {
			return false
		}
	}
	return true
}
