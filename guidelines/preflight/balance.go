package preflight

import (
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	tested "memoryd/guidelines/rules"
	"memoryd/internal/errortext"
	"memoryd/internal/origin"
	"memoryd/internal/textsafe"
)

// maxMessage is how many bytes of a message are read.
const maxMessage = 400

var wholeNumber = regexp.MustCompile(`-?\d+(?:[.,]\d+)*`)

// numbersIn lists the numbers of a message.
func numbersIn(s string) []float64 {
	var out []float64
	for _, n := range wholeNumber.FindAllString(s, 8) {
		f, err := strconv.ParseFloat(strings.ReplaceAll(n, ",", ""), 64)
		if err == nil {
			out = append(out, f)
		}
	}
	return out
}

// demand is what the message of a failed call may ask for: that the numbers at a path have another sum.
type demand struct {
	path  string
	total float64
}

// demands are those of a failed call whose message names two numbers of which one is the sum of what the call gave.
func demands(output string, refused []leaf) (list []demand) {
	numbers := numbersIn(textsafe.Head(errortext.Unwrap(output), maxMessage))
	if len(numbers) != 2 {
		return nil
	}
	paid := sums(refused)
	for _, path := range slices.Sorted(maps.Keys(paid)) {
		for k, n := range numbers {
			if total := numbers[1-k]; near(paid[path], n) && !near(total, n) {
				list = append(list, demand{path, total})
			}
		}
	}
	return list
}

// sumsTested tells from the history whether calls that worked after a failed one of their run had the sum that its
// message may ask for: the message alone may mean anything.
type sumsTested struct {
	asked   map[uint64][]demand // by run
	had, no int                 // good calls
}

// learn takes a judged call in.
func (s *sumsTested) learn(run uint64, failed bool, output string, leaves []leaf) {
	if failed {
		if list := demands(output, leaves); len(list) > 0 {
			s.asked[run] = list
		}
		return
	}
	if len(s.asked[run]) == 0 {
		return
	}
	paid := sums(leaves)
	if slices.ContainsFunc(s.asked[run], func(d demand) bool { return near(paid[d.path], d.total) }) {
		s.had++
	} else {
		s.no++
	}
	delete(s.asked, run)
}

// bear reports whether the history bears out that messages ask for sums.
func (s *sumsTested) bear() bool { return s.had > s.no }

// balance repairs numbers whose sum was refused, as long as the rest of the input stays.
func (m *Model) balance(v *view, c *runCall) fix {
	refused, planned := leavesOf(c.Input), sums(v.in.leaves)
	for _, d := range demands(c.Output, refused) {
		if sum, given := planned[d.path]; given && !near(sum, d.total) && without(refused, d.path) == without(v.in.leaves, d.path) {
			return m.adjust(v, d.path, d.total-sum)
		}
	}
	return fix{}
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-6*max(1, math.Abs(a)) }

// sums are those of the numbers that elements of lists give.
func sums(leaves []leaf) map[string]float64 {
	of := map[string]float64{}
	for i := range leaves {
		if l := &leaves[i]; l.Kind == tested.Number && strings.Contains(l.Path, "[]") {
			of[l.Path] += l.Number
		}
	}
	return of
}

// without is the identity of an input without the list that a path leads into.
func without(leaves []leaf, path string) uint64 {
	list, _, _ := strings.Cut(path, "[]")
	return identityOf(slices.DeleteFunc(slices.Clone(leaves), func(l leaf) bool {
		return l.Kind == tested.Object || strings.HasPrefix(l.Path, list)
	}))
}

// adjust adds to the last of the numbers at a path that stays above zero.
func (m *Model) adjust(v *view, path string, by float64) fix {
	for i, l := range slices.Backward(v.in.leaves) {
		if l.Path == path && l.Kind == tested.Number && l.Number+by >= 0 {
			return m.apply(v, i, plain(l.Number+by), origin.Run)
		}
	}
	return fix{}
}
