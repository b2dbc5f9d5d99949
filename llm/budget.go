package llm

import "time"

// The retry budget: a tenth of the first attempts, and one per ten seconds
// whatever the traffic, so that an outage is never answered by a storm. It
// begins with a few, or a lone first request could not retry.
const (
	budgetShare = 0.1
	budgetStart = 5
	budgetMost  = 20
	budgetFloor = 10 * time.Second
)

// budget pays for retries. Not safe for concurrent use.
type budget struct {
	balance float64
	floorAt time.Time // when the floor may pay again
}

// deposit notes a first attempt.
func (b *budget) deposit() { b.balance = min(budgetMost, b.balance+budgetShare) }

// withdraw pays for one retry, or reports that it cannot.
func (b *budget) withdraw(now time.Time) bool {
	if b.balance >= 1 {
		b.balance--
		return true
	}
	if now.Before(b.floorAt) {
		return false
	}
	b.floorAt = now.Add(budgetFloor)
	return true
}
