package rules

import (
	"strings"

	"memoryd/internal/errortext"
	"memoryd/internal/phrases"
)

// protocolPhrases are how tool protocols and agent frameworks say that a call
// did not get through: MCP and JSON-RPC, pydantic and JSON schema validation,
// agent executors.
var protocolPhrases = []string{
	"mcp error", "error executing tool", "error calling tool", "error invoking tool", "unknown tool", "tool not found",
	"is not a valid tool", "no such tool", "no such function", "unknown function", "function not found",
	"input validation error", "output validation error", "invalid arguments for", "validation error for",
	"validation errors for", "validation error:", "missing required parameter", "missing required argument",
	"unexpected keyword argument", "required positional argument", "is a required property", "<tool_use_error>",
	"tool call failed", "tool execution failed", "tool execution error", "invalid tool call",
	"failed to parse arguments", "failed to call tool", "failed to execute tool", "method not found", "invalid params",
	"additional properties are not allowed", "jsonrpc error", "json-rpc error", "toolexception",
	"tool input validation", "is not a function", "malformed function call", "invalid function call",
	"error during execution", "error: server", "invalid json", "invalid parameters", "invalid input:", "tool error",
	"tool_error", "no tool named", "tool does not exist", "unsupported tool", "invalid action", "invalid arguments",
}

// protocolError: such a phrase near the start, or the protocol's own flag at the
// end.
func protocolError(v *view, t *text) (finding, bool) {
	first := t.first()
	if first.has(hasProtocol) && t.short(60, 6000) && !v.quotes(t) {
		near := first.low()[:min(len(first.low()), 140)]
		if p, ok := phrases.FindAny(near, protocolPhrases); ok && !v.echoes(p) && (!v.ask.reads || opensClause(near, p) || errortext.Heads(first.low())) {
			f := fails("protocol-error", first.s, "the tool protocol or framework rejected the call")
			f.sure = strings.Index(near, p) < 60
			return f, true
		}
	}
	last := t.last()
	if strings.HasSuffix(last.s, "isError=True") || strings.HasSuffix(last.s, `"isError": true}`) {
		return fails("protocol-error", first.s, "the reply carries the protocol's error flag"), true
	}
	return finding{}, false
}

// opensClause reports whether a phrase stands at the beginning of a line or behind a mark:
// within a sentence it is what the sentence is about.
func opensClause(low, p string) bool {
	i := strings.Index(low, p)
	before := strings.TrimRight(low[:i], " \"'`")
	return before == "" || strings.IndexByte(":([<{-=|>", before[len(before)-1]) >= 0
}

// networkPhrases are how network stacks, browsers and HTTP clients report that
// there was no answer.
var networkPhrases = []string{
	"net::err_", "ns_error_", "econnrefused", "enotfound", "etimedout", "econnreset", "eai_again", "ehostunreach",
	"max retries exceeded", "connection refused", "connection reset by peer", "name or service not known",
	"temporary failure in name resolution", "no route to host", "network is unreachable", "certificate verify failed",
	"read timed out", "connect timeout", "connection timed out", "timeout exceeded", "deadline exceeded", "ms exceeded",
	"getaddrinfo", "socket hang up", "remote end closed connection", "name resolution", "timeout of ",
	"timed out after", "timed out waiting", "execution timed out", "could not connect to server", "too many redirects",
}

// networkError: such a phrase in one of the first two lines of a message.
func networkError(v *view, t *text) (finding, bool) {
	browser := phrases.ContainsAny(t.first().low(), []string{": net::err_", ": ns_error_"}) // no page begins so
	if v.quotes(t) && !browser || !t.short(16, 2500) {
		return finding{}, false
	}
	within := 2
	if v.ask.reads && v.ask.command != "" {
		within = 1
	}
	for i := range t.lines[:min(len(t.lines), within)] {
		l := &t.lines[i]
		if p, ok := l.find(hasNetwork, networkPhrases); ok && !v.echoes(l.s) && !embedded(l.low(), p) && (p != "timeout of " || strings.Contains(l.low(), "exceeded")) {
			return fails("network-error", l.s, "the other side was not reached, or not in time").unsure(), true
		}
	}
	if last := t.last(); v.ask.reads && v.ask.command != "" && t.short(4, 600) && closesPlainly(last.low()) && (last.has(hasNetwork) || errortext.Heads(last.low())) && !v.ask.shell.prints() && !strings.Contains(v.ask.command, "log") && !v.echoes(last.s) {
		return fails("network-error", last.s, "its last words say that the other side was not reached").unsure(), true
	}
	return finding{}, false
}

