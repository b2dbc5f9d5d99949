package rules

import (
	_ "embed" // the handbook
	"encoding/json"
	"maps"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
)

// documented is what the tools of coding hosts document of one of their refusals, and what
// to do about it: a hypothesis that calls bear out when they hear it, and refute when
// changed calls hear it again and again.
type documented struct {
	// of are the parts that the tool works on, one of which the call has to give: of a
	// customer who is not found nothing is documented. None: the tool is any of a host's.
	of    string
	says  *regexp.Regexp
	words []string // one of which stands, in small letters, in all that says matches
	id    string
	do    string         // with {path}, {old} and the like for the parameter's name
	given *regexp.Regexp // the form of the value that it is about; nil: any
}

// classes are what tools say in many words: a thing is not there, or there already, more
// than once, or beyond what there is.
var classes = strings.NewReplacer(
	"<absent>", `(?:\b(?:not|never|no(?:ne)?|cannot|unable to|failed to)|n't)\b[^.\n]{0,40}?\b(?:found|find|exists?\b|match|locat|appear|contain|appl|open|access)|no such|missing file|\b0 (?:occurrence|match)|ENOENT|mismatch|FileNotFound`,
	"<several>", `(?:multiple|several|more than one|\b[1-9]\d*) (?:match|occurrence|instance|time)|(?:appears|occurs|matches|found) (?:multiple|[1-9]\d*|more than once|several|in multiple)`,
	"<present>", `already exist|file exists|EEXIST|would overwrite|not overwrite|cannot overwrite`,
	"<beyond>", `out.of.(?:range|bounds)|invalid|exceed|beyond|past the|should be|must be|greater|less|shorter|only has|has only|larger`,
)

//go:embed handbook.txt
var handbookText string

// handbook is tried in order: what says more comes first.
var handbook = readHandbook(handbookText)

// readHandbook reads entries of three lines, or four: the name and the parts, what messages say,
// what to do, and the form of the value.
func readHandbook(text string) (list []documented) {
	for entry := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		lines := strings.Split(entry, "\n")
		id, of, _ := strings.Cut(lines[0], ":")
		d := documented{id: id, of: of, says: regexp.MustCompile(`(?is)` + classes.Replace(lines[1])), do: lines[2]}
		tree, _ := syntax.Parse(d.says.String(), syntax.Perl) // it was compiled
		d.words = wordsOf(tree)
		if len(lines) > 3 { // what the value is already is no remedy
			d.given = regexp.MustCompile(lines[3])
		}
		list = append(list, d)
	}
	return list
}

// wordsOf lists texts of which one stands in whatever an expression matches; nil where none is
// known. To look for them takes a hundredth of the time.
func wordsOf(tree *syntax.Regexp) (words []string) {
	switch tree.Op {
	case syntax.OpLiteral:
		return []string{strings.ToLower(string(tree.Rune))}
	case syntax.OpCapture, syntax.OpPlus:
		return wordsOf(tree.Sub[0])
	case syntax.OpConcat:
		for _, part := range tree.Sub {
			if w := wordsOf(part); shortest(w) > shortest(words) {
				words = w
			}
		}
	case syntax.OpAlternate:
		for _, part := range tree.Sub {
			w := wordsOf(part)
			if w == nil {
				return nil
			}
			words = append(words, w...)
		}
	default:
	}
	return words
}

func shortest(words []string) (least int) {
	for i, w := range words {
		if i == 0 || len(w) < least {
			least = len(w)
		}
	}
	return least
}

