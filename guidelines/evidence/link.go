package evidence

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"memoryd"
	"memoryd/guidelines/constraints"
)

// link finds the parameter that a business rule is about where the message names
// none: the one whose values stand in the messages, or begin with words of it; its
// failing values may share a beginning that no good one has.
func (w *window) link(c *Cause) {
	switch c.Class {
	case constraints.Sum:
		w.short(c)
		return
	case constraints.Transport, constraints.Unreachable, constraints.BadRequest, constraints.ServerError, constraints.Robots, constraints.Address, constraints.Certificate:
		w.hosts(c)
		return
	case constraints.Unsupported, constraints.Enum, constraints.Invalid, constraints.Format, constraints.Range:
		if c.Parameter == "" {
			c.Parameter = w.voted(c, namesValue)
		}
		return
	case constraints.TooGeneric:
		if c.Parameter == "" {
			c.Parameter = w.voted(c, func(said string, l leafValue) bool {
				return l.kind == '"' && len(l.path) > 2 && hasWord(said, strings.ToLower(l.path))
			})
		}
		return
	case constraints.SQLName, constraints.Balance, constraints.SoldOut, constraints.Capacity, constraints.Stale, constraints.Forbidden, constraints.NotFound, constraints.Exists:
	default:
		return
	}
	if c.Parameter == "" {
		if c.Parameter = w.voted(c, holdsValue); c.Parameter == "" {
			w.unseen(c)
			return
		}
	}
	c.Prefix = w.prefix(c)
	w.safe(c)
	for _, i := range c.members {
		if slices.ContainsFunc(w.obs[i].Sources, func(s Source) bool { return s.Path == c.Parameter && s.Tool != "" }) {
			c.Copied++
		}
	}
}

// voted is the parameter that four of five messages of the cause point to, each in
// lower case and beside one of its values; "" when there is none.
func (w *window) voted(c *Cause, points func(said string, l leafValue) bool) string {
	votes := map[string]int{}
	for _, i := range c.members {
		said := strings.ToLower(w.obs[i].message().text)
		seen := map[string]bool{}
		for _, l := range w.leaves[i] {
			if !seen[l.path] && points(said, l) {
				seen[l.path] = true
				votes[l.path]++
			}
		}
	}
	best := ""
	for path, n := range votes {
		if n > votes[best] || n == votes[best] && (best == "" || path > best) {
			best = path
		}
	}
	if 5*votes[best] < 4*len(c.members) {
		return ""
	}
	return best
}

// holdsValue reports whether a message holds a text of the input, or the words that
// it begins with.
func holdsValue(said string, l leafValue) bool {
	return l.kind == '"' && len(l.text) >= 3 && strings.Count(l.text, " ") < 3 && (hasWord(said, strings.ToLower(l.text)) || hasWord(said, nameWords(l.text)))
}

// namesValue reports whether a message holds a value of the input right behind the
// name of its parameter, as in "language xx is not supported".
func namesValue(said string, l leafValue) bool {
	name, value := strings.ToLower(l.path[strings.LastIndexByte(l.path, '.')+1:]), strings.ToLower(l.text)
	if len(name) < 3 || value == "" || len(value) > 40 {
		return false
	}
	for rest := said; ; {
		at := strings.Index(rest, name)
		if at < 0 {
			return false
		}
		word := at == 0 || !wordByte(rest[at-1])
		rest = rest[at+len(name):]
		if after := strings.TrimLeft(rest, " :='\"`"); word && len(after) < len(rest) && strings.HasPrefix(after, value) && (len(after) == len(value) || !wordByte(after[len(value)])) {
			return true
		}
	}
}

// hosts ties trouble on the way to a host to the parameter with the address, where
// the messages name its host.
func (w *window) hosts(c *Cause) {
	votes := map[string]int{}
	for _, i := range c.members {
		for _, l := range w.leaves[i] {
			if h := hostOf(l.text); h != "" && strings.Contains(w.obs[i].Output, h) {
				votes[l.path]++
			}
		}
	}
	for path, n := range votes {
		if c.Parameter == "" && 5*n >= 4*len(c.members) && n <= len(c.members) {
			c.Parameter = path
		}
	}
}

// hostOf is the host of an address; "" for what is none.
func hostOf(s string) string {
	_, rest, found := strings.Cut(s, "://")
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		rest = rest[:end]
	}
	if !found || strings.ContainsRune(s, ' ') {
		return ""
	}
	return rest
}

// safe finds the beginning of other values of the parameter that never failed so.
func (w *window) safe(c *Cause) {
	if c.Prefix == "" {
		return
	}
	calls := map[string]int{}
	for i := range w.obs {
		for _, l := range w.leaves[i] {
			if end := strings.IndexAny(l.text, "0123456789"); l.path == c.Parameter && end >= 3 {
				calls[l.text[:end]]++
			}
		}
	}
	for prefix, n := range calls {
		if prefix != c.Prefix && strings.ContainsAny(prefix, "_-") && !strings.ContainsAny(prefix, "/.: ") && (n > c.SafeCalls || n == c.SafeCalls && prefix < c.Safe) {
			c.Safe, c.SafeCalls = prefix, n
		}
	}
}

