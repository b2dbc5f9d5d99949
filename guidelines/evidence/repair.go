package evidence

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"memoryd"
)

// Change is what kind of difference there is between a failed input and the next.
type Change string

// The changes.
const (
	Added      Change = "added"
	Removed    Change = "removed"
	Renamed    Change = "renamed"    // given under another name
	Retyped    Change = "retyped"    // of another JSON type
	Lowered    Change = "lowered"    // a smaller number
	Raised     Change = "raised"     // a greater one
	Recased    Change = "recased"    // upper and lower case
	Respaced   Change = "respaced"   // blanks and line breaks
	Requoted   Change = "requoted"   // quotes and punctuation
	Shortened  Change = "shortened"  // a list with fewer elements
	Lengthened Change = "lengthened" // a list with more
	Absolute   Change = "absolute"   // a path from the root
	Replaced   Change = "replaced"   // another value
	Rehosted   Change = "rehosted"   // an address on another host
	Rewritten  Change = "rewritten"  // a text of which less than half is the same
	Edited     Change = "edited"     // a text of which more than half is the same
)

// Retry counts tries and those of them that worked.
type Retry struct {
	Tries     int `json:"tries"`
	Succeeded int `json:"succeeded"`
}

func (r *Retry) note(succeeded bool) {
	r.Tries++
	if succeeded {
		r.Succeeded++
	}
}

// Repair is a change of the input after which a message was gone.
type Repair struct {
	Path string `json:"path"`
	// To is the new name of a parameter that was renamed.
	To     string `json:"to,omitempty"`
	Change Change `json:"change"`
	// Retry counts the next calls after the change; Gone counts those that did not
	// work but failed otherwise.
	Retry
	Gone int `json:"gone,omitempty"`
	Runs int `json:"runs"`
	// Bad and Good are the shortest texts of one pair.
	Bad  string `json:"bad,omitempty"`
	Good string `json:"good,omitempty"`
	// Number is the greatest (of Raised, least) number that then worked.
	Number float64 `json:"number,omitempty"`
	// Sole says that one party of several made it work.
	Sole bool `json:"sole,omitempty"`
	runs runSet
	by   backers
}

const (
	pairWithin = 6  // calls of the tool in the run between a failure and its repair
	pairPaths  = 3  // paths that may differ
	shownPair  = 80 // bytes of each side of a pair that is shown
	maxRepairs = 4  // of one cause
)

// repair pairs each failed call with the next call of its run.
func (w *window) repair(causes []*Cause) {
	found := map[*Cause]map[string]*Repair{}
	last := map[uint64][]int{} // the newest failed calls of each run
	for i := range w.obs {
		r := w.obs[i].Run
		if r == 0 {
			continue
		}
		switch before := last[r]; {
		case w.good(i):
			for _, j := range before {
				w.pair(j, i, found)
			}
			delete(last, r)
		case w.wrong(i):
			if len(before) > 0 {
				w.pair(before[len(before)-1], i, found)
			}
			last[r] = append(before[max(0, len(before)-pairWithin+1):], i)
		}
	}
	for _, c := range causes {
		for _, r := range found[c] {
			r.Sole = w.who.sole(r.by)
			if r.Runs = len(r.runs); r.Succeeded+r.Gone > 0 {
				c.Repairs = append(c.Repairs, *r)
			}
		}
		slices.SortFunc(c.Repairs, func(a, b Repair) int {
			return cmp.Or(cmp.Compare(b.Runs, a.Runs), cmp.Compare(b.Succeeded, a.Succeeded), cmp.Compare(b.Gone, a.Gone), strings.Compare(a.Path+string(a.Change), b.Path+string(b.Change)))
		})
		c.Repairs = c.Repairs[:min(len(c.Repairs), maxRepairs)]
	}
}

// pair takes in that call i followed the failed call j of its run.
func (w *window) pair(j, i int, found map[*Cause]map[string]*Repair) {
	if w.obs[i].Evaluation.State != memoryd.Judged && w.obs[i].Success {
		return
	}
	diffs := w.diff(j, i)
	if len(diffs) == 0 || len(diffs) > pairPaths {
		return
	}
	for _, c := range w.of[j] {
		gone := w.wrong(i) && !slices.Contains(w.of[i], c)
		for _, d := range diffs {
			if len(diffs) > 1 && c.Parameter != "" && d.Path != c.Parameter && d.To != c.Parameter && !within(d.Path, c.Parameter) {
				continue
			}
			key := d.Path + "\x00" + d.To + "\x00" + string(d.Change)
			if found[c] == nil {
				found[c] = map[string]*Repair{}
			}
			r := found[c][key]
			if r == nil {
				r = &Repair{Path: d.Path, To: d.To, Change: d.Change, runs: runSet{}, by: backers{}}
				found[c][key] = r
			}
			r.note(w.good(i))
			if gone {
				r.Gone++
			}
			if !w.good(i) && !gone {
				continue
			}
			r.runs[w.obs[i].Run] = true
			r.by.add(w.who.of[i])
			if w.good(i) && len(d.Bad) <= shownPair && len(d.Good) <= shownPair && d.Bad+d.Good != "" && (r.Bad+r.Good == "" || len(d.Bad+d.Good) < len(r.Bad+r.Good)) {
				r.Bad, r.Good = d.Bad, d.Good
			}
			if n, err := strconv.ParseFloat(d.Good, 64); err == nil && w.good(i) && (r.Number == 0 || d.Change == Lowered && n > r.Number || d.Change == Raised && n < r.Number) {
				r.Number = n
			}
		}
	}
}