// partNames are the parameters of hosts' tools, in small letters and without what parts
// words, by what they hold; hostTools the names of tools that need none of them. What stands
// first counts.
var partNames, hostTools = byPart(
	"notebook", `\w*notebook\w*`, "cell", `cell(id|index|number|idx)?`, "old",
	`(old|search|find)(str|string|text|source|block|content)?`, "patch", `(patch|diff)(text)?`,
	"lines", `(start|end|insert)?line(number)?|viewrange|offset|limit`, "shell", `(shell|bash|session|task|process|terminal)id|pid`,
	"path", `(file|absolute|target|dir|notebook|relativeworkspace)?(path|paths|file|filename)|directory|workdir`, "command",
	`command|cmd|script`,
	"pattern", `pattern|regex|glob|include`, "url", `url`,
), byPart(
	"patch", `applypatch|patch|applydiff`, "command", `(execute)?bash\w*|shell|powershell|exec\w*|run\w*(command|terminal)\w*|terminal`,
	"pattern", `grep\w*|glob\w*|searchfile\w*|codebasesearch`,
	"notebook", `notebook\w*`, "old", `edit\w*|multiedit|strreplace\w*|replace\w*|(apply)?searchreplace`,
	"path", `read\w*|write\w*|view\w*|texteditor\w*|(create|delete)file\w*|ls|list\w*|open|goto|insert(edit\w*|content|line|text)?|filesearch|findfile\w*`, "url",
	`(web)?fetch\w*`,
	"any", `todo\w*|task|agent|skill|killshell|killbash|bashoutput|exitplan\w*|writestdin|updateplan|getterminal\w*|ask\w*question\w*|websearch\w*`,
)

// parts tells by a name what it is of: the first part whose names it is one of.
type parts struct {
	parts []string
	names *regexp.Regexp
}

func byPart(pairs ...string) (p parts) {
	var all []string
	for i := 0; i < len(pairs); i += 2 {
		p.parts = append(p.parts, pairs[i])
		all = append(all, "("+strings.ReplaceAll(pairs[i+1], "(", "(?:")+")")
	}
	p.names = regexp.MustCompile("^(?:" + strings.Join(all, "|") + ")$")
	return p
}

// of is the part of a name, however its words are parted; "" where that is not known.
func (p *parts) of(name string) string {
	m := p.names.FindStringSubmatchIndex(strings.ToLower(unparted.Replace(name)))
	for i := range p.parts {
		if m != nil && m[2*i+2] >= 0 {
			return p.parts[i]
		}
	}
	return ""
}

var unparted = strings.NewReplacer("_", "", "-", "")

// namer tells what the parameters of a tool are, and what its messages say; it looks each
// name and each message up once.
type namer struct {
	also string // what the tool is of
	part map[string]string
	said map[saying]bool
}

// saying is an entry of the handbook and a message.
type saying struct {
	entry   *documented
	message string
}

// hears reports whether a message, given in small letters too, says what is documented.
func (n *namer) hears(d *documented, message, low string) bool {
	at := saying{d, message}
	says, known := n.said[at]
	if !known {
		holds := func(word string) bool { return strings.Contains(low, word) }
		says = (d.words == nil || slices.ContainsFunc(d.words, holds)) && d.says.MatchString(message)
		n.said[at] = says
	}
	return says
}

func namerOf(tool string) *namer {
	own := tool[strings.LastIndexAny(tool, ".:/")+1:]
	if i := strings.LastIndex(own, "__"); i >= 0 {
		own = own[i+2:]
	}
	return &namer{hostTools.of(own), map[string]string{}, map[saying]bool{}}
}

// parts gives what a call works on, with the parameters' names; nil for a tool of no host, and
// for one that takes parameters, but none that a host's tool has.
func (n *namer) parts(in map[string]value) map[string]string {
	if n.also == "" {
		return nil
	}
	of := map[string]string{}
	for p, v := range in {
		part, known := n.part[p]
		if !known {
			part = partNames.of(p[strings.LastIndexByte(p, '.')+1:])
			n.part[p] = part
		}
		if part == "" && strings.HasPrefix(v.text, "*** Begin Patch") {
			part = "patch"
		}
		if part != "" && (of[part] == "" || p < of[part]) {
			of[part] = p
		}
	}
	_, limited := of["lines"] // as lists of records are, too
	if n.also == "path" && len(in) > 0 && (len(of) == 0 || limited && len(of) == 1) {
		return nil // it reads, lists or opens no files
	}
	for _, part := range []string{n.also, map[string]string{"old": "path"}[n.also]} {
		if of[part] == "" {
			of[part] = ""
		}
	}
	return of
}

// Remedy returns the remedy that hosts document for the answer to a failed call; "" if there
// is none.
func Remedy(tool, message string, input json.RawMessage) string {
	in, _ := inputOf(LeavesOf(input))
	n := namerOf(tool)
	_, line, _ := n.consult(n.parts(in), message, in)
	return line
}

