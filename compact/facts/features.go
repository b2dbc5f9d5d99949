package facts

import (
	"math"
	"strings"
)

// FeatureCount is how many numbers describe a fact.
const FeatureCount = 65

// Features describe a fact to the Weights. They compare it with the rest of its
// conversation: with what calls passed so far of the same label, form and kind. No
// feature knows a tool, a label or a value by name, but for a few words that name
// things in every program (naming).
type Features [FeatureCount]float64

// FeatureNames says what each feature is, in the order of Features.
//
//nolint:gochecknoglobals // a constant table
var FeatureNames = [FeatureCount]string{
	"passed before", "times passed, log", "share of its appearances in calls, log", "passed, behind a parameter's name", "passed, known from a tool", "passed, stood in one text only",
	"written by the model", "written by a user", "given by a tool", "times by the model, log", "times by a user, log", "kinds of sources",
	"by a user, more than a word", "by the model, more than a word", "a tool's, repeated by the model, not passed",
	"age, log", "age of the first place, log", "age, share", "age of the first place, share", "age when passed before", "age when a user wrote it", "of the newest messages", "of the newest messages, passed",
	"behind a parameter's name", "behind a parameter's name, only from tools", "others of its label passed, odds", "others of its label passed", "values of its label, log",
	"share of its label's appearances", "appearances for a value of its label, log", "share of its label's passes", "its label names something", "newer than what was passed of its label",
	"others of its form passed, odds", "others of its kind passed, odds",
	"appearances, log", "texts, log", "texts, share of the log", "texts, share", "texts, share, of a word",
	"facts of its smallest text, log", "the same, only from tools", "beside what was passed or a user named", "names a member", "quoted", "behind a member's name", "a word behind a member's name",
	"length, log", "share of capitals", "share of small letters", "share of digits", "a time of day", "a decimal number", "has an underscore", "a capital before small letters",
	"a word or joined words", "a word", "joined words", "letters and digits", "capitals", "a number", "a date", "has a slash", "several words", "a date with a time",
}

// features describe a fact once everything was seen.
func (s *Set) features(f *Fact) Features {
	label, form, kind := &s.written[f.label], &s.forms[f.form], &s.kinds[f.shape]
	total, kinds := f.total(), 0
	for _, n := range f.count {
		kinds += int(flag(n > 0))
	}
	passes := int(f.count[FromArgs])
	passed, byModel, byUser := flag(passes > 0), flag(f.count[FromAssistant] > 0), flag(f.count[FromUser] > 0)
	byTool := flag(f.count[FromResult]+f.count[FromLedger] > 0)
	older, oldest := s.end-1-int(f.last), s.end-1-int(f.first)
	age, first := float64(older), float64(oldest)
	logAge := log1p(older)
	end, texts := float64(max(1, s.end)), float64(f.spans)/float64(max(1, s.span))
	isParam, isKeyed := s.standsBehind(f)
	param, newest := flag(isParam), flag(age <= newestPlaces)
	crowd := log1p(int(f.crowd))
	logTotal, logSpans, logPasses := log1p(total), log1p(int(f.spans)), log1p(passes)
	word, wordy := flag(f.shape == plain), flag(f.shape <= joined)
	keyed := flag(isKeyed)
	l := lookOf(f.Value)
	onlyTools := (1 - passed) * (1 - byUser)
	return Features{
		passed, logPasses, logPasses - logTotal, passed * param, passed * flag(f.count[FromResult] > 0), passed * flag(f.spans == 1),
		byModel, byUser, byTool, log1p(int(f.count[FromAssistant])), log1p(int(f.count[FromUser])), float64(kinds),
		byUser * (1 - word), byModel * (1 - word), byModel * (1 - passed) * flag(f.count[FromResult] > 0),
		logAge, log1p(oldest), age / end, first / end, logAge * passed, logAge * byUser, newest, newest * passed,
		param, param * onlyTools, label.oddsOf(f), flag(label.others(f) > 0), log1p(label.all),
		ratio(total, label.seen), label.perValue, ratio(passes, label.passes), label.naming, flag(passes == 0 && label.passed > 0 && f.last >= label.last),
		form.oddsOf(f), kind.oddsOf(f),
		logTotal, logSpans, logSpans / log1p(s.span), texts, texts * wordy,
		crowd, crowd * onlyTools, flag(f.beside), flag(f.named), flag(f.quoted), keyed, keyed * wordy,
		logLength(len(f.Value)), l.upper, l.lower, l.digits, l.clock, l.decimal, l.underscore, l.title,
		wordy, word, flag(f.shape == joined), flag(f.shape == ident), flag(f.shape == capsID), flag(f.shape == number), flag(f.shape == date), flag(f.shape == location), flag(f.shape == phrase), flag(f.shape == stamp),
	}
}

// newestPlaces is how many messages count as the newest.
const newestPlaces = 4

func log1p(n int) float64 {
	if uint(n) < uint(len(logs)) {
		return logs[n]
	}
	return math.Log1p(float64(n))
}

// logs holds log1p of small numbers.
//
//nolint:gochecknoglobals // a constant table
var logs = func() (t [512]float64) {
	for n := range t {
		t[n] = math.Log1p(float64(n))
	}
	return t
}()

func logLength(n int) float64 {
	if n < len(lengthLogs) {
		return lengthLogs[n]
	}
	return math.Log(float64(n))
}

//nolint:gochecknoglobals // a constant table
var lengthLogs = func() (t [maxValue + 8]float64) {
	for n := range t {
		t[n] = math.Log(float64(n))
	}
	return t
}()

func ratio(n, of int) float64 { return float64(n) / float64(max(1, of)) }

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