// diff lists how the input of call b differs from that of call a.
func (w *window) diff(a, b int) []Repair {
	before, after := byPath(w.leaves[a]), byPath(w.leaves[b])
	var diffs []Repair
	var added, removed []string
	for path, old := range before {
		now, given := after[path]
		switch {
		case !given:
			removed = append(removed, path)
		case !slices.Equal(old, now):
			diffs = append(diffs, changeOf(path, old, now))
		}
	}
	for path := range after {
		if _, given := before[path]; !given {
			added = append(added, path)
		}
	}
	slices.Sort(added)
	slices.Sort(removed)
	for _, r := range removed {
		at := slices.IndexFunc(added, func(p string) bool { return slices.Equal(before[r], after[p]) })
		if at >= 0 {
			diffs = append(diffs, Repair{Path: r, To: added[at], Change: Renamed})
			added = slices.Delete(added, at, at+1)
			continue
		}
		diffs = append(diffs, Repair{Path: r, Change: Removed})
	}
	for _, p := range added {
		diffs = append(diffs, Repair{Path: p, Change: Added})
	}
	slices.SortFunc(diffs, func(x, y Repair) int { return strings.Compare(x.Path, y.Path) })
	return diffs
}

func byPath(leaves []leafValue) map[string][]leafValue {
	m := map[string][]leafValue{}
	for _, l := range leaves {
		m[l.path] = append(m[l.path], l)
	}
	return m
}

// changeOf types the difference between the values at one path.
func changeOf(path string, old, now []leafValue) Repair {
	r := Repair{Path: path, Change: Replaced}
	if len(old) != len(now) {
		if r.Change = Lengthened; len(now) < len(old) {
			r.Change = Shortened
		}
		return r
	}
	for i := range old {
		if old[i] == now[i] {
			continue
		}
		a, b := old[i], now[i]
		r.Bad, r.Good = a.text, b.text
		switch {
		case a.kind != b.kind:
			r.Change = Retyped
		case a.kind == '0':
			x, _ := strconv.ParseFloat(a.text, 64)
			y, _ := strconv.ParseFloat(b.text, 64)
			if r.Change = Raised; y < x {
				r.Change = Lowered
			}
		default:
			r.Change = textChange(a.text, b.text)
		}
		break
	}
	return r
}

func textChange(a, b string) Change {
	switch {
	case hostOf(a) != "" && hostOf(b) != "" && hostOf(a) != hostOf(b):
		return Rehosted
	case strings.EqualFold(a, b):
		return Recased
	case strings.Join(strings.Fields(a), "") == strings.Join(strings.Fields(b), ""):
		return Respaced
	case letters(a) == letters(b):
		return Requoted
	case strings.HasPrefix(b, "/") && strings.HasSuffix(b, strings.TrimPrefix(a, "./")):
		return Absolute
	case !strings.ContainsRune(a, ' ') && !strings.ContainsRune(b, ' '):
		return Replaced
	}
	wa, wb := strings.Fields(a), strings.Fields(b)
	same := 0
	for _, x := range wa {
		if slices.Contains(wb, x) {
			same++
		}
	}
	if 2*same >= max(len(wa), len(wb)) {
		return Edited
	}
	return Rewritten
}

// letters is a text without its punctuation and blanks.
func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, s)
}

// unchanged counts the calls that repeated a failed one of their run as it was, at
// any time, and their runs.
func (w *window) unchanged() (r Retry, runs int) {
	seen := runSet{}
	failedBefore := map[uint64]map[uint64]bool{}
	for i := range w.obs {
		run := w.obs[i].Run
		if run == 0 {
			continue
		}
		key := w.obs[i].Same
		if key == 0 {
			key = hashOf("input", string(w.obs[i].Input))
		}
		if failedBefore[run][key] && w.obs[i].Evaluation.State == memoryd.Judged {
			r.note(w.good(i))
			seen[run] = true
		}
		if w.wrong(i) {
			if failedBefore[run] == nil {
				failedBefore[run] = map[uint64]bool{}
			}
			failedBefore[run][key] = true
		}
	}
	return r, len(seen)
}
