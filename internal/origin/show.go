package origin

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"memoryd/internal/textsafe"
)

// Show writes a value of an origin for a place; it returns false if the value is not allowed
// there. limit is the maximum number of characters; Print takes 0 for none.
func Show(at Place, of Origin, value string, limit int) (string, bool) {
	switch May(at, of) {
	case Whole:
		return value, true
	case Code:
		return "`" + value + "`", isName(value)
	case Bare:
		return value, isName(value)
	case Word:
		return value, isWord(value) && len(value) <= limit
	case Size:
		return value, sizeForm.MatchString(value)
	case Masked:
		return masked(value, limit)
	case Common:
		if isSentence(value) || identifier.MatchString(value) || slices.ContainsFunc(tokens.FindAllString(value, -1), mixedCase) {
			return shape(value), true
		}
		return masked(value, limit)
	case Shape:
		return shape(value), true
	case Quoted:
		if value = textsafe.Line(value, limit); strings.Contains(value, "“") || strings.Contains(value, "”") {
			value = quotes.Replace(value)
		}
		return "“" + value + "”", value != ""
	case Print:
		if limit > 0 {
			return textsafe.Line(value, limit), true
		}
		return textsafe.Clean(value), true
	case Never:
	}
	return "", false
}

// quotes are the marks that only Quoted writes.
var quotes = strings.NewReplacer("“", `"`, "”", `"`)

// Title is a tool's name as a heading: as it is if it is one word, otherwise as code.
func Title(name string) string {
	if name == "" || utf8.RuneCountInString(name) > 64 || strings.ContainsFunc(name, outsideTitle) {
		return AsCode(name)
	}
	return name
}

// outsideTitle reports whether a character may not stand in a title as it is.
func outsideTitle(r rune) bool {
	named := unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsNumber(r) || strings.ContainsRune("_.:/[]-", r)
	return !named || unparted(r)
}

// unparted reports whether a letter is of a script that parts words by no blank.
func unparted(r rune) bool {
	return r > unicode.MaxLatin1 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai)
}

// AsCode puts a name of any form between backticks.
func AsCode(name string) string {
	return "`" + strings.ReplaceAll(textsafe.Visible(name), "`", "'") + "`"
}

// nameForm is the form of the names of tools and parameters: no blanks, and no script in
// which one needs none to write a sentence.
var nameForm = regexp.MustCompile(`^[A-Za-z0-9_.:/\[\]-]{1,64}$`)

// nameWords is of how many words a name is at most: more are a sentence.
const nameWords = 6

// isName reports whether a name may appear in a sentence of ours, as code.
func isName(s string) bool {
	return nameForm.MatchString(s) && len(partsOf(s, "_.:/-[]")) <= 2*nameWords && longest(s) <= nameWords && !hasAddress(s) && !textsafe.HasSecret(s)
}

// longest is the number of words of the longest member of a path.
func longest(path string) (n int) {
	for _, member := range partsOf(path, ".:/[]") {
		n = max(n, len(partsOf(member, "_-")))
	}
	return n
}

// partsOf is what stands between some marks.
func partsOf(s, marks string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(marks, r) })
}

// wordForm is a value that names one of few things: letters in parts, as in en-US, with a digit at the
// end at most or a short number between two of them, as in aes-256-cbc, or a number of four digits, or of
// five that is round. Others are those of an account, a postcode, an identifier or the like; mixed case is
// that of encoded bytes.
var (
	wordForm   = regexp.MustCompile(`^(?:[A-Za-z]+(?:[-_.](?:\d{1,3}[-_.])?[A-Za-z]+)*(?:[-_.]?\d)?|-?(?:\d|[1-9]\d{1,3}|[1-9]\d{0,2}00)(?:\.\d{1,3})?)$`)
	caseForm   = regexp.MustCompile(`^(?:(?:[a-z0-9]+|[A-Z0-9]+)(?:[-_.](?:[a-z0-9]+|[A-Z0-9]+))*|[A-Z][a-z0-9_.-]*|[a-z]{1,12}[A-Z][a-z]{1,11})$`)
	levelForm  = regexp.MustCompile(`^[A-Z]?[a-z]+(?:_[A-Z]?[a-z]+)?/[A-Z]?[a-z]+(?:_[A-Z]?[a-z]+)?$`) // as Europe/London
	sizeForm   = regexp.MustCompile(`^-?(?:\d{1,7}|\d{1,5}0{0,10})(?:\.\d{1,3})?$`)                    // longer ones are numbers of accounts
	domainForm = regexp.MustCompile(`[A-Za-z]\.[A-Za-z]{2,}|\.\.`)
)

