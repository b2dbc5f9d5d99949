package rules

import (
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
	"<absent>", `(?:\b(?:not|never|no(?:ne)?|cannot|unable to|failed to)|n't)\b[^.\n]{0,40}?\b(?:found|find|exist|match|locat|appear|contain|appl|open|access)|no such|missing file|\b0 (?:occurrence|match)|ENOENT|mismatch|FileNotFound`,
	"<several>", `(?:multiple|several|more than one|\b[1-9]\d*) (?:match|occurrence|instance|time)|(?:appears|occurs|matches|found) (?:multiple|[1-9]\d*|more than once|several|in multiple)`,
	"<present>", `already exist|file exists|EEXIST|would overwrite|not overwrite|cannot overwrite`,
	"<beyond>", `out.of.(?:range|bounds)|invalid|exceed|beyond|past the|should be|must be|greater|less|shorter|only has|has only|larger`,
)

func doc(id, of, says, do string) documented {
	d := documented{of: of, says: regexp.MustCompile(`(?is)` + classes.Replace(says)), id: id, do: do}
	tree, _ := syntax.Parse(d.says.String(), syntax.Perl) // it was compiled
	d.words = wordsOf(tree)
	return d
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

// docOf is doc where the call gave a value of a form: what it did already is no remedy.
func docOf(given string, d documented) documented {
	d.given = regexp.MustCompile(given)
	return d
}

const lookFirst = "Look for the file first, by listing the directory or by a search, and give {path} as you found it"

// handbook is tried in order: what says more comes first.
var handbook = []documented{
	doc("overlap", "old", `substring of (a )?new_?str|edits? overlap`, "Let no edit look for what another one of the same call writes"),
	doc("same", "old", `(new|replace)\w*( text| content)? (and|is|are|must)[^.\n]{0,60}(same|identical|different|differ)|are (exactly )?the same|no changes? (to|were) (make|made|apply)|content is (already )?identical`,
		"Give a new text that differs from the old one"),
	doc("many", "old", `<several>|not unique|(must|should|not) be unique|uniquely|ambiguous`,
		"Give {old} with more of the lines around it, so that it stands in the file once, or replace all of them on purpose"),
	doc("outside", "path",
		`outside|registered workspace|not (with)?in [^.\n]{0,60}(workspace|allowed|project|root|director)|must be (with)?in|escapes|allowed director|path traversal|ignored by|\.\w*ignore`, "Give {path} within the folders that the host allows"),
	doc("file", "path old patch notebook",
		`(file|path|director(y|ies)|folder)\b[^.,;]{0,120}?( does not| doesn't| not| could not be| cannot be) (exist|found|opened)|no such file|missing file|ENOENT|FileNotFound`, lookFirst),
	doc("there", "path patch", `<present>`, "Read the file that is there and edit it, or give a path that is free"),
	doc("changed", "path old patch",
		`(modified|changed|updated|edited)( \w+){0,3} (since|after|externally)|newer than|stale|out of date|outdated|mtime|has been (modified|changed)`,
		"Read the file again right before you change it: it changes in between"),
	doc("unread", "path old patch",
		`(not|never) (yet )?been read|n't (yet )?(been )?read|must (be )?(first )?(be )?(read|view|open)|(read|view|open) (it|the file|this file|the notebook)( \w+){0,3} (first|before)|(before|without) (first )?reading|read tool (first|at least once)`,
		"Read the file before you change it"),
	doc("context", "patch", `<absent>|expected lines|context|hunk|does not apply|patch failed`,
		"Read the file again, and copy the lines around the change exactly as they stand there, with their white space"),
	doc("patch", "patch", `patch|diff|begin|header|invalid|format|parse|empty`,
		"Write the patch in the form that the tool documents, from its first line to its last"),
	doc("text", "notebook path", `must be a (jupyter )?notebook|not a (jupyter )?notebook`,
		"Use the tool for notebooks on .ipynb files alone, and edit other files with the tool for texts"),
	doc("broken", "notebook", `valid json|invalid json|corrupt`, "Look at the notebook as a text and mend its JSON first"),
	doc("cell", "cell notebook", `cell[^.\n]{0,60}(<absent>|<beyond>|no |index|unknown)|(no|unknown|invalid)( such)? cell`,
		"Read the notebook first, and give the cell as it is named there"),
	doc("notebook", "path notebook", `(jupyter|notebook|\.ipynb)[^.\n]{0,60}(use|tool|edit)|(use|with)[^.\n]{0,60} notebook`,
		"Change a notebook with the tool for notebooks"),
	docOf(`^[^/~\\](?:[^:]|$)`, doc("absolute", "path", `absolute|relative path|start with .?/|full path`, "Give {path} as an absolute path")),
	docOf(`^(?:[/~\\]|[A-Za-z]:)`, doc("relative", "path", `absolute|relative path`, "Give {path} as a relative path")),
	doc("lines", "lines path",
		`invalid .?(view_range|insert_line|line|range|offset)|(line|view_range|insert_line|offset|range|row|start|end)[^.\n]{0,60}(<beyond>)|only \d+ lines`,
		"Look at how many lines the file has, and give lines within them"),
	doc("large", "path", `(too|very) (large|big|long|many)|exceed|maximum|token limit|size limit|larger than|use offset|truncat`,
		"Read a part of the file: give where to begin and how much, or search it for what is needed"),
	doc("undo", "path", `undo_edit failed|edit history|nothing to (undo|revert)`, "Undo only what was edited in this run"),
	doc("unlike", "old", `<absent>|no replacement`,
		"Read the file first, and copy {old} exactly as it stands there, with its white space and without line numbers"),
	doc("directory", "path",
		`is a directory|EISDIR|not a (regular |valid )?file|points to a directory|director(y|ies)[^.\n]{0,60}(not|cannot|only|instead)|path is a folder`, "Give {path} of a file; list a directory with the tool for that"),
	doc("no-directory", "path", `not a directory|ENOTDIR`, "Give {path} of a directory"),
	doc("denied", "path command", `permission denied|EACCES|EPERM|operation not permitted|read-?only|EROFS`,
		"Work where you may write, or ask the user for permission: without it the same call fails again"),
	doc("binary", "path",
		`binary|not (a )?text|unsupported (file|format|encoding|media|image)|utf-?8|decode|codec|cannot (read|display) (this|images?|pdf)`,
		"Read a file that is no text with a tool made for its type"),
	doc("syntax", "old path",
		`introduced? [^.\n]{0,60}(syntax )?error|syntax ?error|indentation ?error|lint|(edit|change)[^.\n]{0,60}(not applied|reverted|rejected)|parse error`, "Keep the file valid with each edit: check the indentation, and replace whole blocks"),
	doc("substitution", "command", `command substitution|substitution using`,
		"Write the command without $(...) and backticks, in several calls if need be"),
	doc("memory", "command", `out of memory|\bOOM\b|heap limit|exit code 137|cannot allocate|^killed`,
		"Let the command take less memory, or work on less at a time"),
	doc("space", "command path", `no space left|disk (is )?full|ENOSPC`, "Free space on the disk first"),
	doc("timeout", "command", `tim(ed|e) ?out|timeout|deadline|no output[^.\n]{0,60}(second|produced)|took too long|killed after`,
		"Set a longer timeout, run it in the background, or let the command do less"),
	doc("tty", "command", `\btty\b|interactive|terminal is required|EOF when reading|inappropriate ioctl|password is required|stdin is`,
		"Give all answers as flags of the command: nobody can type"),
	doc("shell", "shell any command",
		`invalid (terminal|shell|session|process)|(shell|session|process|task|terminal|job)( \w+)?( with)?( id)?[^.\n]{0,60}(not found|not exist|n't exist|unknown|no longer|not running|exited|completed|closed|already|killed)|no (such )?(shell|session|process|task|running)|unknown (shell|session|process)`,
		"List what runs and give an id of that, or start the command again"),
	doc("program", "command",
		`command not found|not recognized as|executable file not found|: not found|no such command|not installed|spawn \S+ ENOENT`,
		"Use a program that is installed (check with `command -v`), or install it first"),
	doc("module", "command",
		`no module named|cannot find (module|package)|ModuleNotFound|ImportError|could not resolve "|package \S+ is not in`,
		"Install what is missing first, or use the project's own environment"),
	doc("repository", "command", `not a git repository`, "Change into the repository before the command"),
	doc("port", "command", `address already in use|EADDRINUSE|port \d+ is`, "Stop what holds the port, or take a free one"),
	doc("quoting", "command", `syntax error|unexpected (EOF|end of file|token)|unterminated|unmatched|unbalanced|bad substitution|here-?doc`,
		"Check the quotation marks of the command, and write long texts to a file first"),
	doc("flags", "command",
		`missing script|no rule to make|(unknown|unrecogni[sz]ed|invalid|illegal|no such) (sub-?command|flag|option|argument|shorthand)|^usage:`, "Look at the command's help, or at what the project defines, and give only names and flags that exist"),
	doc("arguments", "command", `argument list too long`, "Give fewer arguments at a time, through find or xargs"),
	doc("output", "command", `output[^.\n]{0,60}(too|exceed|truncat|limit)|exceed[^.\n]{0,60}(buffer|output|characters)|maxBuffer`,
		"Let the command write less: filter its output, or send it to a file"),
	doc("pattern", "pattern",
		`reg(ular )?-?ex|invalid (pattern|glob|expression)|error parsing glob|unclosed|unmatched|unbalanced|repetition|nothing to repeat|look-?(around|ahead|behind)|parenthes|escape`,
		"Escape what has a meaning in {pattern}, or search for a plain text"),
	doc("nowhere", "pattern", `no (files|match|result)|nothing found|0 (files|match)`,
		"Search with a shorter {pattern}, or in a folder further up"),
	doc("broad", "pattern", `tim(ed|e) ?out|too many|exceed|too (large|broad)|truncat|limit`,
		"Narrow {pattern}, or the folder that is searched"),
	doc("open", "path", `no file (is )?open|open (a|the) file`, "Open the file before you work on its lines"),
	doc("file", "path old patch pattern notebook", `<absent>|could not read|invalid path|not a valid path`,
		lookFirst),
	doc("file", "command",
		`no such file|cannot (access|stat|open|find)|can't (open|cd|find)|not exist|is a directory|not a directory|did not match any|no match(es)? found`, "Look at what is there first, and give paths in the command as you found them"),
	doc("address", "url", `valid url|url must|\b(scheme|protocol|malformed)`, "Give the whole address, with https:// before it"),
	doc("redirect", "url", `redirect|moved`, "Call it again with the address that the answer names"),
	doc("page", "url", `\b(404|410)\b|not found`, "Search for the address first: this page is not there"),
	doc("sign-in", "url", `\b(401|403)\b|unauthori[sz]ed|forbidden|sign in|log ?in|robots`,
		"Fetch another page, or use a tool that may read this one"),
	doc("wait", "url query", `\b429\b|rate limit|too many requests|quota`, "Wait before the next call"),
	doc("reach", "url command",
		`ENOTFOUND|getaddrinfo|could not resolve|name resolution|ECONNREFUSED|connection refused|network|unreachable|EAI_AGAIN`,
		"Check that the address is right and the service runs, before you call again"),
	doc("one", "", `(only|exactly|at most) one[^.\n]{0,60}in.progress`, "Keep one entry in progress at a time"),
	doc("both", "", `both[^.\n]{0,60}(specified|given|provided|used|set|same)|(cannot|can't|not)[^.\n]{0,60} both|mutually exclusive|not[^.\n]{0,60}together`, "Give one of the two parameters, not both"),
	doc("planned", "", `not in plan mode`, "Call it in plan mode alone"),
	doc("mode", "", `plan mode|read-only mode|ask mode|not (allowed|available) in [^.\n]{0,60}mode`,
		"Leave the mode that forbids changes before you make one"),
	doc("choice", "", `(available|valid|allowed|supported|known|possible)( \w+){0,7}( are)?:|unknown skill|skill[^.\n]{0,60} not found|\bone of\b|choose from|not a valid (option|value|choice)|invalid (enum|option)|agent type`, "Give one of the values that the answer lists"),
	doc("missing", "", `required|missing|must (provide|specify|have|be (provided|specified|given))|is needed|undefined`,
		"Give every parameter that the tool's schema requires, by the name it has there"),
	doc("unknown", "", `(unexpected|unknown|unrecogni[sz]ed|additional|extra|unsupported) (\w+ ){0,2}(parameter|argument|propert|keyword|key|option|field|input)`, "Give only the parameters of the tool's schema, by the names they have there"),
	doc("empty", "", `(not|n't) be empty|non-?empty|is empty|empty (string|pattern|command|path)|at least (one|1)`,
		"Give a value that is not empty"),
	doc("type", "", `expected (a |an |type )?\W?(string|number|int|bool|array|object|list|dict)|must be (a |an |of type )?\W?(string|number|int|bool|array|object|list|dict|positive|non-negative)|invalid.?type|type mismatch|not of type|provided as|failed to parse|not valid json|invalid json`,
		"Give each parameter in the type of the tool's schema"),
	doc("policy", "", `sandbox|denied|not allowed|restricted|blocked|disallowed|forbidden|approval|not permitted`,
		"Ask the user for the permission, or find a way that needs none"),
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
	"notebook", `notebook\w*`, "cell", `\w*cell(s|source)?`, "old", `edit\w*|multiedit|strreplace\w*|replace\w*|(apply)?searchreplace`,
	"path", `read\w*|write\w*|view\w*|texteditor\w*|(create|delete)file\w*|ls|list\w*|open|goto|insert\w*|filesearch|findfile\w*`, "url",
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

// parts gives what a call works on, with the parameters' names; nil for a tool of no host.
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
	in := inputOf(LeavesOf(input))
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
	tried, worked int // changed calls on the same file after it, in its run
}

// unexplained counts the calls that went wrong and that no rule explains.
func unexplained(calls []Call, explained []bool) (n int) {
	for i := range calls {
		if calls[i].Bad && !explained[i] {
			n++
		}
	}
	return n
}

// heard lists the documented refusals that calls heard which no other rule explains, with
// what to do about them.
func heard(tool string, calls []Call, rows []row, explained []bool) (found []Rule) {
	from := max(0, len(calls)-Compared)
	if unexplained(calls[from:], explained[from:]) < minHeard {
		return nil
	}
	type place struct {
		run  uint64
		file string
	}
	by, last := map[string]*refusal{}, map[place]struct{ id, input string }{}
	names := namerOf(tool)
	inputs := make(map[int]map[string]value, len(rows))
	for i := range rows {
		inputs[rows[i].place] = rows[i].in
	}
	for i := from; i < len(calls); i++ {
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
		if explained[i] {
			continue
		}
		r.Calls++
		r.Behind = append(r.Behind, i)
		if c.Failed {
			r.Failed++
		}
		if c.Named {
			r.runs[c.Run] = true
		}
	}
	for _, id := range slices.Sorted(maps.Keys(by)) {
		if r := by[id]; r.Calls >= minHeard && (r.tried < minRefuted || r.worked > 0) {
			r.Runs = len(r.runs)
			found = append(found, r.Rule)
		}
	}
	return found
}

// Heard reports whether the rule is a documented remedy for an answer: a planned call cannot
// be checked against it.
func (r *Rule) Heard() bool { return r.when.what == says }