// embedded reports whether a phrase begins within a word, FileNotFoundError is no
// ENOTFOUND, or within quotation marks.
func embedded(low, p string) bool {
	i := strings.Index(low, p)
	return i > 0 && phrases.IsAlpha(low[i-1]) && phrases.IsAlpha(p[0]) || strings.Count(low[:max(i, 0)], `"`)%2 == 1
}

// httpLeads introduce a status code in a sentence.
var httpLeads = []string{
	"status code", "status_code", "http error", "http status", "http/1.1", "http/1.0", "http/2", "http/3", "http",
	"status", "error code", "error", "response code", "responded with", "returned", "returned error", "code",
	"server returned", "failed with",
}

// httpStatus: a status line of a dump, or a first line that states the status.
func httpStatus(v *view, t *text) (finding, bool) {
	if f, ok := statusLine(t); ok {
		return f, true
	}
	first := t.first()
	if last := t.last(); v.ask.command != "" && !v.ask.shell.onlyPrints() && len(t.lines) > 1 {
		_, after, said := strings.Cut(last.low(), " error ") // wget
		if code := statusCode(after); said && code >= "400" && strings.HasPrefix(after[3:], ":") {
			return fails("http-status", last.s, "it reports HTTP status "+code).unsure(), true
		}
	}
	if t.short(4, 800) && (!v.ask.reads || t.total == 1) && (refusesReply(first) || refusesReply(t.at(1)) && strings.HasPrefix(first.s, "MSH|")) {
		return fails("http-status", first.s, "the server's reply is a refusal").unsure(), true
	}
	if v.quotes(t) && !t.short(12, 1500) {
		return finding{}, false
	}
	if _, more := leadingStatus(t.at(1).low()); more && (v.ask.reads || v.ask.command != "") {
		return finding{}, false // a table of statuses
	}
	if code, ok := leadingStatus(first.low()); ok && !v.echoes(first.s) && !v.asksOf(code) && (!v.ask.reads || !defines(first.low())) {
		f := fails("http-status", first.s, "it reports HTTP status "+code)
		f.sure = t.short(20, 3000)
		return f, true
	}
	return finding{}, false
}

// asksOf reports whether the input of a tool that does nothing names a number: it is what the
// answer is about.
func (v *view) asksOf(number string) bool {
	return !phrases.HasAny(v.ask.names, actors) && v.scratch.input.OK() && phrases.HasWord(string(v.call.Input[:min(len(v.call.Input), 2000)]), number)
}

// defines reports whether a line in lower case tells what something is.
func defines(low string) bool {
	return phrases.ContainsAny(low[:min(len(low), 60)], []string{" is a ", " is an ", " is the ", " means ", " refers to ", " indicates "})
}

// refusesReply reports whether a line is how a server of a line protocol says no: the
// reply codes 4yz and 5yz of SMTP, FTP and NNTP before a complaint, the tagged NO and
// BAD of IMAP, the -ERR of POP3 and Redis, the AE and AR of HL7.
func refusesReply(l *line) bool {
	if strings.HasPrefix(l.s, "-ERR ") || strings.HasPrefix(l.s, "MSA|AE") || strings.HasPrefix(l.s, "MSA|AR") {
		return true
	}
	if code := statusCode(l.s); code >= "400" && len(l.s) > 4 && (l.s[3] == ' ' || l.s[3] == '-') {
		rest := l.low()[4:]
		enhanced := len(rest) > 5 && (rest[0] == '4' || rest[0] == '5') && rest[1] == '.' && phrases.IsDigit(rest[2])
		return enhanced || errortext.Heads(rest) || phrases.StartsAny(rest, advice) || closesPlainly(rest) || errortext.HeadsReply(rest)
	}
	tag, rest, _ := strings.Cut(l.s, " ")
	return len(tag) < 9 && strings.ContainsAny(tag, "0123456789") && (strings.HasPrefix(rest, "NO [") || strings.HasPrefix(rest, "BAD ") || strings.HasPrefix(rest, "NO ") && l.has(hasComplaintWord))
}

