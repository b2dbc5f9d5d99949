package accounts

// Held returns the number of waiting calls.
func (j *Joiner) Held() int { return len(j.order) }
