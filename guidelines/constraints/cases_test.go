package constraints

import (
	"strings"
	"testing"
)

// cases hold, for each grammar, a text that it reads and one that looks alike and
// that it must leave alone; they are separated by " | ".
const cases = `
jsonschema required: 'path' is a required property | the 'path' is required reading
jsonschema additional: Additional properties are not allowed ('zz' was unexpected) | Additional properties are allowed
jsonschema enum: 'q' is not one of ['a', 'b'] | she is not one of them
jsonschema type: '1' is not of type 'integer' | this is not of the type I like
jsonschema maximum: 11 is greater than the maximum of 10 | the maximum of 10 is greater
jsonschema exclusive maximum: 5 is greater than or equal to the maximum of 5 | 5 is greater than the maximum of 4
jsonschema minimum: 0 is less than the minimum of 1 | at least the minimum of 1
jsonschema exclusive minimum: 0 is less than or equal to the minimum of 0 | 0 is less than the minimum of 1
jsonschema length: 'abcd' is too long | the queue is too long
jsonschema pattern: 'b' does not match '^a' | the key does not match the lock
jsonschema format: 'x' is not a 'date-time' | he is not a doctor
jsonschema multiple: 3 is not a multiple of 5 | three multiples of 5
jsonschema dependency: 'n' is a dependency of 'mode' | zlib is a dependency of png
ajv required: must have required property 'path' | must have the property
ajv additional: must NOT have additional properties | may have additional properties
ajv type: data/n must be integer | data must be complete
ajv range: data/n must be <= 10 | data/n must be small
ajv enum: data/mode must be equal to one of the allowed values | one of the allowed values
ajv more: data/s must NOT have more than 3 characters | must have more than 3 characters
ajv fewer: data/s must NOT have fewer than 3 items | no fewer than 3 items
ajv format: data/url must match format "uri" | must match the colour
field required: Field required | optional field
extra: Extra inputs are not permitted | extra inputs are fine
expected one of: Input should be 'a', 'b' or 'c' | Input should be short
valid type: Input should be a valid integer | a valid point
expected type: Expected number, received string | expected a letter, received a parcel
valid form: Input should be a valid url | a valid argument
compare: Input should be less than or equal to 10 | less than ideal
at most long: String should have at most 5 characters | at most once
at least long: List should have at least 2 items after validation | at least once
pattern: String should match pattern '^[a-z]+$' | should match the style
go validator required: Key: 'A.Name' Error:Field validation for 'Name' failed on the 'required' tag | Field validation for 'Name' passed
go validator: Key: 'A.Name' Error:Field validation for 'Name' failed on the 'email' tag | failed on the 'required' tag
santhosh missing: missing properties 'a', 'b' | missing property tax form
santhosh additional: additional properties 'a' not allowed | additional properties are welcome
santhosh enum: value must be one of 'a', 'b' | value must be one
santhosh type: got string, want integer | got mail, want more
santhosh maximum: maximum: got 11, want 10 | maximum: 10
santhosh minimum: minimum: got 0, want 1 | minimum: 1
santhosh max length: maxLength: got 4, want 3 | maxLength: 3
santhosh max items: maxItems: got 4, want 3 | maxItems: 3
encoding/json type: json: cannot unmarshal string into Go struct field A.n of type int | cannot unmarshal it
encoding/json unknown: json: unknown field "zz" | unknown field of study
encoding/json syntax: invalid character '<' looking for beginning of value | an invalid character appeared in the play
python missing: f() missing 2 required positional arguments: 'a' and 'b' | two arguments are missing
python unexpected: f() got an unexpected keyword argument 'd' | an unexpected argument broke out
python count: f() takes 2 positional arguments but 4 were given | it takes two to tango
mcp list: sources.0.url (Invalid url) | the page (Invalid since May)
openai missing: Missing required parameter: 'model'. | Missing parameter
openai unknown: Unknown parameter: 'foo'. | Unknown parameter space
openai enum: Invalid value: 'x'. Supported values are: 'a', 'b'. | supported values vary
openai context: This model's maximum context length is 8192 tokens. | in the maximum of context
anthropic extra: messages.0.foo: Extra inputs are not permitted | Extra inputs are permitted
anthropic required: max_tokens: Field required | Field trips required
anthropic bound: max_tokens: 100000 > 8192, which is the maximum | a: b > c
missing named: Missing required parameters: city, country | missing the point
is required: username is required | the required reading
must be type: limit must be an integer | it must be said
must be one of: mode must be one of: fast, slow | it must be Monday
valid values: Allowed values are: red, green | allowed to pass
between: page must be between 1 and 20 | between 1 and 20
at most: limit must not exceed 100 | at most 100
at least: count must be at least 2 | at least 2 people came
positive: amount must be a positive number | stay positive
relation of two: end_date must be after start_date | Sunday must be after Saturday
invalid format: invalid email address | an invalid assumption
parameter format: 'date' must be in format YYYY-MM-DD | the date must be in the past
use format: expected format YYYY-MM-DD | the usual format
python format: time data '1.2.' does not match format '%Y-%m-%d' | the data does not match format rules
available list: Available presentations: [deck_a, deck_b] | available on request
available none: Available presentations: [] | Available presentations: [a]
noun not found: payment method not found | we found the payment method
not found: user 'bob' not found | nothing was lost
exists: file already exists | it already is there
nothing loaded: No presentation is currently loaded | no problem is known
do first: You must first open a session first | first come first served
not initialised: server not initialized | an initialized server
gone: the process may have exited | process exited with code 1
stale: file hash mismatch | a stale joke
unknown tool: Unknown tool: excel_read | an unknown tool maker
not authorised: 401 Unauthorized | the author is known
rate: 429 Too Many Requests | a rate of 5 percent
retry after: Retry-After: 30 | a retry is fine
robots: robots.txt specifies that fetching is not allowed | robots.txt allows it
timeout: Command timed out | out of time
redirects: Exceeded 30 redirects | it redirects to home
transport: connection refused | a refused offer
fetch status: Failed to fetch https://a.example/ - status code 403 | status code 403
fetch connection: Failed to fetch robots.txt https://a.example/robots.txt due to a connection issue | a connection issue
http 4xx: status code 404 | code 4 of 4
http 5xx: 503 Service Unavailable: service unavailable | 500 services
no executable: Executable doesn't exist at /x | the executable exists
own database: no such table: project [SQL: SELECT 1] | no such table: project
too large: Response too large | a large response
too generic: Query too generic, limited results | a generic query
unsupported: language 'xx' is not supported | it is supported
invalid noun: invalid token | invalidation was done
could not: Failed to open it | all went well
sum: payment amount does not add up | add up the sums
balance: gift card balance is not enough | your balance is 5
not enough: not enough seats on flight HAT290 | not enough said
not available on: flight HAT030 not available on date 2024-05-13 | available on Monday
cannot be: certificate cannot be used to update reservation | it cannot be helped
same: origin and destination should be different | it should be fun
command not found: bash: line 1: xxd: command not found | command was found
bash quote: unexpected EOF while looking for matching quote | EOF reached
bash syntax: syntax error near unexpected token | a syntax lesson
xargs quote: xargs: unmatched single quote; by default quotes are special | unmatched single socks
no such file: ls: cannot access 'x': No such file or directory | such a file
is a directory: cat: /etc: Is a directory | a directory of names
not a directory: cd: /etc/passwd: Not a directory | it is no directory
permission: Permission denied | permission was given
file exists: mkdir: cannot create directory: File exists | the file existed
same file: cp: 'a' and 'a' are the same file | the same file twice
not a binary: /bin/ls: cannot execute binary file | execute the binary file
test: [: too many arguments | many arguments arose
option: ls: invalid option -- 'e' | an option: invalid
option of builtin: shopt: foo: invalid shell option name | options of a shell
operand: touch: missing file operand | an operand
value: chmod: invalid mode: 'zz' | an invalid dream
omitting: cp: -r not specified; omitting directory '/etc' | omitting the details
glob: find: paths must precede expression | paths precede it
find: find: missing argument to ` + "`" + `-exec' | missing argument
awk: awk: line 2: syntax error at or near } | awkward: syntax error
sed: sed: -e expression #1, char 3: unterminated | used: expression
jq: jq: error (at <stdin>:1): Cannot index | jquery error
git: fatal: not a git repository | a digit repository
tar: tar: Error is not recoverable: exiting now | guitar: Error
cannot access: ls: cannot access 'x' | you cannot access it
usage: Usage: grep [OPTION] | the usage is fine
malformed: Malformed command | malformed horn
no editing: bind: warning: line editing not enabled | line editing
argument list: Argument list too long | a long argument
sqlite name: no such column: zz | no such luck
sqlite syntax: near "selec": syntax error | near syntax error
sqlite ambiguous: ambiguous column name: a | an ambiguous name
sqlite constraint: UNIQUE constraint failed: t.a | unique constraint
sqlite aggregate: misuse of aggregate function count() | misuse of power
postgres name: column "zz" does not exist | it does not exist
postgres syntax: syntax error at or near "selec" | syntax error at line 1
postgres ambiguous: column reference "a" is ambiguous | this is ambiguous
postgres group: column "t.a" must appear in the GROUP BY clause | group by colour
postgres type: invalid input syntax for type integer: "x" | invalid input
postgres constraint: violates foreign key constraint | it violates the rule
mysql name: Unknown column 'zz' in 'field list' | Unknown columns
mysql syntax: You have an error in your SQL syntax | an error in your speech
mysql value: Data too long for column 'a' | a long column
mysql duplicate: Duplicate entry '1' for key 'PRIMARY' | a duplicate entry
python module: ModuleNotFoundError: No module named 'nomod' | a module named x
node module: Error: Cannot find module 'nomod' | find a module
python name: NameError: name 'x' is not defined | it is not defined here
python syntax: IndentationError: unexpected indent | indentation
python attribute: AttributeError: 'list' object has no attribute 'foo' | it has no attributes
python value: ValueError: bad | value error
python key: KeyError: 'path' | a key error
python none: 'NoneType' object is not iterable | a None type
python json: JSONDecodeError: Expecting value: line 1 | expecting values
traceback: Traceback (most recent call last): | trace it back
node null: Cannot read properties of null (reading 'x') | read the properties
node call: x is not a function | it has a function
node token: SyntaxError: Unexpected token '<' | an unexpected token of love
edit syntax: Your proposed edit has introduced new syntax error(s) | new syntax
edit unique: Multiple occurrences of old_str | many occurrences
edit absent: old_str did not appear verbatim in the file | it appeared verbatim
`

