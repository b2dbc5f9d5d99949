package records

import "slices"

// newest takes what an output that nobody has answered yet has to say: the lines that the
// request names, then its beginning and its end.
func (c *choice) newest(share, room int) {
	fresh := slices.DeleteFunc(slices.Clone(c.s.items), func(it *item) bool {
		return !c.s.fresh[it.place] || it.row == nil && it.kind != quoteItem || c.s.told(it)
	})
	c.from(slices.DeleteFunc(slices.Clone(fresh), func(it *item) bool { return it.row != nil || !it.meant }), share, room)
	share -= c.from(fresh, share*2/3, room)
	slices.Reverse(fresh)
	c.from(fresh, share, room)
}

// told reports a record whose call the ledger tells.
func (s *Set) told(it *item) bool {
	return it.row != nil && it.row.keyed && s.acted[it.row.of.whole].place == it.place
}

// lastLead is the line that tells what the assistant said last; where an earlier summary is
// carried on, the newest that this one has not. nil for none, or where that text stays.
func (c *choice) lastLead() *item {
	for _, it := range slices.Backward(c.s.items) {
		if it.kind == assistantItem && it.lead && !it.carried && (c.s.again || it.place == c.s.spoke) {
			return it
		}
	}
	return nil
}

// subject is what a line is about: its record, that is the first line of that, or itself.
func (it *item) subject() *item {
	if it.row != nil {
		return it.row.units[0]
	}
	return it
}

// meant is how many values that nothing else has make it clear what is meant; few have the
// identifier that does so alone.
const meant, few = 2, 2

// findMeant finds the records and the lines of calls and outputs that what stays speaks of:
// it has an identifier that few of their kind have, or so many of their values that no
// other is meant.
func (c *choice) findMeant() {
	type use struct {
		head  *item
		kind  itemKind
		value int32
	}
	each := func(f func(subject *item, u use)) {
		had := make([]*item, len(c.s.values.all)) // who had a value last: the lines of a record stand side by side
		for _, it := range c.s.items {
			u := use{kind: it.kind}
			if it.row != nil {
				u.head = it.row.head
			} else if !it.is(callItem | quoteItem) {
				continue
			}
			subject := it.subject()
			for _, u.value = range it.values {
				if v := &c.s.values.all[u.value]; v.focus && len(v.text) > 2 && !it.stale && !it.carried && had[u.value] != subject {
					had[u.value] = subject
					f(subject, u)
				}
			}
		}
	}
	count := map[use]int{}
	each(func(_ *item, u use) { count[u]++ })
	var of *item
	sum := 0.0
	each(func(subject *item, u use) {
		if subject != of {
			of, sum = subject, 0
		}
		n := count[u]
		sum += 1 / float64(n)
		subject.meant = subject.meant || sum >= meant || c.s.values.all[u.value].ident && n <= few
	})
}
