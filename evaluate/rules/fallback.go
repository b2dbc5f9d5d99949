package rules

import (
	"bytes"
	"slices"
	"strings"

	"memoryd/internal/phrases"
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

// blanks are texts that stand for no output.
var blanks = phrases.Words("", "null", "none", "nil", "undefined", "''", `""`, "[]", "{}", "()", "nan", "(no output)",
	"<no output>", "no output", "n/a")

// emptyOutput: silence is judged by the tool's history, else by what the call
// was for.
func emptyOutput(v *view) (finding, bool) {
	if v.ask.shell.counts() && v.out.total > 0 && !slices.ContainsFunc(v.out.lines,
		func(l line) bool { return l.s != "0" && !strings.HasSuffix(l.s, ":0") }) {
		f := half("empty-output", v.out.first().s, "no line matched: that is exit status 1 of this command")
		f.cause = causeEmpty
		return f, true
	}
	low := strings.ToLower(v.out.full[:min(len(v.out.full), 16)])
	if !blanks[low] && strings.ContainsFunc(v.out.full, isLetterOrDigit) {
		return finding{}, false
	}
	shape := shapeEmpty
	if v.body.OK() {
		shape = shapeNothing
	}
	f := finding{}
	switch p := v.prof; {
	case bytes.Contains(v.call.Metadata, []byte(`"output_truncated":true`)):
		return works("empty-output", "who told of the call does not tell what it returned").unsure(), true
	case p != nil && p.successes >= 3 && p.share(shape) >= 0.5:
		f = works("empty-output", "most of this tool's successes are empty too")
	case v.ask.command != "" && v.ask.shell.mayAnswerByStatus():
		f = half("empty-output", "", "there is no output: the command found nothing or says no by its status")
	case v.ask.command != "":
		f = works("empty-output", "a command that prints nothing has nothing to complain of")
		f.sure = !v.ask.shell.muffled
	case phrases.HasAny(v.ask.names, actors):
		f = works("empty-output", "a tool that acts need not answer").unsure()
	case v.ask.reads || shape == shapeNothing:
		f = half("empty-output", "", "it was asked for something and returned nothing")
	default:
		f = works("empty-output", "there is no output and no sign of trouble").unsure()
	}
	f.cause = causeEmpty
	return f, true
}

// noTrouble: nothing else spoke. It is certain where no word of trouble stands
// in what was read, or where a structure was read that reports none.
func noTrouble(v *view) (finding, bool) {
	f := works("no-trouble", "nothing in the output speaks of trouble")
	if code, known := v.exitStatus(v.out); known && code == 0 {
		f.why = "its exit status is 0"
		return f, true
	}
	failed, _ := v.score()
	if v.body.OK() {
		f.why = "a structured result that reports no error"
		f.sure = failed < doubtBar && (v.out.total > 3 || len(v.out.full) > 300 || !clouded(v.out))
		return f, true
	}
	f.sure = failed < doubtBar && !clouded(v.out)
	if v.ask.shell.mayAnswerByStatus() && (v.out.short(2, 40) || v.ask.shell.compares()) {
		f.sure = false
	}
	return f, true
}

// clouded reports whether a word of trouble stands in the lines that were read.
func clouded(t *text) bool {
	for i := range t.lines {
		if t.lines[i].has(hasComplaintWord) {
			return true
		}
	}
	return false
}
