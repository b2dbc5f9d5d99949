package compact

import "sync"

// Event is a progress event of a run.
type Event struct {
	// Type is "start", "progress", "result" or "error"; the last two end the run.
	Type string `json:"type"`
	// Done counts finished units and only grows; Total is the number of all units.
	Done  int `json:"done"`
	Total int `json:"total"`
	// TokensBefore is set at the start, TokensAfter and Reason at the end.
	TokensBefore int    `json:"tokens_before,omitempty"`
	TokensAfter  int    `json:"tokens_after,omitempty"`
	Reason       Reason `json:"reason,omitempty"`
}

// progress numbers the events of one run. Its methods may be called from several
// goroutines; events leave in order.
type progress struct {
	mu   sync.Mutex
	to   func(Event)
	done int
	all  int
}

func (p *progress) start(total, tokens int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all = total
	p.send(Event{Type: "start", Total: total, TokensBefore: tokens})
}

// units reports n further units done, one event each.
func (p *progress) units(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for range n {
		p.done++
		p.all = max(p.all, p.done)
		p.send(Event{Type: "progress"})
	}
}

func (p *progress) end(res Result, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil {
		p.send(Event{Type: "error"})
		return
	}
	p.send(Event{Type: "result", TokensAfter: res.Report.TokensAfter, Reason: res.Reason})
}

func (p *progress) send(e Event) {
	if p.to != nil {
		e.Done, e.Total = p.done, p.all
		p.to(e)
	}
}