// isWord reports whether a value may appear in a sentence of ours: a word of at most three
// parts and 24 letters, or a short number.
func isWord(s string) bool {
	word := wordForm.MatchString(s) && (caseForm.MatchString(s) || strings.Trim(s, "-0123456789.") == "") && !domainForm.MatchString(s)
	return len(s) <= 24 && (word || levelForm.MatchString(s)) && len(partsOf(s, "_-./")) <= 3
}

// masked makes foreign text fit to stand where it is marked as such: visible, on one line,
// without addresses, secrets and markup.
func masked(s string, limit int) (string, bool) {
	s = textsafe.Visible(textsafe.Head(s, 8*limit+64))
	s = maskAddresses(textsafe.MaskStrict(s))
	s = numbered.ReplaceAllStringFunc(strings.NewReplacer("`", "'", "<", "‹", ">", "›").Replace(s), shape)
	s = strings.TrimSpace(textsafe.Line(person.ReplaceAllString(s, "$1…"), limit))
	return s, s != ""
}

// identifier is a value that tells one of many apart: with a word of three digits or more, or of capitals and digits, as of an
// account, an order or a flight; with a capitalised word before another or a number, or a mark before a word, as of a person or a street.
var identifier = regexp.MustCompile(`\d[\p{L}_-]*\d[\p{L}_-]*\d|[A-Z]\d[A-Z0-9.]{2}|\d[A-Z][A-Z0-9]{2}|\p{Lu}\p{Ll}+,? (?:\p{Lu}\p{Ll}|\d)|[@#]\w`)

// isSentence reports whether a value has more than three words; where a script parts them by no blank, three characters are one.
func isSentence(s string) bool {
	n := 0
	for _, r := range s {
		if unparted(r) {
			n++
		}
	}
	return len(strings.Fields(s))+n/3 > 3
}

// tokens are long runs of letters and digits. One that mixes cases as no name does is encoded.
var tokens = regexp.MustCompile(`[A-Za-z0-9]{20,}`)

func mixedCase(token string) bool { return !caseForm.MatchString(token) }

// numbered is what tells one of many apart within a message, whose small numbers say what is wrong: a name with a number, a word
// with six digits, or eight digits in parts, as of an account, a card, a telephone or a birth date.
var numbered = regexp.MustCompile(`\b\pL+[_-]\pL+[_-]\d{4,}|\b[\pL_-]+(?:\d[\pL_-]*){6,}|(?:\d[\pL_-]*){6,}\pL[\pL\d_-]*|[+(]?\d(?:[ ()./-]{0,2}\d){7,}`)

// person is the name of one within a sentence.
var person = regexp.MustCompile(`(\p{Ll},? )\p{Lu}\p{Ll}+(?:-\p{Lu}\p{Ll}+)?,? \p{Lu}\p{Ll}+`)

var (
	isoDate = regexp.MustCompile(`^\d{4}-\d\d-\d\d$`)
	isoTime = regexp.MustCompile(`^\d{4}-\d\d-\d\d([ T])\d\d:\d\d:\d\d(Z?)$`)
	digits  = regexp.MustCompile(`^\d{6,}$`)
)

// shape tells how a value is written that is not shown.
func shape(v string) string {
	switch {
	case isoDate.MatchString(v):
		return "<date YYYY-MM-DD>"
	case isoTime.MatchString(v):
		return isoTime.ReplaceAllString(v, "<time YYYY-MM-DD${1}HH:MM:SS${2}>")
	case digits.MatchString(v):
		return "<" + strconv.Itoa(len(v)) + " digits>"
	}
	return "…"
}
