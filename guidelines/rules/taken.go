package rules

import "strings"

// By whom a value was given before, in a call that went well.
const (
	byAnyRun = 1 + iota
	byItsRun
)

// gave is a value of a parameter, in a run where it is not 0.
type gave struct {
	path, text string
	run        uint64
}

// repeats notes which values of calls (oldest first) an earlier good call gave.
func repeats(rows []row) {
	before := map[gave]bool{}
	for i := range rows {
		r := &rows[i]
		for path, v := range r.in {
			if v.kind != text && v.kind != number || strings.ContainsAny(path, "#[") {
				continue
			}
			any, own := gave{path, v.text, 0}, gave{path, v.text, r.run()}
			if before[any] {
				r.take(path, r.Named && before[own])
			}
			if !r.Bad {
				if before[any] = true; r.Named {
					before[own] = true
				}
			}
		}
	}
}

func (r *row) take(path string, inRun bool) {
	if r.taken == nil {
		r.taken = map[string]int{}
	}
	if r.taken[path] = byAnyRun; inRun {
		r.taken[path] = byItsRun
	}
}

// After notes an input of a good call of the same tool earlier in the run.
func (p *Planned) After(leaves []Leaf) {
	for i := range leaves {
		l := &leaves[i]
		if v := p.row.in[l.Path]; (v.kind == text || v.kind == number) && l.Scalar() && v.text == l.Text {
			p.row.take(l.Path, true)
		}
	}
}

// takens are the hypotheses that a value was given before.
func (s *search) takens(c *column) (out []hypothesis) {
	for at, w := range [...]what{taken, takenInRun} {
		bad := 0
		for i := range s.rows {
			if s.rows[i].Bad && s.rows[i].taken[c.name] > at {
				bad++
			}
		}
		if bad >= leastBad && len(given(s.rows, c.name)) >= leastValues {
			out = append(out, hypothesis{what: w, p: c.name})
		}
	}
	return out
}

// leastValues is how many values of good calls show that each was new.
const leastValues = 3

// given are the values that good calls gave for a parameter.
func given(rows []row, p string) map[string]bool {
	out := map[string]bool{}
	for i := range rows {
		if v := rows[i].in[p]; !rows[i].Bad && v.kind != absent {
			for s := range v.parts() {
				out[s] = true
			}
		}
	}
	return out
}