var twoNumbers = regexp.MustCompile(`(?i)total\D{0,20}?(\d[\d.]*)\D{1,20}(\d[\d.]*)`)

// short looks for the number of the input that explains by how much amounts fell
// short of a total: the gap is always the same multiple of it, and calls without it
// have other gaps.
func (w *window) short(c *Cause) {
	type fit struct {
		runs  runSet
		calls int
	}
	fits := map[string]map[float64]*fit{}
	given := map[string]int{}
	amounts := map[string]int{}
	for _, i := range c.members {
		m := twoNumbers.FindStringSubmatch(w.obs[i].Output)
		var gap float64
		if m != nil {
			total, _ := strconv.ParseFloat(strings.TrimRight(m[1], "."), 64)
			paid, _ := strconv.ParseFloat(strings.TrimRight(m[2], "."), 64)
			gap = total - paid
		}
		for _, l := range w.leaves[i] {
			n, err := strconv.ParseFloat(l.text, 64)
			if l.kind != '0' || err != nil {
				continue
			}
			if strings.Contains(strings.ToLower(l.path), "amount") {
				amounts[l.path]++
				continue
			}
			if n <= 0 || strings.Contains(l.path, "[]") {
				continue
			}
			given[l.path]++
			if gap <= 0 {
				continue
			}
			if fits[l.path] == nil {
				fits[l.path] = map[float64]*fit{}
			}
			f := fits[l.path][gap/n]
			if f == nil {
				f = &fit{runs: runSet{}}
				fits[l.path][gap/n] = f
			}
			f.calls++
			f.runs[w.obs[i].Run] = true
		}
	}
	for path, n := range amounts {
		if 2*n > len(c.members) && (c.Parameter == "" || path < c.Parameter) {
			c.Parameter = path
		}
	}
	for path, byEach := range fits {
		for each, f := range byEach {
			if len(f.runs) >= 3 && 5*f.calls >= 4*given[path] && len(f.runs) > c.EachRuns {
				c.Each, c.EachOf, c.EachRuns = each, path, len(f.runs)
			}
		}
	}
}

// unseen ties a "not found" to the parameter whose values nearly always stood in an
// earlier answer when calls were good, and did not when these failed.
func (w *window) unseen(c *Cause) {
	if c.Class != constraints.NotFound {
		return
	}
	for _, p := range w.provenance {
		if !p.Tells() {
			continue
		}
		n := 0
		for _, i := range c.members {
			if slices.ContainsFunc(w.obs[i].Sources, func(s Source) bool { return s.Path == p.Path && s.Tool == "" }) {
				n++
			}
		}
		if 2*n > len(c.members) {
			c.Parameter = p.Path
			return
		}
	}
}

// nameWords is the beginning of an identifier up to its first digit, as words:
// "gift_card_81" gives "gift card".
func nameWords(s string) string {
	end := strings.IndexAny(s, "0123456789")
	if end <= 0 || strings.ContainsRune(s, ' ') {
		return ""
	}
	words := strings.ToLower(strings.Trim(strings.NewReplacer("_", " ", "-", " ").Replace(s[:end]), " "))
	if len(words) < 4 {
		return ""
	}
	return words
}

// prefix is the beginning, up to the first digit, that all failing values of the
// parameter share.
func (w *window) prefix(c *Cause) string {
	shared := ""
	for _, i := range c.members {
		for _, l := range w.leaves[i] {
			if l.path != c.Parameter {
				continue
			}
			end := strings.IndexAny(l.text, "0123456789")
			if end < 3 || shared != "" && l.text[:end] != shared {
				return ""
			}
			shared = l.text[:end]
		}
	}
	if !strings.ContainsAny(shared, "_-") || strings.ContainsAny(shared, "/.: ") {
		return ""
	}
	return shared
}

// follow counts the calls after the first of the cause that did what it asks for.
func (w *window) follow(c *Cause) {
	first := c.members[0]
	runs := runSet{}
	for i := first + 1; i < len(w.obs); i++ {
		ob := &w.obs[i]
		if ob.Evaluation.State != memoryd.Judged && ob.Success {
			continue
		}
		followed := false
		switch {
		case c.Class == constraints.State || c.Class == constraints.NothingYet:
			followed = ob.Prepared
		case c.Checkable():
			followed = !constraints.Broken(c.Constraint, w.input(i))
		case c.Class == constraints.NotFound && c.Parameter != "":
			followed = slices.ContainsFunc(ob.Sources, func(s Source) bool { return s.Path == c.Parameter && s.Tool != "" })
		}
		if followed {
			c.Followed.note(w.good(i))
			runs[ob.Run] = true
		}
	}
	c.FollowedRuns = len(runs)
}

// Refuted reports whether five or more calls did what the message asks for and none
// worked.
func (c *Cause) Refuted() bool { return c.Followed.Tries >= 5 && c.Followed.Succeeded == 0 }
