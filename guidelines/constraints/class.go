package constraints

import "strings"

// The classes, from the most specific to the least.
const (
	Missing    Class = "missing"
	Unknown    Class = "unknown"
	Type       Class = "type"
	Enum       Class = "enum"
	Range      Class = "range"
	Length     Class = "length"
	Format     Class = "format"
	Invalid    Class = "invalid"
	Dependency Class = "dependency"
	Serialize  Class = "serialize"
	OneOf      Class = "one_of"

	AbsolutePath Class = "absolute_path"
	RelativePath Class = "relative_path"
	AlreadyDone  Class = "already_done"
	WrongState   Class = "wrong_state"
	NotOne       Class = "not_one"
	NotReady     Class = "not_ready"
	NoRight      Class = "no_right"
	Busy         Class = "busy"
	Waited       Class = "wait_timeout"
	Unreachable  Class = "unreachable"
	Address      Class = "bad_address"
	Certificate  Class = "certificate"
	Capacity     Class = "capacity"
	Terminal     Class = "no_terminal"
	ReadOnly     Class = "read_only"
	Aborted      Class = "aborted_transaction"
	Divided      Class = "division_by_zero"

	Sum         Class = "sum"
	Balance     Class = "balance"
	SoldOut     Class = "availability"
	Forbidden   Class = "forbidden"
	SameOrNot   Class = "relation"
	Exists      Class = "exists"
	State       Class = "state"
	Gone        Class = "gone"
	Stale       Class = "stale"
	NotFound    Class = "not_found"
	NothingYet  Class = "nothing_yet"
	UnknownTool Class = "unknown_tool"
	Auth        Class = "auth"
	Rate        Class = "rate"
	Robots      Class = "robots"
	Timeout     Class = "timeout"
	Redirects   Class = "redirects"
	Transport   Class = "transport"
	NotSetUp    Class = "not_set_up"
	BadRequest  Class = "http_4xx"
	ServerError Class = "http_5xx"
	TooLarge    Class = "too_large"
	TooGeneric  Class = "too_generic"
	Unsupported Class = "unsupported"

	NoCommand   Class = "command_not_found"
	Quotes      Class = "quotes"
	ShellSyntax Class = "shell_syntax"
	NoFile      Class = "no_such_file"
	IsDirectory Class = "is_directory"
	NotDir      Class = "not_a_directory"
	Permission  Class = "permission"
	FileExists  Class = "file_exists"
	NotBinary   Class = "cannot_execute"
	TestSyntax  Class = "test_syntax"
	Option      Class = "option"
	Operand     Class = "operand"
	Recursive   Class = "recursive"
	Glob        Class = "glob"
	FindSyntax  Class = "find_syntax"
	Awk         Class = "awk"
	Sed         Class = "sed"
	JQ          Class = "jq"
	Git         Class = "git"
	BadValue    Class = "bad_value"
	Malformed   Class = "malformed"
	Usage       Class = "usage"

	SQLName    Class = "sql_name"
	SQLSyntax  Class = "sql_syntax"
	SQLUnclear Class = "sql_ambiguous"
	SQLRule    Class = "sql_constraint"
	SQLGroup   Class = "sql_group"
	SQLType    Class = "sql_type"

	Module     Class = "module"
	CodeName   Class = "code_name"
	CodeSyntax Class = "code_syntax"
	CodeType   Class = "code_type"
	CodeKey    Class = "code_key"
	CodeNull   Class = "code_null"
	NotJSON    Class = "not_json"
	Exception  Class = "exception"
	EditSyntax Class = "edit_syntax"
	EditUnique Class = "edit_not_unique"
	EditAbsent Class = "edit_no_match"

	Failed Class = "failed"
)

// The tiers: a class of a higher tier is silenced where one of a lower was read.
const (
	tierSchema = iota
	tierRule
	tierService
	tierLocal
	tierGeneric
	leastSpecific
)

// class is what is known of a class beside its name.
type class struct {
	tier int
	// label are the words by which it is named where a message may not be quoted.
	label string
	// do are its remedies, the most specific first; the first whose slots can all be
	// filled is given: {p} parameter, {o} other, {t} type, {b} bound, {u} unit, {v}
	// values, {f} format, {s} slot.
	do []string
	// silences are classes that the same text reads as, wrongly.
	silences []Class
	// stop says that no other input helps: the tool, or this use of it, is to be
	// left alone.
	stop bool
}

