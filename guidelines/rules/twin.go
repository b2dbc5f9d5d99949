package rules

import (
	"slices"
	"strings"
)

// twin names in a line another parameter whose condition held for the same calls and no others: which of
// the two is to blame, the calls do not tell. Messages may; but what was missing is told with what they name.
func (s *search) twin(top *candidate, behind []*row, line string) string {
	if s.hints || top.p == "" || top.paired() || s.boundIn(behind[0].kind, top) {
		return line
	}
	told := s.told(behind[0].kind)
	for i := range s.all {
		c := &s.all[i]
		innocent := told[top.p] && !told[c.p]
		switch {
		case !c.besides(top), !slices.Equal(c.meets, top.meets):
			continue
		case top.what <= with && c.what <= with && c.what != top.what: // the one has the other's name
			give, not := top.p, c.p
			if top.what == with {
				give, not = not, give
			}
			return "Give " + strings.NewReplacer("` and `", "`, not `", "` in each", "`, in each").Replace(spoken(give, not))
		case top.what == without && c.what == without, top.what == with && c.what == with && !innocent:
			both := strings.NewReplacer("{p}", spoken(top.p, c.p), "{narrow}", "").Replace(conditions[top.what].line)
			return top.guard.line(both)
		case innocent:
			continue
		}
		other := Rule{when: c.hypothesis}
		if other.write(s, behind); other.Line != "" {
			return line + ", and " + strings.ToLower(other.Line[:1]) + other.Line[1:]
		}
	}
	return line
}

// besides reports whether a condition may be told beside another one.
func (c *candidate) besides(top *candidate) bool {
	return c.p != "" && !c.isOf(top) && !c.paired() && c.what <= notIn && (!c.property() || top.property())
}

// isOf reports whether the condition is about the parameter that another one is about, or a member of it.
func (h *hypothesis) isOf(top *candidate) bool {
	of, _ := base(top.p)
	p, _ := base(h.p)
	return h.p == top.p || top.ofType() && p == of || within(p, of)
}

// within reports whether a path is that of a member or an element of what is at another one.
func within(path, of string) bool {
	return strings.HasPrefix(path, of+".") || strings.HasPrefix(path, of+"[")
}
