package facts

import "math"

// use says how the facts that share a label, a form or a kind were used so far.
type use struct {
	all    int // facts
	passed int // those that a call passed
	seen   int // appearances of all
	passes int // those in calls
	last   int // the newest place of one that was passed
}

func (u *use) add(f *Fact) {
	u.all++
	u.seen += f.total()
	if n := f.count[FromArgs]; n > 0 {
		u.passed++
		u.passes += n
		u.last = max(u.last, f.last)
	}
}

// without leaves f out, so that a fact is judged by the others only.
func (u *use) without(f *Fact) use {
	v := *u
	v.all--
	if f.count[FromArgs] > 0 {
		v.passed--
	}
	return v
}

// odds are the log odds that a fact was passed; where little is known, near those
// of one in twenty.
func (u use) odds() float64 {
	return math.Log((float64(u.passed) + 0.1) / (float64(u.all-u.passed) + 1.9))
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
	labels, forms := map[string]*use{}, map[form]*use{}
	for i := range s.facts {
		f := &s.facts[i]
		f.label, f.form = of(labels, f.Label), of(forms, formOf(f.Value))
		f.label.add(f)
		f.form.add(f)
		s.kinds[f.shape].add(f)
	}
}

func of[K comparable](m map[K]*use, k K) *use {
	u := m[k]
	if u == nil {
		u = new(use)
		m[k] = u
	}
	return u
}

func (f *Fact) total() (n int) {
	for _, k := range f.count {
		n += k
	}
	return n
}

// keyed reports whether the fact stood behind the name of a member.
func (f *Fact) keyed() bool {
	for _, l := range f.labels {
		if l.keyed {
			return true
		}
	}
	return false
}

func (s *Set) behindParameter(f *Fact) bool {
	for _, l := range f.labels {
		if s.argNames[l.label] {
			return true
		}
	}
	return false
}

func flag(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
