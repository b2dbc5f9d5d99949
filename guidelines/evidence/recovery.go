package evidence

import (
	"cmp"
	"slices"
	"strings"

	"memoryd"
)

// Retry counts what followed failed calls: the next call of the same tool in
// the same trajectory.
type Retry struct {
	Tries     int `json:"tries"`
	Succeeded int `json:"succeeded"`
}

// Recovery is a change of the input after a failure that led to success.
type Recovery struct {
	ID string `json:"id"`
	// Error is the id of the error cluster of the failed calls, Template its
	// text.
	Error    string `json:"error"`
	Template string `json:"template"`
	// Changed are the paths that differed between the failed call and the next
	// one; everything else stayed the same.
	Changed []string `json:"changed"`
	Retry
	Trajectories int `json:"trajectories"`
	// Calls are the successful ones, Failures the ones before them.
	Calls    []memoryd.CallKey `json:"calls"`
	Failures []memoryd.CallKey `json:"failures"`
}

// maxChanged is how many paths may differ for the next call to count as another
// try of the same thing, and maxRecoveries how many recoveries are listed.
const (
	maxChanged    = 3
	maxRecoveries = 8
)

// recoveries looks at each failed call and the next call of its trajectory: what
// the change was where it was small, how often an unchanged and how often any
// changed input succeeded.
func (m *miner) recoveries(errors clusters) (worked []Recovery, repeats, changes Retry) {
	found := map[string]*Recovery{}
	spread := map[string]map[int]bool{}
	before := map[int]int{} // newest call of each trajectory, plus 1
	for i := range m.calls {
		t := m.trajectory[i]
		if t == 0 {
			continue
		}
		last := before[t] - 1
		before[t] = i + 1
		if last < 0 || errors.of[last] < 0 || !failed(&m.calls[last]) || m.calls[i].Evaluation.State != memoryd.Judged {
			continue
		}
		changed, same := m.inputs.changed(last, i)
		if len(changed) == 0 {
			repeats.note(good(&m.calls[i]))
			continue
		}
		changes.note(good(&m.calls[i]))
		if len(changed) > maxChanged || same == 0 && len(changed) > 1 {
			continue
		}
		cluster := &errors.items[errors.of[last]]
		id := itemID("recovery", append([]string{cluster.ID}, changed...)...)
		r := found[id]
		if r == nil {
			r = &Recovery{ID: id, Error: cluster.ID, Template: cluster.Template, Changed: changed}
			found[id], spread[id] = r, map[int]bool{}
		}
		r.note(good(&m.calls[i]))
		if good(&m.calls[i]) {
			spread[id][t] = true
			r.Calls = append(r.Calls, m.calls[i].Key)
			r.Failures = append(r.Failures, m.calls[last].Key)
		}
	}
	for id, r := range found {
		r.Trajectories = len(spread[id])
	}
	return ranked(found), repeats, changes
}

// ranked lists the recoveries that worked, the most successful first.
func ranked(found map[string]*Recovery) []Recovery {
	var list []Recovery
	for _, r := range found {
		if r.Succeeded > 0 {
			list = append(list, *r)
		}
	}
	slices.SortFunc(list, func(a, b Recovery) int {
		return cmp.Or(cmp.Compare(b.Succeeded, a.Succeeded), cmp.Compare(a.Tries, b.Tries), strings.Compare(a.ID, b.ID))
	})
	return list[:min(len(list), maxRecoveries)]
}

func (r *Retry) note(succeeded bool) {
	r.Tries++
	if succeeded {
		r.Succeeded++
	}
}

// changed lists the paths whose content differs between two calls, in order,
// and counts those that are equal.
func (x *inputs) changed(a, b int) (paths []string, same int) {
	other := map[int32]uint64{}
	for _, l := range x.leaves[b] {
		other[l.col] = l.hash
	}
	for _, l := range x.leaves[a] {
		h, given := other[l.col]
		delete(other, l.col)
		if given && h == l.hash {
			same++
			continue
		}
		paths = append(paths, x.columns[l.col].path)
	}
	for col := range other {
		paths = append(paths, x.columns[col].path)
	}
	slices.Sort(paths)
	return outermost(paths), same
}

// outermost drops members of paths that are in the sorted list themselves.
func outermost(paths []string) []string {
	var kept []string
	for _, p := range paths {
		if !slices.ContainsFunc(kept, func(k string) bool { return within(p, k) }) {
			kept = append(kept, p)
		}
	}
	return kept
}
