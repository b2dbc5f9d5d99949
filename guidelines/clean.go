package guidelines

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// visible drops what cannot be seen or deceives the eye: control characters,
// joiners, direction marks, variation selectors, tags, fillers, private use and
// noncharacters. White space of any kind becomes one blank.
func visible(s string) string {
	var b strings.Builder
	gap := false
	for _, r := range strings.ToValidUTF8(s, " ") {
		switch {
		case unicode.IsSpace(r):
			gap = true
			continue
		case hidden(r):
			continue
		}
		if gap && b.Len() > 0 {
			b.WriteByte(' ')
		}
		gap = false
		b.WriteRune(r)
	}
	return b.String()
}

// hasHidden reports whether s holds anything that visible would drop, apart from
// line breaks and tabs.
func hasHidden(s string) bool {
	return !utf8.ValidString(s) || strings.IndexFunc(s, func(r rune) bool { return hidden(r) && r != '\n' && r != '\t' && r != '\r' }) >= 0
}

// hidden reports whether r is invisible or deceptive: categories Cc, Cf and Co
// of Unicode, noncharacters, and the fillers and selectors that other categories
// hold.
func hidden(r rune) bool {
	switch {
	case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Variation_Selector, unicode.Noncharacter_Code_Point),
		r == 0x034F, r == 0x115F, r == 0x1160, r == 0x17B4, r == 0x17B5, r == 0x3164, r == 0xFFA0,
		r >= 0x180B && r <= 0x180F, r >= 0x2028 && r <= 0x2029, r >= 0x2060 && r <= 0x206F, r >= 0xFFF0 && r <= 0xFFFB,
		r >= 0xE0000 && r <= 0xE0FFF:
		return true
	}
	return false
}

// fold makes look-alikes equal before patterns are matched: lower case, full
// width and the Cyrillic and Greek letters that pass for Latin ones, without
// combining marks.
func fold(s string) string {
	return strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf && r >= ' ' {
			return unicode.ToLower(r)
		}
		if r >= 0xFF01 && r <= 0xFF5E {
			r -= 0xFEE0
		}
		if unicode.Is(unicode.Mn, r) || hidden(r) && !unicode.IsSpace(r) {
			return -1
		}
		r = unicode.ToLower(r)
		if i := strings.IndexRune(lookalikes, r); i >= 0 {
			return rune(lookedLike[utf8.RuneCountInString(lookalikes[:i])])
		}
		return r
	}, s)
}

// lookalikes stand for the Latin letters at the same places of lookedLike.
const (
	lookalikes = "аеорсухіјѕԁһԛԝνοραικτυχεñıłøéèêëáàâäíìîïóòôöúùûüçß"
	lookedLike = "aeopcyxijsdhqwvopaiktuxenilo" + "eeeeaaaaiiiioooouuuucs"
)

var (
	address = regexp.MustCompile(`(?i)\b[a-z][a-z0-9+.-]{1,15}://[^\s"'<>)\]]*|\bwww\.[^\s"'<>)\]]+|\bdata:[a-z]+/[^\s"']+|\bjavascript:\S*`)
	// hostName finds bare host names under common endings.
	hostName = regexp.MustCompile(`(?i)\b(?:[a-z0-9-]+\.)+(?:com|org|net|io|dev|ai|app|xyz|biz|ru|cn|gg|site|online|tk)\b(?:/[^\s"'<>)\]]*)?`)
	email    = regexp.MustCompile(`[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\.[A-Za-z]{2,}`)
	ipv4     = regexp.MustCompile(`\b\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}(?::\d+)?\b`)
)

// hasAddress reports whether s leads anywhere outside.
func hasAddress(s string) bool {
	return address.MatchString(s) || hostName.MatchString(s) || email.MatchString(s) || ipv4.MatchString(s)
}

// withoutAddresses names what stood there instead.
func withoutAddresses(s string) string {
	s = address.ReplaceAllString(s, "URL")
	s = email.ReplaceAllString(s, "EMAIL")
	s = ipv4.ReplaceAllString(s, "HOST")
	return hostName.ReplaceAllString(s, "HOST")
}

// quotable makes a text from a call fit to stand, in quotation marks, in a
// guideline: visible, on one line, without addresses, secrets and markup, at
// most limit characters. It is false when nothing may be shown.
func quotable(s string, limit int) (string, bool) {
	s = visible(s[:min(len(s), 8*limit+64)])
	if reads, _ := instructive(s); reads {
		return "", false
	}
	s = withoutAddresses(maskSecrets(s))
	s = strings.NewReplacer("`", "'", `"`, "'", "<", "‹", ">", "›").Replace(s)
	if utf8.RuneCountInString(s) > limit {
		r := []rune(s)
		s = strings.TrimSpace(string(r[:limit-1])) + "…"
	}
	return s, s != ""
}

// code is quotable for names: it stands between backticks.
func code(s string) string {
	q, ok := quotable(s, 60)
	if !ok {
		return "(name withheld)"
	}
	return "`" + q + "`"
}
