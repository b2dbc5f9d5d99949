package rules

import (
	"slices"
	"strings"
	"unicode"

	"mvdan.cc/sh/v3/syntax"

	"memoryd"
	"memoryd/internal/loosejson"
	"memoryd/internal/phrases"
)

// maxInput bounds how much of an input the rules look at, in bytes.
const maxInput = 16 << 10

// request is what the rules understand of a call's input and tool name.
type request struct {
	names   []string // the words of the tool's name, in lower case
	text    string   // the strings of the input, decoded, one a line
	low     string   // text in lower case, once it was asked for; see view.echoes
	keys    []string // the names of its members
	command string   // the shell command, or "" for a tool that runs none
	shell   shellProgram
	// reads is true for a tool whose purpose is to hand over content that
	// somebody else wrote: files, pages, search results.
	reads bool
	// troubled is true when the request itself speaks of errors, so that error
	// words in the output may be what was asked for.
	troubled bool
	// help is true when the request asks for a usage text.
	help bool
}

// read fills in an empty request; room is for the structure of the input.
func (r *request) read(c *memoryd.Call, room *doc, parser *syntax.Parser) {
	in := string(c.Input[:min(len(c.Input), maxInput)])
	words := nameWords(c.Tool)
	r.names = words
	if strings.HasPrefix(strings.TrimSpace(in), "\"") {
		r.text, _ = loosejson.Unquote(strings.Trim(strings.TrimSpace(in), `"`), maxInput)
		if phrases.HasAny(words, shellNames) {
			r.command = r.text
		}
	} else {
		room.Parse(in)
		r.text = room.Strings()
		r.command = commandOf(room, words)
		for i := room.Child(0); i != 0; i = room.Nodes[i].Next {
			r.keys = append(r.keys, room.Nodes[i].Key)
		}
	}
	r.reads = phrases.HasAny(words, readerNames) || listsTroubles(words)
	if r.command != "" {
		r.shell = parseShell(parser, r.command)
		r.reads = r.shell.viewed
		r.help = r.shell.asksHelp()
	}
	r.troubled = troubleIndex.Scan(r.text) != 0 || phrases.HasAny(words, troubleNames)
}

// listsTroubles reports whether a tool is named for the troubles that it shows: "nginx.errors".
func listsTroubles(words []string) bool {
	return len(words) > 1 && troubleNames[words[len(words)-1]] && !phrases.HasAny(words, actors)
}

// renderers are words of names of tools that give back what they get, in other words.
var renderers = phrases.Words("translate", "translation", "translator", "transliterate", "paraphrase", "rephrase")

// renders reports whether the output is, by its length, a text of the input in another
// language or in other words.
func (v *view) renders() bool {
	if v.body.OK() || !phrases.HasAny(v.ask.names, renderers) {
		return false
	}
	longest := 0
	for s := range strings.SplitSeq(v.ask.text, "\n") {
		longest = max(longest, len(s))
	}
	return longest > 6 && len(v.out.full)*5 >= longest*2 && len(v.out.full)*2 <= longest*5
}

// shellNames are words of tool names that run commands; codeNames of tools that
// run programs in another language.
var shellNames = phrases.Words(
	"bash", "shell", "sh", "terminal", "command", "cmd", "powershell", "console", "exec", "process", "run", "execute",
	"zsh", "ssh",
)

