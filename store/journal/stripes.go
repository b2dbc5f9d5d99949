package journal

import (
	"hash/maphash"
	"slices"
	"sync"

	"memoryd"
)

// stripes are locks that keep the operations on a tool in one order, in the
// journal and in the local copy, without holding up those on other tools.
type stripes struct {
	seed  maphash.Seed
	locks [64]sync.Mutex
}

// lock locks the tools, or everything if one of them is a whole workspace. What
// it gives unlocks them.
func (s *stripes) lock(refs []memoryd.ToolRef) (unlock func()) {
	var at []int
	for _, ref := range refs {
		if ref.Tool == "" {
			at = at[:0]
			for i := range s.locks {
				at = append(at, i)
			}
			break
		}
		at = append(at, int(maphash.Comparable(s.seed, ref)%uint64(len(s.locks))))
	}
	slices.Sort(at)
	at = slices.Compact(at)
	for _, i := range at {
		s.locks[i].Lock()
	}
	return func() {
		for _, i := range at {
			s.locks[i].Unlock()
		}
	}
}