func classOf(c Class) class { return classes[c] }

// Label names a class in a few words.
func (c Class) Label() string { return classOf(c).label }

// Names is how a constraint's message is named where it may not be quoted: the
// wording of the library that it came from, or else the class.
func (c Constraint) Names() string {
	for i := range catalogue {
		if catalogue[i].name == c.Grammar && catalogue[i].says != "" {
			return catalogue[i].says
		}
	}
	return c.Class.Label()
}

// Rules reports whether the class is a rule of the tool itself, about its
// parameters or its domain, not trouble on the way to it or within a program.
func (c Class) Rules() bool { return classOf(c).tier <= tierRule }

// Stops reports whether no other input would help.
func (c Class) Stops() bool { return classOf(c).stop }

// Mendable reports whether a call with another input may do: the cause is in what was
// asked for, not in the tool.
func (c Class) Mendable() bool {
	is := classOf(c)
	return !is.stop && (is.tier <= tierRule || is.tier == tierLocal)
}

var classes = map[Class]class{
	Missing:    {tier: tierSchema, label: "required parameter is missing", do: []string{"Always give {p}.", "Give every parameter that the message names as missing."}},
	Unknown:    {tier: tierSchema, label: "parameter is unknown", do: []string{"Leave out {p}; give {o}.", "Leave out {p}.", "Give only parameters that the tool knows."}, silences: []Class{Forbidden}},
	Type:       {tier: tierSchema, label: "value has the wrong type", do: []string{"Give {p} as {t}.", "Give {p} with the type that the tool asks for.", "Give each value with the type that the tool asks for."}},
	Enum:       {tier: tierSchema, label: "value is not one of the allowed", do: []string{"Set {p} to one of {v}.", "Use one of {v}.", "Set {p} to an allowed value.", "Use one of the allowed values."}, silences: []Class{Invalid}},
	Range:      {tier: tierSchema, label: "number is out of range", do: []string{"Keep {p} {b}.", "Keep {p} within its bounds.", "Keep numbers within their bounds."}},
	Length:     {tier: tierSchema, label: "value has the wrong length", do: []string{"Give {p} {b} {u}.", "Keep {p} within the allowed length.", "Keep values within the allowed length."}},
	Format:     {tier: tierSchema, label: "value has the wrong format", do: []string{"Write {p} as {f}.", "Write {p} in the form of a call that worked.", "Write the value as {f}.", "Write the value in the form that the tool asks for."}, silences: []Class{Invalid}},
	Dependency: {tier: tierSchema, label: "parameter needs another one", do: []string{"Give {p} together with {o}.", "Give the parameters together that belong together."}},
	Invalid:    {tier: tierGeneric, label: "value is not valid", do: []string{"Check {p}: take its form from a call that worked.", "Check the values: take their form from a call that worked."}},
	Serialize:  {tier: tierSchema, label: "value cannot be parsed", do: []string{"Send {p} as valid JSON.", "Send valid JSON."}},

	OneOf: {tier: tierSchema, label: "one of several parameters is to be given", do: []string{"Give exactly one of the parameters that the message names."}, silences: []Class{Missing}},

	AbsolutePath: {tier: tierSchema, label: "path is not absolute", do: []string{"Give {p} as an absolute path.", "Give an absolute path."}, silences: []Class{Invalid, NoFile}},
	RelativePath: {tier: tierSchema, label: "absolute path is not allowed", do: []string{"Give {p} as a relative path.", "Give a relative path."}, silences: []Class{Invalid, Forbidden}},
	AlreadyDone:  {tier: tierRule, label: "already done", do: []string{"Look at its state first: what was done already cannot be done again."}, silences: []Class{Forbidden, Gone}},
	WrongState:   {tier: tierRule, label: "not in the right state", do: []string{"Look at its state first; wait until it is right, or choose another one."}, silences: []Class{Forbidden, Invalid}},
	NotOne:       {tier: tierRule, label: "matches more than one", do: []string{"Make {p} name one thing only: several matched.", "Name one thing only: several matched."}},
	NotReady:     {tier: tierRule, label: "element is not ready", do: []string{"Look at the page first: close what covers the element, scroll to it, or wait until it is enabled."}, silences: []Class{Timeout, Waited}},
	NoRight:      {tier: tierRule, label: "no permission for this", do: []string{"Do not try this on what you may not access: choose another one or tell the user."}, silences: []Class{Auth, Permission, Forbidden, BadRequest}},
	Busy:         {tier: tierRule, label: "locked or busy", do: []string{"Wait a moment, then try once more: another one holds it."}, silences: []Class{Exception}},
	Waited:       {tier: tierRule, label: "timed out waiting", do: []string{"Check first that what it waits for is there and ready; do not just try again."}, silences: []Class{Timeout, Exception, Unreachable}},
	Unreachable:  {tier: tierService, label: "host does not answer", do: []string{"Try once more at most, then take another source."}, silences: []Class{Timeout, Transport}},
	Address:      {tier: tierService, label: "no such address", do: []string{"Take {p} from an answer that was read; do not guess it.", "Take addresses from an answer that was read; do not guess them."}, silences: []Class{Transport, Unreachable, NotFound}},
	Certificate:  {tier: tierService, label: "certificate is not trusted", do: []string{"Take another source: its certificate is not trusted."}, silences: []Class{Transport, Unreachable}},

	Sum:         {tier: tierRule, label: "amounts do not add up", do: []string{"Make the amounts in {p} add up to the total before calling.", "Add up the amounts before calling: together they must equal the total price."}},
	Balance:     {tier: tierRule, label: "balance is not enough", do: []string{"Compare the balance of {p} with the amount before paying; else pay another way.", "Compare the balance with the amount before paying; else pay another way."}},
	Capacity:    {tier: tierRule, label: "not enough left", do: []string{"Check first that enough {s} are left for all in {p}.", "Check first that enough {s} are left for all.", "Check first that enough is left for all."}},
	SoldOut:     {tier: tierRule, label: "not available", do: []string{"Check availability before calling, and pass only what was listed as available."}},
	Forbidden:   {tier: tierRule, label: "not allowed for this use", do: []string{"Do not pass a {p} of that kind here.", "Do not try this on that kind of object; choose another way."}},
	SameOrNot:   {tier: tierRule, label: "values must match", do: []string{"Make {p} and {o} match as the tool asks.", "Compare the values that belong together before calling."}},
	Exists:      {tier: tierRule, label: "already exists", do: []string{"Choose another {p}, or update what exists.", "Look whether it exists first; choose another name or update it."}},
	State:       {tier: tierRule, label: "something has to be open or loaded first", do: []string{"Call {s} first.", "Open or create it first, and pass on the id that this returns."}},
	Gone:        {tier: tierRule, label: "process or session is gone", do: []string{"Start a new one instead of writing to one that has ended.", "Start a new one first."}},
	Stale:       {tier: tierRule, label: "content has changed", do: []string{"Read again and pass the new {p}.", "Read again and pass the new version."}, silences: []Class{NotFound, Exception}},
	NotFound:    {tier: tierRule, label: "not found", do: []string{"Give an existing {p}: look it up first.", "Look it up first and pass exactly the id or name that was returned."}},
	NothingYet:  {tier: tierRule, label: "nothing is there yet", do: []string{"Create it first: the list of what is available was empty.", "Create it first."}, silences: []Class{NotFound}},
	UnknownTool: {tier: tierRule, label: "no such tool", do: []string{"Do not call it: no tool of this name exists; use another one."}, silences: []Class{NotFound}, stop: true},
	TooLarge:    {tier: tierRule, label: "too large", do: []string{"Ask for less in one call: narrow {p} or page through it.", "Ask for less in one call: narrow the request or page through it."}},

	TooGeneric:  {tier: tierRule, label: "query too generic", do: []string{"Make {p} more specific.", "Ask more specifically: name what is looked for."}, silences: []Class{TooLarge}},
	Unsupported: {tier: tierRule, label: "not supported", do: []string{"Give {p} only values that are known to work.", "Use only values that are known to work."}, silences: []Class{Invalid}},

	Auth:        {tier: tierService, label: "not authorised", do: []string{"Call it only with valid credentials; otherwise use another tool or tell the user."}, silences: []Class{BadRequest, Transport}, stop: true},
	Rate:        {tier: tierService, label: "too many requests", do: []string{"Wait {b} seconds before the next call.", "Wait before the next call, and call less often."}, silences: []Class{BadRequest}},
	Robots:      {tier: tierService, label: "fetching is not allowed by robots.txt", do: []string{"Do not fetch a site whose robots.txt forbids it; take another source."}, silences: []Class{Forbidden}},
	Timeout:     {tier: tierService, label: "timed out", do: []string{"Ask for less in one call: a narrower path, query or range."}, silences: []Class{Transport}},
	Redirects:   {tier: tierService, label: "too many redirects", do: []string{"Use another tool or tell the user: it never gets past redirects."}, silences: []Class{Transport}},
	Transport:   {tier: tierService, label: "no connection", do: []string{"Try once more at most, then take another source."}},
	NotSetUp:    {tier: tierService, label: "tool is not set up", do: []string{"Use another tool or tell the user: it is not set up here."}, silences: []Class{SQLName, NoFile, Transport, Gone, Unsupported, Invalid}, stop: true},
	BadRequest:  {tier: tierService, label: "request was refused (4xx)", do: []string{"After status {s} do not send the same request again: change the values or take another source.", "Do not send a refused request again: change the values or take another source."}},
	ServerError: {tier: tierService, label: "server failed (5xx)", do: []string{"Try once more at most, then take another source."}, silences: []Class{Transport}},

	NoCommand:   {tier: tierLocal, label: "command not found", do: []string{"Do not use {s}: it is not installed.", "Send only a command: no prose, backticks or unfinished block."}},
	Quotes:      {tier: tierLocal, label: "unexpected EOF while looking for matching quote", do: []string{"Close every quote and bracket; never nest one kind."}, silences: []Class{ShellSyntax}},
	ShellSyntax: {tier: tierLocal, label: "syntax error near unexpected token", do: []string{"Send only a command: no prose, backticks or unfinished block."}},
	NoFile:      {tier: tierLocal, label: "no such file or directory", do: []string{"List a directory before naming paths in it."}, silences: []Class{NotFound}},
	IsDirectory: {tier: tierLocal, label: "is a directory", do: []string{"Name a file there, not a directory."}},
	NotDir:      {tier: tierLocal, label: "not a directory", do: []string{"Name a directory there, not a file."}},
	Permission:  {tier: tierLocal, label: "permission denied", do: []string{"Work on paths that you may read and write; do not try the same path again."}},
	FileExists:  {tier: tierLocal, label: "file exists", do: []string{"Remove the target first or choose another name."}},
	NotBinary:   {tier: tierLocal, label: "cannot execute binary file", do: []string{"Name a program directly, not as a script for a shell."}},
	TestSyntax:  {tier: tierLocal, label: "operator expected in a test", do: []string{"Put blanks around operators and quotes around variables in a test."}},
	Option:      {tier: tierLocal, label: "invalid option", do: []string{"Use only options that {s} has: it refused -{o}.", "Use only options that the program has."}, silences: []Class{Usage}},
	Operand:     {tier: tierLocal, label: "operand or argument is missing", do: []string{"Give {s} all its operands.", "Give each program all its operands."}, silences: []Class{Usage, Missing}},
	Recursive:   {tier: tierLocal, label: "omitting directory", do: []string{"Copy a directory with -r."}},
	Glob:        {tier: tierLocal, label: "paths must precede expression", do: []string{"Quote each pattern after -name or -path singly."}},
	FindSyntax:  {tier: tierLocal, label: "find expression is incomplete", do: []string{"End -exec with \\; or +, and use only tests that find has."}},
	Awk:         {tier: tierLocal, label: "syntax error in the awk program", do: []string{"Quote awk programs singly; check their braces."}, silences: []Class{SQLSyntax, Quotes}},
	Sed:         {tier: tierLocal, label: "sed expression is incomplete", do: []string{"Close the sed expression: s/old/new/."}},
	JQ:          {tier: tierLocal, label: "jq filter is wrong", do: []string{"Put the jq filter in single quotes, and check its paths."}},
	Git:         {tier: tierLocal, label: "git refused", do: []string{"Run git inside the repository, with names that git status or git branch show."}},
	BadValue:    {tier: tierLocal, label: "program refused a value", do: []string{"Check the values that {s} takes.", "Check the values of the options."}, silences: []Class{Type}},
	Malformed:   {tier: tierLocal, label: "command is malformed", do: []string{"Send only a command: no prose, backticks or unfinished block."}},
	Terminal:    {tier: tierLocal, label: "no terminal", do: []string{"Do not use what needs a terminal: leave out interactive programs and options."}, silences: []Class{NotFound, Exception}},
	Usage:       {tier: tierLocal, label: "usage was printed", do: []string{"Check the program's options and operands: it only printed its usage."}},

	SQLName:    {tier: tierLocal, label: "no such column or table", do: []string{"Give an existing {p}: list the tables and columns first.", "List the tables and columns first, and use only these names."}, silences: []Class{NotFound, Invalid, Type}},
	SQLSyntax:  {tier: tierLocal, label: "SQL syntax error", do: []string{"Check the SQL around the place that the message names."}},
	SQLUnclear: {tier: tierLocal, label: "column is ambiguous", do: []string{"Write the table before each column that two tables have."}, silences: []Class{NotOne}},
	SQLRule:    {tier: tierLocal, label: "database constraint failed", do: []string{"Look at the rows that exist before writing: a constraint refused the new one."}, silences: []Class{Exists}},
	SQLGroup:   {tier: tierLocal, label: "aggregate is misused", do: []string{"Put every plain column into GROUP BY, and filter aggregates with HAVING."}},
	SQLType:    {tier: tierLocal, label: "value does not fit the column", do: []string{"Give each column a value of its type, or cast it."}, silences: []Class{Invalid, TooLarge}},
	ReadOnly:   {tier: tierLocal, label: "only reading is allowed", do: []string{"Only read here: writing is refused."}, silences: []Class{Permission}},
	Aborted:    {tier: tierLocal, label: "transaction is aborted", do: []string{"End the aborted transaction first (ROLLBACK), then send the statement again."}},
	Divided:    {tier: tierLocal, label: "division by zero", do: []string{"Make sure that the divisor is not zero."}, silences: []Class{Exception, CodeType}},

	Module:     {tier: tierLocal, label: "module is not installed", do: []string{"Do not import {s}: it is not installed.", "Import only what is installed."}, silences: []Class{NotFound, Exception}},
	CodeName:   {tier: tierLocal, label: "name is not defined", do: []string{"Define or import each name before using it."}, silences: []Class{Exception}},
	CodeSyntax: {tier: tierLocal, label: "syntax error in code", do: []string{"Check brackets, quotes and indentation before sending code."}, silences: []Class{Exception}},
	CodeType:   {tier: tierLocal, label: "value of the wrong type in code", do: []string{"Check the types of the values before the operation."}, silences: []Class{Exception}},
	CodeKey:    {tier: tierLocal, label: "key or index is not there", do: []string{"Look at the keys before using one."}, silences: []Class{Exception}},
	CodeNull:   {tier: tierLocal, label: "nothing where a value was expected", do: []string{"Check that the value before the dot is there."}, silences: []Class{Exception}},
	NotJSON:    {tier: tierLocal, label: "answer was not JSON", do: []string{"Check the answer before reading it as JSON: it was empty or a page."}, silences: []Class{Exception}},
	Exception:  {tier: tierLocal, label: "code raised an exception", do: []string{"Read the last line of the traceback and change that line of the code."}},
	EditSyntax: {tier: tierLocal, label: "edit has introduced new syntax errors", do: []string{"Keep the indentation of the lines around the edit, and replace whole statements."}, silences: []Class{CodeSyntax, CodeName}},
	EditUnique: {tier: tierLocal, label: "text to replace is not unique", do: []string{"Add lines around the text to replace until it occurs once."}, silences: []Class{EditAbsent}},
	EditAbsent: {tier: tierLocal, label: "text to replace was not found", do: []string{"View the file and copy the text to replace exactly, with its white space."}},

	Failed: {tier: leastSpecific, label: "the call failed", do: []string{"Change the input before calling again."}},
}

// Says reports whether a lower-case word is of the wording of the class: of its
// remedies or its label.
func (c Class) Says(w string) bool { return wording[c][w] }

var wording = wordsOfClasses()

func wordsOfClasses() map[Class]map[string]bool {
	known := map[Class]map[string]bool{}
	note := func(c Class, texts ...string) {
		if known[c] == nil {
			known[c] = map[string]bool{}
		}
		for _, w := range strings.FieldsFunc(strings.ToLower(strings.Join(texts, " ")), func(r rune) bool { return (r < 'a' || r > 'z') && r != '\'' }) {
			known[c][w] = true
		}
	}
	for c, x := range classes {
		note(c, append([]string{x.label}, x.do...)...)
	}
	return known
}
