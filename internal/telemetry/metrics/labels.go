package metrics

import (
	"slices"
	"sync"
)

// other is the label of everything that is not of the program's own making.
const other = "other"

// maxValues bounds the distinct values of one label.
const maxValues = 256

// routeSet is the closed set of routes. The zero value is empty.
type routeSet struct {
	mu    sync.RWMutex
	known map[string]bool
}

func (s *routeSet) add(routes []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known == nil {
		s.known = map[string]bool{}
	}
	for _, r := range routes {
		if len(s.known) < maxValues {
			s.known[r] = true
		}
	}
}

func (s *routeSet) label(route string) string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.known[route] {
		return route
	}
	return other
}

// methodLabel keeps the methods that HTTP defines for APIs.
func methodLabel(method string) string {
	switch method {
	case "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS":
		return method
	}
	return other
}

// statusLabel is the class of a status. The two that tell a client to come back
// later stand for themselves: they are what overload looks like.
func statusLabel(status int) string {
	switch {
	case status == 429:
		return "429"
	case status == 503:
		return "503"
	case status < 100 || status > 599:
		return other
	}
	return [...]string{"1xx", "2xx", "3xx", "4xx", "5xx"}[status/100-1]
}

// wordSet closes a set of words while it grows: the first maxValues pass, later
// ones are "other". The zero value is empty.
type wordSet struct {
	mu    sync.RWMutex
	known map[string]bool
}

func (s *wordSet) label(text string) string {
	s.mu.RLock()
	known := s.known[text]
	s.mu.RUnlock()
	if known {
		return text
	}
	text = word(text)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known == nil {
		s.known = map[string]bool{}
	}
	if !s.known[text] && len(s.known) >= maxValues {
		return other
	}
	s.known[text] = true
	return text
}

// maxWord is how long a label of the program's own may be.
const maxWord = 64

// word lets a word of the program's own making pass: lower-case letters, digits
// and "_", "-", ".", ":", "/". Names of models look like this too.
func word(s string) string {
	if s == "" || len(s) > maxWord {
		return other
	}
	for i := range len(s) {
		c := s[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
		case c == '_', c == '-', c == '.', c == ':', c == '/':
		default:
			return other
		}
	}
	return s
}

// oneOf keeps s if it is in the closed set.
func oneOf(s string, set ...string) string {
	if slices.Contains(set, s) {
		return s
	}
	return other
}
