package facts

import "math"

// use says how the facts that share a label, a form or a kind were used so far.
type use struct {
	all    int   // facts
	passed int   // those that a call passed
	seen   int   // appearances of all
	passes int   // those in calls
	last   int32 // the newest place of one that was passed
	known  [2]bool
	odds   [2]float64 // without one fact that was not passed, or was, once known
}

func (u *use) add(f *Fact) {
	u.all++
	u.seen += f.total()
	if n := f.count[FromArgs]; n > 0 {
		u.passed++
		u.passes += int(n)
		u.last = max(u.last, f.last)
	}
}

// others is how many were passed without f, so that a fact is judged by the
// others only.
func (u *use) others(f *Fact) int {
	if f.count[FromArgs] > 0 {
		return u.passed - 1
	}
	return u.passed
}

// oddsOf are the log odds that one of the others was passed; where little is
// known, near those of one in twenty.
func (u *use) oddsOf(f *Fact) float64 {
	k := 0
	if f.count[FromArgs] > 0 {
		k = 1
	}
	if !u.known[k] {
		passed := u.others(f)
		u.odds[k], u.known[k] = math.Log((float64(passed)+0.1)/(float64(u.all-1-passed)+1.9)), true
	}
	return u.odds[k]
}

// form is how a value is built, such as A9 for HAT139: kinds of characters, runs
// of one kind once.
type form [12]byte

func formOf(v string) (p form) {
	n := 0
	for i := range len(v) {
		c := v[i]
		switch {
		case c >= '0' && c <= '9':
			c = '9'
		case c >= 'A' && c <= 'Z':
			c = 'A'
		case c >= 'a' && c <= 'z' || c >= 0x80:
			c = 'a'
		}
		if n > 0 && p[n-1] == c {
			continue
		}
		p[n] = c
		if n++; n == len(p) {
			break
		}
	}
	return p
}

// compare counts the use of labels, forms and kinds.
func (s *Set) compare() {
	for i := range s.facts {
		f := &s.facts[i]
		p := formOf(f.Value)
		k, ok := s.formOf[p]
		if !ok {
			k = int32(len(s.forms))
			s.formOf[p] = k
			s.forms = append(s.forms, use{})
		}
		f.form = k
		s.written[f.label].add(f)
		s.forms[k].add(f)
		s.kinds[f.shape].add(f)
	}
	for i := range s.written {
		w := &s.written[i]
		w.perValue = math.Log(ratio(w.seen, w.all))
		w.naming = flag(naming(w.text))
	}
}

func (f *Fact) total() (n int) {
	for _, k := range f.count {
		n += int(k)
	}
	return n
}

func flag(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
