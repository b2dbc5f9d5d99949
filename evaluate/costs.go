package evaluate

import (
	"sync"

	"memoryd"
)

// bills holds what calls cost in tries that failed, until they get an evaluation. It
// lasts as long as the process, and holds so many calls at most: a bill that is
// lost is missing from its call's cost, not from the ledger.
type costs struct {
	mu   sync.Mutex
	open map[jobID]memoryd.Cost
}

const maxBills = 50_000

func newCosts() *costs { return &costs{open: map[jobID]memoryd.Cost{}} }

// add puts a cost on the call's bill.
func (b *costs) add(id jobID, c memoryd.Cost) {
	if c == (memoryd.Cost{}) {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, ok := b.open[id]; !ok && len(b.open) >= maxBills {
		for other := range b.open { // any one
			delete(b.open, other)
			break
		}
	}
	b.open[id] = b.open[id].Add(c)
}

// close gives the call's bill and forgets it.
func (b *costs) close(id jobID) memoryd.Cost {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := b.open[id]
	delete(b.open, id)
	return c
}

// maxTokens is more than any request has; a server that counts more is not
// believed.
const maxTokens = 10_000_000

// shares divides the cost of one request among n calls: equal parts of the
// request, and tokens that add up to the whole.
func shares(u memoryd.Usage, n int) []memoryd.Cost {
	part := func(whole, i int) int64 {
		w := int64(min(max(0, whole), maxTokens))
		return w*int64(i+1)/int64(n) - w*int64(i)/int64(n)
	}
	list := make([]memoryd.Cost, n)
	for i := range list {
		list[i] = memoryd.Cost{
			Requests: 1 / float64(n), PromptTokens: part(u.PromptTokens, i), CompletionTokens: part(u.CompletionTokens, i),
		}
	}
	return list
}
