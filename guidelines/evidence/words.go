package evidence

import "memoryd/guidelines/rules"

// words are those that the good calls of a run had, as two bits each: some others may seem to be among them.
type words [512]uint64

func (w *words) add(word uint64) {
	w[word>>6%uint64(len(w))] |= 1 << (word % 64)
	w[word>>38%uint64(len(w))] |= 1 << (word >> 32 % 64)
}

func (w *words) has(word uint64) bool {
	return w[word>>6%uint64(len(w))]&(1<<(word%64)) != 0 && w[word>>38%uint64(len(w))]&(1<<(word>>32%64)) != 0
}

// fresh lists the words of the texts of an input that the run does not know, and learns them from a good call.
func (r *run) fresh(leaves []rules.Leaf, good bool) []rules.Fresh {
	var own []uint64
	known := func(word uint64) bool { return r.known != nil && r.known.has(word) }
	list := rules.FreshOf(leaves, known, func(word uint64) { own = append(own, word) })
	if good {
		for _, word := range own {
			r.know(word)
		}
	}
	return list
}

// know learns a word; 0 is none.
func (r *run) know(word uint64) {
	if word == 0 {
		return
	}
	if r.known == nil {
		r.known = new(words)
	}
	r.known.add(word)
}