// Commands reports whether a value is a command line for a shell. One that worked once is not
// an example.
func Commands(parameter, value string) bool {
	return partNames.of(parameter) == "command" && strings.ContainsRune(value, ' ')
}

// consult finds the answer to a call that failed in the handbook: its name there, what to
// do about it, and the parameter.
func (n *namer) consult(of map[string]string, message string, in map[string]value) (id, line, parameter string) {
	if of == nil {
		return "", "", ""
	}
	head := message[:min(len(message), 600)]
	low := strings.ToLower(head)
	for i := range handbook {
		d := &handbook[i]
		fits := d.of == ""
		for part := range strings.FieldsSeq(d.of) {
			if p, has := of[part]; has {
				fits, parameter = true, p
				break
			}
		}
		if fits && (d.given == nil || d.given.MatchString(in[parameter].text)) && n.hears(d, head, low) {
			return d.id, filled(d.do, of), parameter
		}
	}
	return "", "", ""
}

// filled puts the names of parameters into a line.
func filled(line string, of map[string]string) string {
	for part, plainly := range map[string]string{"path": "the path", "old": "the old text", "pattern": "the pattern"} {
		name := plainly
		if p := of[part]; tellable(p) && !strings.Contains(p, ".") {
			name = "`" + p + "`"
		}
		line = strings.ReplaceAll(line, "{"+part+"}", name)
	}
	return line
}

// The bounds of documented remedies: how many calls have to hear a refusal, and how many
// changed calls refute the remedy, of which none worked.
const (
	minHeard   = 2
	minRefuted = 4
)

// refusal collects the calls that heard one documented answer.
type refusal struct {
	Rule
	runs          map[uint64]bool
	all           int // calls that heard it
	tried, worked int // changed calls on the same file after it, in its run
}

// take counts the call at a place among those behind the refusal.
func (r *refusal) take(c *Call, place int) {
	r.Calls++
	r.Behind, r.Keys = append(r.Behind, place), append(r.Keys, c.Key)
	if c.Failed {
		r.Failed++
	}
	if c.Named {
		r.runs[c.Run] = true
	}
}

// heard lists the documented refusals that calls heard which no other rule explains, with
// what to do about them. Where rules explain half of those that heard one, they say more.
func heard(tool string, calls []Call, rows []row, explained []bool) (found []Rule) {
	names := namerOf(tool)
	if names.also == "" {
		return nil
	}
	type place struct {
		run  uint64
		file string
	}
	by, last := map[string]*refusal{}, map[place]struct{ id, input string }{}
	inputs := make(map[int]map[string]value, len(rows))
	for i := range rows {
		inputs[rows[i].place] = rows[i].in
	}
	for i := max(0, len(calls)-Compared); i < len(calls); i++ {
		c, in := &calls[i], inputs[i]
		of := names.parts(in)
		id, line, p := "", "", ""
		if c.Bad {
			id, line, p = names.consult(of, c.Message, in)
		}
		at := place{c.Run, in[of["path"]].text}
		if before := last[at]; before.id != "" && c.Named && before.input != string(c.Input) && (!c.Bad || id == before.id) {
			by[before.id].tried++
			if !c.Bad {
				by[before.id].worked++
			}
		}
		if last[at] = struct{ id, input string }{id, string(c.Input)}; id == "" {
			continue
		}
		r := by[id]
		if r == nil {
			r = &refusal{Rule: Rule{when: hypothesis{what: says, p: p, set: []string{id}}, Line: line, Parameter: p}, runs: map[uint64]bool{}}
			by[id] = r
		}
		if r.all++; explained[i] {
			continue
		}
		r.take(c, i)
	}
	for _, id := range slices.Sorted(maps.Keys(by)) {
		if r := by[id]; r.Calls >= minHeard && 2*r.Calls > r.all && (r.tried < minRefuted || r.worked > 0) {
			r.Runs = len(r.runs)
			found = append(found, r.Rule)
		}
	}
	return found
}

// Heard reports whether the rule is a documented remedy for an answer: a planned call cannot
// be checked against it.
func (r *Rule) Heard() bool { return r.when.what == says }
