package rules

import (
	"strings"
	"unicode"

	"memoryd/internal/phrases"
)

// tool is what the name of a tool says.
type tool struct {
	words []string // of the name, in lower case
	fors  purposes
}

// purposes are what a tool may be for, by the words of its name.
type purposes uint16

const (
	reader    purposes = 1 << iota // it hands over what somebody else wrote
	actor                          // it changes something
	inspector                      // it looks for problems
	finder                         // it may find nothing
	logger                         // what it hands over is a log
	runner                         // it runs command lines
	// What follows is of a call, not of its tool.
	commanding // it has a command to run
	content    // it asks for what somebody else wrote: files, pages, search results
)

// purposeOf is what each word says.
var purposeOf = func() map[string]purposes {
	of := map[string]purposes{}
	for p, words := range map[purposes]phrases.Set{
		reader: readerNames, actor: actors, inspector: inspectors, finder: finders, logger: logNames,
		runner: shellNames,
	} {
		for w := range words {
			of[w] |= p
		}
	}
	return of
}()

// toolOf reads a name.
func toolOf(name string) tool {
	t := tool{words: nameWords(name)}
	for _, w := range t.words {
		t.fors |= purposeOf[w]
	}
	return t
}

// is reports whether one of some purposes is among these.
func (p purposes) is(any purposes) bool { return p&any != 0 }

// nameWords splits a tool's name at case changes and at everything that is no
// letter, in lower case: "getUser_details" gives get, user, details.
func nameWords(name string) (out []string) {
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
	return out
}

// logNames are words of names of tools whose output is a log.
var logNames = phrases.Words("log", "logs", "trace", "traces", "journal", "history")

// shellNames are words of names of tools that run command lines.
var shellNames = phrases.Words("bash", "shell", "sh", "terminal", "cmd", "zsh")

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

// actors are words of tool names that change something: silence is their yes.
var actors = phrases.Words(
	"create", "update", "delete", "remove", "write", "set", "send", "add", "insert", "move", "copy", "put", "post",
	"save", "upload", "click", "type", "press", "fill", "select", "close", "open", "start", "stop", "think", "log",
	"record", "submit", "cancel", "clear", "reset", "edit", "append", "mkdir", "touch", "cd", "rename", "modify",
	"enable", "disable", "register", "login", "logout", "notify", "wait", "transfer", "run", "execute", "trigger", "deploy",
	"build", "install", "invoke", "call", "launch", "apply", "publish", "webhook", "schedule", "kill", "terminate",
	"push", "merge", "commit", "assign", "invite", "upsert", "sync", "subscribe", "unsubscribe", "join", "leave", "archive",
	"restore", "lock", "unlock", "turn", "scale",
	"restart", "rollback", "revoke", "grant", "drop", "truncate", "replace", "patch", "mark", "reply", "share", "print",
	"toggle", "pause", "resume", "transition", "attach",
	"detach", "link", "unlink", "connect", "disconnect", "confirm", "pay", "charge", "approve", "capture", "refund", "book",
	"reserve", "buy", "purchase", "import", "migrate",
	"enroll", "forward", "dispatch", "activate", "deactivate", "refresh", "rotate", "reboot", "boot", "shutdown", "mute",
	"unmute", "follow", "unfollow", "star", "fork", "clone",
	"tap", "swipe", "drag", "handle", "accept", "dismiss", "decline", "reject", "resize", "crop", "convert", "transform",
	"compress", "render", "train", "release", "handoff", "escalate",
	"vote", "comment", "react", "checkout", "renew", "extend", "change", "adjust", "swap", "withdraw", "deposit", "trade",
	"sell", "bid", "sign", "encrypt", "decrypt", "mount",
	"unmount", "format", "provision", "allocate", "evict", "drain", "backup", "store", "reindex", "flush", "purge", "enqueue",
	"emit", "arm", "disarm", "dim", "raise", "lower",
	"park", "drive", "land", "takeoff", "calibrate", "pick", "place", "expand", "split", "init", "initialize", "undo", "redo",
	"abort", "finish", "start", "begin", "hire", "order", "request", "on", "off", "redeem",
)

// inspectors are words of names of tools whose findings are their result.
var inspectors = phrases.Words(
	"check", "checker", "lint", "linter", "validate", "validator", "scan", "scanner", "audit", "analyze", "analyse",
	"diagnostics", "diagnose", "verify",
	"inspect", "inspector", "review", "reviewer", "grade", "proofread",
)

// finders are words of names of tools that may find nothing.
var finders = phrases.Words("search", "find", "finder", "query", "lookup", "browse", "discover", "list", "match", "filter",
	"recommend", "check", "track")
