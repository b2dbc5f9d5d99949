package facts

// label is a word or name that values stand behind, as it was read.
type label struct {
	text string
	id   int32 // in labels.list, 0 until it is asked for
}

// String is the label's text, "" for none.
func (l *label) String() string {
	if l == nil {
		return ""
	}
	return l.text
}

// labels numbers the labels of a Set.
type labels struct {
	list []labelInfo // the first is none
	ids  map[string]int32
}

type labelInfo struct {
	text    string
	written int32 // in Set.written, what is written for it
	param   bool  // it is the name of a parameter
}

func (ls *labels) clear() {
	ls.list = append(ls.list[:0], labelInfo{})
	ls.ids = emptied(ls.ids)
}

// id looks a label up once; new ones get the next number.
func (ls *labels) id(l *label) int32 {
	if l.id > 0 {
		return l.id
	}
	k, ok := ls.ids[l.text]
	if !ok {
		k = int32(len(ls.list)) //nolint:gosec // as many as there are tokens at most
		ls.ids[l.text] = k
		ls.list = append(ls.list, labelInfo{text: l.text})
	}
	l.id = k
	return k
}

// behind says that a fact stood behind a label, how often, and whether it ever
// stood there as the value of a member. next is the fact's next label.
type behind struct {
	label, n, next int32
	keyed          bool
}

// maxLabels bounds the labels that are noted of one fact.
const maxLabels = 6

// stoodBehind counts an appearance of f behind a label.
func (s *Set) stoodBehind(f *Fact, label int32, keyed bool) {
	for at := f.labels; at != 0; at = s.behind[at].next {
		if b := &s.behind[at]; b.label == label {
			b.n++
			b.keyed = b.keyed || keyed
			return
		}
	}
	if f.behind == maxLabels {
		return
	}
	at := int32(len(s.behind)) //nolint:gosec // as many as there are tokens at most
	s.behind = append(s.behind, behind{label: label, n: 1, keyed: keyed})
	if f.behind == 0 {
		f.labels = at
	} else {
		s.behind[f.newest].next = at
	}
	f.newest = at
	f.behind++
}

// standsBehind reports whether the fact stood behind the name of a parameter, and
// whether it was the value of a member.
func (s *Set) standsBehind(f *Fact) (param, keyed bool) {
	for at := f.labels; at != 0; at = s.behind[at].next {
		b := &s.behind[at]
		param = param || s.names.list[b.label].param
		keyed = keyed || b.keyed
	}
	return param, keyed
}

// written is a label as it is written, which several labels may share, and how its
// facts were used.
type written struct {
	use
	text     string
	mass     int
	perValue float64 // appearances for a value, log
	naming   float64 // 1 when it says that its values name something
}

// write decides what is written for each label, and gives what is written where
// there is none.
func (s *Set) write() (none int32) {
	s.places = emptied(s.places)
	place := func(text string) int32 {
		k, ok := s.places[text]
		if !ok {
			k = int32(len(s.written)) //nolint:gosec // not more than labels
			s.places[text] = k
			s.written = append(s.written, written{text: text})
		}
		return k
	}
	none = place(other)
	for i := range s.names.list[1:] {
		l := &s.names.list[i+1]
		l.written = place(labelText(l.text))
		l.param = s.argNames[l.text]
	}
	return none
}