// statusLine finds the last status line of a header dump: after redirects the
// last one counts.
func statusLine(t *text) (finding, bool) {
	var found *line
	bad := false
	for i := range t.lines[:min(len(t.lines), 48)] {
		l := &t.lines[i]
		if l.s[0] == '<' && refusesAddress(l) { // the other side's line in a transcript
			return fails("http-status", l.s, "the server's reply is a refusal").unsure(), true
		}
		rest, ok := afterVersion(l.s)
		if !ok {
			continue
		}
		if code := statusCode(rest); code != "" {
			found, bad = l, code >= "400"
		}
	}
	if !bad {
		return finding{}, false
	}
	return fails("http-status", found.s, "the server answered with an error status").unsure(), true
}

// afterVersion is what follows the name and version of a protocol that a line begins
// with, as a status line does: HTTP/1.1, HTTP/2, SIP/2.0, RTSP/1.0.
func afterVersion(s string) (string, bool) {
	if s[0] == '<' || s[0] == '>' {
		s = strings.TrimLeft(s, "<> ")
	}
	i := 3
	if len(s) > 9 && s[i] != '/' {
		i++
	}
	if len(s) < i+5 || s[i] != '/' || !phrases.IsDigit(s[i+1]) || s[i+2] != ' ' && s[i+2] != '.' {
		return "", false
	}
	for k := range i {
		if !phrases.IsAlpha(s[k]) {
			return "", false
		}
	}
	_, rest, ok := strings.Cut(s[i:], " ")
	return rest, ok
}

// refusesAddress reports whether a line that the other side sent, behind its arrow, is
// a refusal with an enhanced status code (RFC 3463).
func refusesAddress(l *line) bool {
	s := strings.TrimLeft(l.s, "<*-~ ")
	return len(s) > 9 && statusCode(s) >= "400" && (s[4] == '4' || s[4] == '5') && s[5] == '.' && phrases.IsDigit(s[6])
}

// statusCode is the three digits that s starts with, if they are a status.
func statusCode(s string) string {
	if len(s) < 3 || s[0] < '1' || s[0] > '5' || !phrases.IsDigit(s[1]) || !phrases.IsDigit(s[2]) || len(s) > 3 && (phrases.IsWord(s[3]) || s[3] == '.' && len(s) > 4 && phrases.IsDigit(s[4])) {
		return ""
	}
	return s[:3]
}

// leadingStatus finds an error status in a first line: "404 Not Found",
// "HTTP Error 403: Forbidden", "request failed with status code 500".
func leadingStatus(low string) (string, bool) {
	s := errortext.Strip(low)
	if !strings.ContainsAny(s, "45") { // no error status begins otherwise
		return "", false
	}
	for _, lead := range httpLeads {
		i := strings.Index(s[:min(len(s), 160+len(lead))], lead)
		if i < 0 || i > 0 && phrases.IsWord(s[i-1]) {
			continue
		}
		code := statusCode(strings.TrimLeft(s[i+len(lead):], " :=('\"[#"))
		remark := lead == "code" || lead == "returned" || lead == "status" || i > 0 && s[i-1] == '('
		if code >= "400" && (!remark || mentionsFailure(s)) {
			return code, true
		}
	}
	return "", false
}

// mentionsFailure reports whether a status number comes with a word that makes
// it one.
func mentionsFailure(low string) bool {
	return phrases.ContainsAny(low, []string{
		"error", "fail", "unable", "could not", "http status", "status code", "forbidden", "unauthorized", "not found",
		"bad request", "bad gateway", "unavailable", "too many requests", "gateway time",
	})
}

// sqlState introduces a code of SQL, which means what its class says.
const sqlState = "sqlstate"

