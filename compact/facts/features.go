package facts

import (
	"math"
	"strings"
)

// featureCount is how many numbers describe a fact.
const featureCount = 43

// features describe a fact; hiddenWeights names each.
func (s *Set) features(f *Fact) [featureCount]float64 {
	total, kinds := 0, 0
	for _, n := range f.count {
		total += n
		if n > 0 {
			kinds++
		}
	}
	has := func(src Source) float64 { return flag(f.count[src] > 0) }
	args := f.count[FromArgs] > 0
	u := s.uses[f.Label]
	if args {
		u.passed--
	}
	age := math.Log1p(float64(s.end - 1 - f.last))
	look := lookOf(f.Value)
	return [featureCount]float64{
		1,
		age, math.Log1p(float64(s.end - 1 - f.first)), age * flag(args), age * flag(f.count[FromUser] > 0),
		flag(s.behindParameter(f)), math.Log((float64(u.passed) + 0.3) / (float64(u.all-1) + 1)), flag(u.passed > 0),
		has(FromArgs), math.Log1p(float64(f.count[FromArgs])), has(FromAssistant), has(FromUser), flag(f.count[FromResult]+f.count[FromLedger] > 0),
		math.Log1p(float64(f.count[FromAssistant])), math.Log1p(float64(f.count[FromUser])), math.Log1p(float64(s.end)), math.Log1p(float64(len(s.facts))),
		math.Log1p(float64(total)), math.Log1p(float64(f.spans)), math.Log1p(float64(u.all)), float64(kinds),
		math.Log1p(float64(f.crowd)), flag(f.beside), flag(f.named), flag(f.quoted), flag(naming(f.Label)),
		math.Log(float64(len(f.Value))), look.upper, look.lower, look.digits, look.clock, look.decimal, look.underscore, look.title,
		flag(f.shape == plain), flag(f.shape == joined), flag(f.shape == ident), flag(f.shape == capsID),
		flag(f.shape == number), flag(f.shape == date), flag(f.shape == location), flag(f.shape == phrase), flag(f.shape == stamp),
	}
}

// look says how a value is written.
type look struct{ upper, lower, digits, clock, decimal, underscore, title float64 }

func lookOf(v string) look {
	var up, low, dig, colon, dot int
	l := look{underscore: flag(strings.IndexByte(v, '_') > 0)}
	for _, b := range []byte(v) {
		switch {
		case b >= '0' && b <= '9':
			dig++
		case b >= 'A' && b <= 'Z':
			up++
		case b >= 'a' && b <= 'z':
			low++
		case b == ':':
			colon++
		case b == '.':
			dot++
		}
	}
	n := float64(len(v))
	l.upper, l.lower, l.digits = float64(up)/n, float64(low)/n, float64(dig)/n
	l.clock = flag(colon > 0 && up+low == 0)
	l.title = flag(up == 1 && low == len(v)-1 && v[0] <= 'Z')
	l.decimal = flag(dot > 0 && dig > 0 && up+low == 0 && colon == 0)
	return l
}

// naming reports whether a label says that its value names something.
func naming(label string) bool {
	l := strings.ToLower(label)
	for _, w := range []string{"id", "ids", "name", "number", "code", "key", "path", "file", "filename", "url", "uri", "email", "user", "date", "query", "ref", "symbol", "title"} {
		if rest, ok := strings.CutSuffix(l, w); ok && (rest == "" || rest[len(rest)-1] == '_' || rest[len(rest)-1] == '-' || len(label) > len(w) && label[len(rest)] >= 'A' && label[len(rest)] <= 'Z') {
			return true
		}
	}
	return false
}

func (s *Set) behindParameter(f *Fact) bool {
	for _, l := range f.labels {
		if s.argNames[l.label] {
			return true
		}
	}
	return false
}

func flag(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
