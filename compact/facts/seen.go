package facts

import "strings"

// Seen tells which values stand in some texts.
type Seen struct {
	tokens  map[string]bool
	phrases []string
}

// NewSeen makes an empty Seen.
func NewSeen() *Seen { return &Seen{tokens: map[string]bool{}} }

// Add notes the values of a text.
func (s *Seen) Add(text string) {
	s.phrases = append(s.phrases, text)
	for i := 0; i < len(text); {
		if separates[text[i]] {
			if text[i] == '\\' {
				i += escape(text, i)
			} else {
				i++
			}
			continue
		}
		j := i + 1
		for j < len(text) && !separates[text[j]] {
			j++
		}
		if from, to := trim(text, i, j); from < to {
			s.tokens[text[from:to]] = true
		}
		i = j
	}
}

// Has reports whether value stands in one of the texts.
func (s *Seen) Has(value string) bool {
	if s.tokens[value] {
		return true
	}
	if strings.IndexByte(value, ' ') < 0 || !s.tokens[firstToken(value)] {
		return false
	}
	for _, p := range s.phrases {
		if strings.Contains(p, value) {
			return true
		}
	}
	return false
}

// firstToken is looked up before all texts are searched for a value of several.
func firstToken(value string) string {
	i := 0
	for i < len(value) && separates[value[i]] {
		i++
	}
	j := i
	for j < len(value) && !separates[value[j]] {
		j++
	}
	from, to := trim(value, i, j)
	return value[from:to]
}

// Within reports whether value stands anywhere in the texts, as a part of a
// longer word too.
func (s *Seen) Within(value string) bool {
	if s.tokens[value] {
		return true
	}
	for _, p := range s.phrases {
		if strings.Contains(p, value) {
			return true
		}
	}
	return false
}
