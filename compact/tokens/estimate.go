package tokens

import (
	"strings"
	"unicode/utf8"
)

// Estimator is a Counter without a vocabulary. The zero value estimates for o200k_base; see
// ForModel.
type Estimator struct {
	// Encoding selects the table of costs.
	Encoding Encoding
	// Factor scales the result; 0 means 1. A caller sets it if it learns from reported usage
	// how far the estimate is off.
	Factor float64
}

// milli is a charge in thousandths of a token.
type milli = int64

// Count implements Counter. It reads each byte once. An invalid byte costs as much as a
// character of an unknown script.
func (e Estimator) Count(text string) int {
	t := tableOf(e.Encoding)
	var sum milli
	for i := 0; i < len(text); {
		n, cost := t.piece(text, i)
		sum += cost
		i += n
	}
	if e.Factor > 0 {
		sum = milli(float64(sum) * e.Factor)
	}
	return int((sum + 999) / 1000)
}

// piece gives the length in bytes and the charge of the piece at i.
func (t table) piece(s string, i int) (int, milli) {
	switch c := classOf[s[i]]; c {
	case upper, lower:
		n := wordEnd(s, i)
		return n, t.word(s[i:i+n], i > 0 && (classOf[s[i-1]] == digit))
	case digit:
		n := runOf(s, i, digit)
		cost := 1000 * milli((n+2)/3)
		if i > 0 && s[i-1] == ' ' {
			cost += spaceBeforeDigit
		}
		return n, cost
	case space:
		return t.blank(s, i)
	case punct:
		return t.punctuation(s, i)
	default:
		r, n := utf8.DecodeRuneInString(s[i:])
		return n, t.rune(r)
	}
}

// wordEnd gives the length of the ASCII word at i: letters of one case, or one
// capital followed by small letters.
func wordEnd(s string, i int) int {
	j := i + 1
	for j < len(s) && classOf[s[j]] == upper && classOf[s[i]] == upper {
		j++
	}
	if capitals := j - i; capitals > 1 {
		if j < len(s) && classOf[s[j]] == lower {
			return capitals - 1 // "HTTPServer": the last capital opens the next word
		}
		return capitals
	}
	for j < len(s) && classOf[s[j]] == lower {
		j++
	}
	return j - i
}

// word charges a word. Common words are one token up to some length; capitals
// and words that touch digits (hashes, keys) break into short pieces.
func (t table) word(w string, afterDigit bool) milli {
	n := milli(len(w))
	if len(w) > 1 && classOf[w[1]] == upper {
		return 600 + n*capital
	}
	if afterDigit {
		return 1000 + max(0, n-2)*lettersInKey
	}
	return 1000 + max(0, n-freeLetters)*letter
}

// blank charges white space. One space before a word belongs to the word.
func (t table) blank(s string, i int) (int, milli) {
	n := runOf(s, i, space)
	if n == 1 && s[i] == ' ' {
		return 1, 0
	}
	cost := milli(0)
	if strings.ContainsAny(s[i:i+n], "\n\r") {
		cost += newline
	}
	if strings.IndexByte(" \t", s[i+n-1]) >= 0 {
		cost += indent
	}
	return n, cost + milli(n/64)*1000
}

// punctuation charges a run of punctuation. Rulers of one repeated character
// are cheap, mixed runs are not.
func (t table) punctuation(s string, i int) (int, milli) {
	n := runOf(s, i, punct)
	same := 1
	for same < n && s[i+same] == s[i] {
		same++
	}
	if same == n && n > 2 {
		return n, 1000 + milli(n)*1000/16
	}
	cost := mark + milli(n-1)*moreMarks
	if n == 1 && i+1 < len(s) && classOf[s[i+1]] <= lower {
		cost = markBeforeWord
	}
	return n, cost
}

func runOf(s string, i int, c class) int {
	j := i + 1
	for j < len(s) && classOf[s[j]] == c {
		j++
	}
	return j - i
}
