package rules

import "slices"

// rank is the place of a tool among those that answered well before in the run, the newest first;
// of one that did not, the place after all.
func (r *row) rank(tool string) int {
	at := slices.IndexFunc(r.Newest, func(at uint8) bool { return int(at) < len(r.Before) && r.Before[at] == tool })
	if at < 0 {
		return len(r.Newest)
	}
	return at
}

// renewals are the hypotheses that a tool has to be called again once another one, or this tool, was: what it
// answered holds no longer.
func (s *search) renewals() (out []hypothesis) {
	var tools []string
	for i := range s.rows {
		for _, tool := range s.rows[i].Before {
			if tool != s.own && len(tools) < maxPaths && !slices.Contains(tools, tool) && tellable(tool) {
				tools = append(tools, tool)
			}
		}
	}
	for _, tool := range tools {
		for _, other := range append(tools, s.own) {
			if tool != other {
				out = append(out, hypothesis{what: notAgain, tool: tool, set: []string{other}})
			}
		}
	}
	return out
}
