package facts

// Grounded reports whether every identifier, path, date and longer number of a
// line stands in the texts that seen knows. A summary that names others made them
// up.
func Grounded(line string, seen *Seen) bool {
	for i := 0; i < len(line); {
		if separates[line[i]] {
			i++
			continue
		}
		j := i + 1
		for j < len(line) && !separates[line[j]] {
			j++
		}
		from, to := trim(line, i, j)
		i = j
		if to-from < 4 {
			continue
		}
		switch v := line[from:to]; shapeOf(v) {
		case ident, capsID, number, date, stamp, location:
			if !seen.Within(v) {
				return false
			}
		}
	}
	return true
}
