package rules

import (
	"math"
	"slices"
	"strings"
)

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

// count is how many good calls of a tool the run had before; false where that is not known.
func (r *row) count(tool string) (n float64, known bool) {
	at := slices.Index(r.Before, tool)
	if at < 0 {
		return 0, r.Named && len(r.Before) == len(r.Counts) && len(r.Before) < MaxBefore
	}
	if at >= len(r.Counts) || r.Counts[at] == math.MaxUint8 {
		return 0, false
	}
	return float64(r.Counts[at]), true
}

// indexes are the hypotheses that a number is no index of what the calls of another tool made, from 0 or from 1: of a
// tool that has a word of the parameter's name, as add_table and table_index. Others are too many to try.
func (c *column) indexes(tools []hypothesis) (out []hypothesis) {
	if !c.numeric || len(c.nums) < minGood {
		return nil
	}
	words := wordsOfName(c.name)
	for i := range tools {
		if !slices.ContainsFunc(wordsOfName(tools[i].tool), func(w string) bool { return slices.Contains(words, w) }) {
			continue
		}
		for _, from := range [...]float64{1, 0} {
			out = append(out, hypothesis{what: offIndex, p: c.name, tool: tools[i].tool, bound: from})
		}
	}
	return out
}

// wordsOfName are the words of a name, in small letters.
func wordsOfName(name string) []string { return wordsIn(strings.ReplaceAll(snake(name), "_", " ")) }