// sqlPhrases are messages of database engines: SQLite, PostgreSQL, MySQL,
// SQL Server, Oracle, DuckDB, BigQuery, Snowflake, and their drivers.
var sqlPhrases = []string{
	"no such table:", "no such column:", "syntax error at or near", "error in your sql syntax", sqlState,
	"unique constraint failed", "violates unique constraint", "violates foreign key", "violates not-null",
	"violates check constraint", "foreign key constraint fails", "constraint failed", "duplicate entry", "duplicate key error",
	"ambiguous column name", "column reference", "unknown column", "unknown table", "incorrect syntax near",
	"invalid object name", "invalid column name", "sql compilation error", "catalog error:", "binder error:",
	"parser error:", "no database selected", "must appear in the group by", "operationalerror", "programmingerror",
	"psycopg2.errors", "sqlite3.", "unrecognized token:", "unrecognized name:", "invalid identifier",
	"database is locked", "relation \"", "misuse of aggregate", "ora-0", "ora-1", "permission denied for",
	"incomplete input", "cannot drop", "table already exists", "canceling statement due to", "deadlock detected", "deadlock found when",
	"could not serialize access", "lock wait timeout", "in a read-only transaction", "current transaction is aborted", "::exception:",
}

// sqlError: the message stands in one of the first two lines or the last one of
// a text that is no listing.
func sqlError(v *view, t *text) (finding, bool) {
	if t.total > 25 || v.quotes(t) && (v.ask.troubled || t.listed()) {
		return finding{}, false
	}
	for i := range t.lines {
		l := &t.lines[i]
		if i > 1 && i != len(t.lines)-1 {
			continue
		}
		p, ok := l.find(hasSQL, sqlPhrases)
		if ok && p == "deadlock detected" && len(l.s) > 60 { // in a sentence about it
			continue
		}
		if p == sqlState {
			_, code, _ := strings.Cut(strings.ToUpper(l.s), "SQLSTATE")
			ok = errortext.LeadsWithSQLState(code)
		}
		if !ok || p == "relation \"" && !strings.Contains(l.low(), "does not exist") || p == "column reference" && !strings.Contains(l.low(), "ambiguous") || v.echoes(l.s) {
			if !isEngineError(l.low()) {
				continue
			}
		}
		if v.tabulated(t) {
			break
		}
		return fails("sql-error", l.s, "the database rejected the statement"), true
	}
	return finding{}, false
}

// tabulated reports whether the first line is the head of a table: names that all stand in
// the request. Below it are rows.
func (v *view) tabulated(t *text) bool {
	head := t.first().low()
	if len(t.lines) < 2 || len(head) > 200 || strings.ContainsAny(head, ":.!") {
		return false
	}
	names := strings.FieldsFunc(head, func(r rune) bool { return !phrases.IsASCII(string(r)) || !phrases.IsWord(byte(r)) })
	asked := strings.ToLower(v.ask.text)
	for _, n := range names {
		if !phrases.HasWord(asked, n) {
			return false
		}
	}
	return len(names) > 0
}

// isEngineError recognises "ERROR 1064 (42000): …", "Msg 8134, Level 16, …" and `near "x": syntax error`.
func isEngineError(low string) bool {
	if rest, ok := strings.CutPrefix(low, "msg "); ok && phrases.IsDigit(rest[0]) && strings.Contains(rest, ", level ") {
		return true
	}
	if code, source, found := strings.Cut(low, "] ["); found && source != "" && len(code) == 6 && code[0] == '[' && errortext.LeadsWithSQLState(strings.ToUpper(code)) {
		return true // [22012] [Microsoft][ODBC Driver ...
	}
	rest, ok := strings.CutPrefix(low, "error ")
	if ok && len(rest) > 5 && phrases.IsDigit(rest[0]) && phrases.IsDigit(rest[3]) && strings.Contains(rest[:min(len(rest), 14)], "(") {
		return true
	}
	return strings.HasPrefix(errortext.Strip(low), "near \"") && strings.HasSuffix(strings.TrimRight(low, "."), "syntax error")
}

// advice opens what a tool tells the caller to do next.
var advice = []string{
	"please ", "use ", "try ", "check ", "select ", "provide ", "specify ", "inspect ", "make sure ", "ensure ", "double check ", "enable ", "run ", "set ", "contact ", "verify ", "consider ",
	"did you mean", "available ", "valid ", "allowed ", "supported ", "choose ", "call ", "start ", "stop ", "see ", "pick ", "wait ", "add ", "first ", "log in", "sign in", "you can ", "you must ", "you need ", "you may need ",
}
