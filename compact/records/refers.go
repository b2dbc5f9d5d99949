package records

import "slices"

// newest takes what an output that nobody has answered yet has to say: the lines that the
// request names, then from its beginning.
func (c *choice) newest(room int) {
	share := int(freshShare * float64(room))
	for _, named := range []bool{true, false} {
		for _, it := range c.s.items {
			if !c.s.fresh[it.place] || it.row == nil && it.kind != quoteItem || it.kind == quoteItem && c.meant[it] != named || c.taken[it] {
				continue
			}
			if n := c.cost(it); n <= share && c.used+n <= room {
				share -= n
				c.take(it)
			}
		}
	}
}

// lastLead is the line that tells what the assistant said last; nil where that stays.
func (c *choice) lastLead() *item {
	for _, it := range slices.Backward(c.s.items) {
		if it.kind == assistantItem && it.lead && !it.carried {
			return it
		}
	}
	return nil
}

// meantLines are the lines of calls and of outputs that what stays speaks of: it has an identifier that
// few of them have, or so many of their values that no other is meant.
func (c *choice) meantLines() map[*item]bool {
	const few = 2
	type use struct {
		kind  itemKind
		value int32
	}
	count := map[use]int{}
	each := func(f func(it *item, k int32)) {
		for _, it := range c.s.items {
			if it.kind != callItem && it.kind != quoteItem || it.carried {
				continue
			}
			for i, k := range it.values {
				if v := &c.s.values.all[k]; v.focus && len(v.text) > 2 && !slices.Contains(it.values[:i], k) {
					f(it, k)
				}
			}
		}
	}
	each(func(it *item, k int32) { count[use{it.kind, k}]++ })
	sums, about := map[*item]float64{}, map[*item]bool{}
	each(func(it *item, k int32) {
		n := count[use{it.kind, k}]
		sums[it] += 1 / float64(n)
		about[it] = about[it] || sums[it] >= meant || c.s.values.all[k].ident && n <= few
	})
	return about
}