func TestEveryGrammarReadsItsCaseAndLeavesItsLookAlikeAlone(t *testing.T) {
	seen := map[string]bool{}
	for line := range strings.Lines(strings.TrimSpace(cases)) {
		name, texts, ok := strings.Cut(strings.TrimSpace(line), ": ")
		good, bad, both := strings.Cut(texts, " | ")
		if !ok || !both || seen[name] {
			t.Fatalf("the case %q is malformed, or stands there twice", line)
		}
		seen[name] = true
		g := (*grammar)(nil)
		for i := range catalogue {
			if catalogue[i].name == name {
				g = &catalogue[i]
			}
		}
		if g == nil {
			t.Errorf("there is no grammar %q", name)
			continue
		}
		reads := func(text string) bool {
			lower := strings.ToLower(text)
			grams := gramsOf(lower)
			return g.maybe(lower, &grams) && g.re.MatchString(text)
		}
		if !reads(good) {
			t.Errorf("%s does not read %q", name, good)
		}
		if reads(bad) {
			t.Errorf("%s reads %q", name, bad)
		}
	}
	for i := range catalogue {
		if !seen[catalogue[i].name] {
			t.Errorf("%s has no cases", catalogue[i].name)
		}
		if _, known := classes[catalogue[i].class]; !known {
			t.Errorf("%s has the class %q, of which nothing is known", catalogue[i].name, catalogue[i].class)
		}
	}
}

func TestEveryClassHasARemedyWithoutASlot(t *testing.T) {
	for name, c := range classes {
		if last := c.do[len(c.do)-1]; strings.Contains(last, "{") || c.label == "" {
			t.Errorf("%s: %q, %q", name, c.label, last)
		}
	}
}
