// Package suggest finds the name that a misspelt name stands for.
package suggest

import (
	"slices"
	"strings"
)

// Nearest returns the name that is most similar to the given one, or "". A similar name
// differs in at most one letter of three, or one of the two begins with the other.
func Nearest(written string, names []string) string {
	for _, name := range Few(written, names, 1) {
		return name
	}
	return ""
}

// Few returns at most most names that are similar to the given one, the most similar first.
func Few(written string, names []string, most int) []string {
	type near struct {
		name string
		far  int
	}
	var all []near
	for _, name := range names {
		far := distance([]rune(strings.ToLower(written)), []rune(strings.ToLower(name)))
		if far <= max(1, len([]rune(written))/3) || len(written) > 2 && strings.HasPrefix(name, written) {
			all = append(all, near{name, far})
		}
	}
	slices.SortStableFunc(all, func(a, b near) int { return a.far - b.far })
	var few []string
	for _, n := range all[:min(len(all), most)] {
		few = append(few, n.name)
	}
	return few
}

// distance counts the letters to insert, remove, replace, or swap with the next.
func distance(a, b []rune) int {
	var before []int
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		last := row
		row = make([]int, len(b)+1)
		row[0] = i + 1
		for j := range b {
			row[j+1] = min(last[j+1]+1, row[j]+1, last[j]+1)
			if a[i] == b[j] {
				row[j+1] = min(row[j+1], last[j])
			}
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before = last
	}
	return row[len(b)]
}