var readerNames = phrases.Words(
	"read", "reader", "look", "examine", "recall", "view", "viewer", "fetch", "fetcher", "get", "search", "searcher", "grep", "find",
	"finder", "list", "ls", "cat", "show", "scrape", "scraper", "browse", "browser", "crawl", "crawler", "navigate",
	"page", "html", "markdown", "content", "contents", "extract", "lookup", "retrieve", "query", "wikipedia", "news",
	"web", "head", "tail", "log", "logs", "snapshot", "goto", "scroll", "download", "transcript", "summarize", "summarise",
	"summary", "translate", "transcribe", "explain", "ocr", "consume", "consumer", "receive", "peek", "dequeue", "trace",
	"traces", "history", "journal", "console", "stdout", "captions", "subtitles", "schema", "ddl",
	"suchen", "suche", "lesen", "anzeigen", "abrufen", "auflisten", "liste", "chercher", "rechercher", "recherche", "lire",
	"afficher", "lister", "consulter", "buscar", "leer", "mostrar", "listar",
	"consultar", "ler", "procurar", "cercare", "cerca", "elenca", "leggi", "zoeken", "lezen", "найти", "поиск", "список",
	"получить", "прочитать", "查询", "搜索", "查看", "検索", "一覧", "取得", "검색", "조회", "목록",
)

// troubleWords in a request mean that it may be about errors.
var troubleWords = []string{
	"error", "exception", "fail", "warn", "traceback", "fatal", "not found", "panic", "denied", "timeout", "timed out",
	"invalid", "crash", "bug", "debug", "stack trace", "stderr", "troubleshoot", "problem",
}

// troubleNames are words of names of tools that tell of troubles.
var troubleNames = phrases.Words("error", "errors", "exceptions", "failures", "issues", "problems", "diagnostics",
	"incidents", "alerts", "crashes", "bugs", "warnings")

// commandOf finds the member of an input object that holds a shell command.
func commandOf(d *doc, words []string) string {
	for i := d.Child(0); i != 0; i = d.Nodes[i].Next {
		n := &d.Nodes[i]
		switch strings.ToLower(n.Key) {
		case "command", "cmd", "bash", "shell", "shell_command", "command_line", "commandline", "bash_command":
			return commandText(d, i)
		case "script", "code", "input", "args", "keystrokes":
			if phrases.HasAny(words, shellOnlyNames) {
				return commandText(d, i)
			}
		}
	}
	return wrappedCommand(d, words)
}

// wrappedCommand is the command line of a tool that is one program: its name, and
// what its only member gives as arguments.
func wrappedCommand(d *doc, words []string) string {
	i := d.Child(0)
	if i == 0 || d.Nodes[i].Next != 0 || len(words) == 0 || len(words) > 2 || len(words) == 2 && words[1] != "cli" && words[0] != "run" {
		return ""
	}
	switch strings.ToLower(d.Nodes[i].Key) {
	case "args", "arguments", "argv":
	default:
		return ""
	}
	program, line := words[0], commandText(d, i)
	if program == "run" {
		program = words[len(words)-1]
	}
	if line == "" || phrases.HasAny(words[:1], readerNames) || strings.HasPrefix(line, "{") || strings.HasPrefix(line, "[") {
		return ""
	}
	return program + " " + line
}

// shellOnlyNames are the words that leave no doubt.
var shellOnlyNames = phrases.Words("bash", "shell", "sh", "terminal", "cmd", "zsh")

// commandText is the text of a string member, or the words of a list such as
// ["bash", "-lc", "ls"]: there the last one is the command.
func commandText(d *doc, i int32) string {
	n := &d.Nodes[i]
	if n.Kind != loosejson.Array {
		return d.Str(i)
	}
	var parts []string
	for c := n.Child; c != 0; c = d.Nodes[c].Next {
		parts = append(parts, d.Str(c))
	}
	if len(parts) == 3 && strings.HasPrefix(parts[1], "-") && strings.HasSuffix(parts[1], "c") {
		return parts[2]
	}
	return strings.Join(parts, " ")
}

// nameWords splits a tool's name at case changes and at everything that is no
// letter, in lower case: "getUser_details" gives get, user, details.
func nameWords(name string) []string {
	var room [8]string
	out := room[:0]
	for _, part := range strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) }) {
		start, lower := 0, false
		for i, r := range part {
			upper := unicode.IsUpper(r)
			if upper && lower {
				out = append(out, strings.ToLower(part[start:i]))
				start = i
			}
			lower = !upper
		}
		out = append(out, strings.ToLower(part[start:]))
	}
	return slices.Clone(out)
}
