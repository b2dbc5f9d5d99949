package textsafe

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"memoryd/internal/phrases"
)

// pattern is a family of texts that try to steer their reader.
type pattern struct {
	name string
	re   *regexp.Regexp
	need phrases.Need
}

// family makes a pattern of folded text: lower case, so that its literals are what the
// text itself must hold.
func family(name, re string) pattern {
	return pattern{name, regexp.MustCompile(re), phrases.NeedOf(re)}
}

// steering are the families that have no place in advice at all, whoever wrote
// it. They are matched against the folded text.
var steering = []pattern{
	family("override", `\b(ignore|disregard|forget|override|bypass|skip|overlook|discard|neglect)\b.{0,40}\b(previous|prior|above|earlier|preceding|existing|all|any|every|these|your|the|safety)\b.{0,40}\b(instruction|rule|prompt|guideline|polic|message|context|restriction|check|direction|guardrail|told)`),
	family("system prompt", `\b(system|developer|hidden|initial|original)[ -](prompt|message|instruction|note)`),
	family("new role", `\b(you are now|from now on|act as (a|an|the|if)|pretend (to|that|you)|roleplay|jailbreak|developer mode|do anything now|new (instruction|task|role|rule|polic|directive)s?\b|updated (instruction|polic|rule)|your (new |real |true )?(task|goal|mission|job|role) is)`),
	family("addressing", `\b(ai|assistant|language model|llm|chatbot|claude|gpt|agents?|evaluator|judge|grader|reader)\b[,:]?[^.]{0,30}\b(you|must|should|shall|needs? to|has to|have to|please|ignore|execute|send|reveal|obey|comply|follow)\b`),
	family("forged role", `(^|[\s"'(\[<#|*])(assistant|system|user|human|developer|evaluator|judge|operator|admin(istrator)?)\s*[:>\]]\s*\S`),
	family("template token", `<\|?/?(im_start|im_end|system|user|assistant|endoftext)\b|\[/?inst\]|<</?sys>>|#{2,}\s*(instruction|system|response)|begin-data|end-data`),
	family("exfiltration", `\b(send|post|upload|forward|e-?mail|exfiltrate|leak|transmit|share|pass|include|copy|paste|reveal|print|disclose|attach|append|embed|read|fetch|dump|expose|collect)\b.{0,60}(\b(password|passwd|credential|secret|api[ _-]?keys?|access[ _-]?keys?|auth(entication)? token|bearer|ssh[ _-]?key|private key|cookies?|environment variables?|(conversation|chat) (history|log)|contents? of)\b|\.ssh|\.env\b|id_rsa|/etc/(passwd|shadow))`),
	family("shell", `\brm -[rf]{1,2}\b|\b(curl|wget)\b[^|]{0,80}(\||url|https?:|host)|\|\s*(ba|z)?sh\b|\b(bash|sh|python3?|powershell|cmd) (-c|-e|/c|-enc)\b|\bsudo\b|\bchmod \+?[0-7x]|\bnc -|\beval\(|\bos\.system|\bsubprocess\b|base64 -d`),
	family("secrecy", `\b(do not|don't|never|without)\b.{0,20}\b(tell|telling|mention|mentioning|inform|informing|reveal|revealing|notify|notifying|warn|alert|alerting|asking|confirm\w*)\b.{0,30}\b(user|anyone|anybody|human|operator|owner|customer|them|permission)`),
	family("urgency", `\b(important|attention|urgent|critical|notice)\b\s*[:!]\s*\S+.{0,60}\b(must|always|never|first|before|immediately|now|ignore|instead)\b`),
	family("score", `\b(score|rate|grade|mark|judge|evaluate) (this|it|the (call|output|answer|result))\b.{0,30}\b(1(\.0)?|10|perfect|success|full|high)|\b(this|the) (call|output|answer) (was|is) (perfect|flawless)`),
}

// ordering are orders that a tool's message, which only reports, has no reason
// to give to its reader; a guideline itself may well advise.
var ordering = []pattern{
	family("order", `\b(before|after|when(ever)?|always|first|instead|next|then|now|please|you (must|should|need to|have to|can|may))\b.{0,40}\b(read|call|invoke|execute|run|use|send|open|visit|click|download|install|transfer|pay|buy|delete|grant|approve|disable|log ?in|sign ?in|go to)\b.{0,60}\b(tools?|files?|commands?|functions?|scripts?|keys?|endpoints?|servers?|links?|urls?|pages?|accounts?|payments?|funds|money|admin|permissions?)\b`),
}

// SuspectInstruction reports whether a text from a tool tries to manipulate its reader, and
// the family of such texts that it belongs to ("override", "order"). It does not catch
// everything, so texts must be safe without it.
func SuspectInstruction(s string) (family string, suspect bool) {
	return match(Fold(s), steering, ordering)
}

// Steers is SuspectInstruction for our own texts, such as a guideline's statements, which may
// tell their reader what to do.
func Steers(s string) (family string, suspect bool) { return match(Fold(s), steering) }

func match(folded string, lists ...[]pattern) (string, bool) {
	var grams phrases.Grams
	grams.Note(folded)
	for _, list := range lists {
		for i := range list {
			if p := &list[i]; net && p.need.HeldBy(folded, &grams) && p.re.MatchString(folded) {
				return p.name, true
			}
		}
	}
	return "", false
}

// Fold makes similar characters equal, for comparing with patterns: lower case, full width,
// and the Cyrillic and Greek letters that look like Latin ones, without combining marks and
// invisible characters. White space stays.
func Fold(s string) string {
	return strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf && r >= ' ' {
			return unicode.ToLower(r)
		}
		if r >= 0xFF01 && r <= 0xFF5E {
			r -= 0xFEE0
		}
		if unicode.Is(unicode.Mn, r) || Invisible(r) && !unicode.IsSpace(r) {
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

// HasAddress reports whether s contains an address: a URL, a host name, an e-mail address or
// an IPv4 address.
func HasAddress(s string) bool {
	return address.MatchString(s) || hostName.MatchString(s) || email.MatchString(s) || ipv4.MatchString(s)
}

// MaskAddresses replaces what HasAddress finds by URL, EMAIL or HOST.
func MaskAddresses(s string) string {
	s = address.ReplaceAllString(s, "URL")
	s = email.ReplaceAllString(s, "EMAIL")
	s = ipv4.ReplaceAllString(s, "HOST")
	return hostName.ReplaceAllString(s, "HOST")
}
