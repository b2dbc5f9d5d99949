// Package suggest finds the name that somebody meant who wrote another.
package suggest

import "strings"

// Nearest gives the one of names that is most like the written one, "" when none
// is: at most one letter in three differs, or one begins with the other.
func Nearest(written string, names []string) string {
	best, bestAt := "", 0
	for _, name := range names {
		far := distance([]rune(strings.ToLower(written)), []rune(strings.ToLower(name)))
		near := far <= max(1, len([]rune(written))/3) || len(written) > 2 && strings.HasPrefix(name, written)
		if near && (best == "" || far < bestAt) {
			best, bestAt = name, far
		}
	}
	return best
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
