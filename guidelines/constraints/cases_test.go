package constraints

import (
	"strings"
	"testing"

	"memoryd/internal/phrases"
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
k8s required: spec.template.spec.containers[0].image: Required value | the value is required
k8s enum: spec.type: Unsupported value: "Lb": supported values: "ClusterIP", "NodePort" | an unsupported value
k8s invalid: spec.replicas: Invalid value: "x": must be an integer | an invalid value
must be given: a container name must be specified for pod web-1 | the winner must be announced
one of several: Must provide either charge or payment_intent. | either way it must be provided for
choose one of: choose one of: [app sidecar] | choose wisely
invalid type: Invalid integer: 12.50 | an invalid argument about integers
absolute path: The path must be an absolute path, not relative: a.txt | the absolute truth
relative path: Absolute paths are not allowed. | absolute paths work best
order of two: The specified time range is empty. | a wide range is empty of sense
no such noun: No such customer: 'cus_12' | no such luck
bare not found: Error from server (NotFound): deployments.apps "web" not found | what was lost is found
no kind: error: the server doesn't have a resource type "deploymnt" | he does not have a car
bad address: getaddrinfo ENOTFOUND api.example.com | the address is found
unreachable: Unable to connect to the server: dial tcp 10.0.0.1:6443: i/o timeout | we are connected
certificate: x509: certificate signed by unknown authority | a certificate of merit
no right: You need to have writer access to this calendar. | you need to have access to water
already done: Charge ch_1 has already been refunded. | we are already there
wrong state: could not be captured because it has a status of canceled. | the state of the art
has changed: the object has been modified; please apply your changes to the latest version | the file has changed hands
busy: sqlite3.OperationalError: database is locked | the door is locked
wait timeout: error: timed out waiting for the condition | waiting for the bus
not one: strict mode violation: locator('button') resolved to 4 elements | the strict mode of dress
not ready: <div class="modal"></div> intercepts pointer events | a visible effect
handled by: can be handled by the "browser_handle_dialog" tool | the case is handled
terminal: Unable to use a TTY - input is not a terminal | the terminal is closed
only for: This coupon can only be applied with a subscription | you can only be young once
unknown flag: error: unknown flag: --al | an unknown flag of a country
other name: Unrecognized name: foo at [1:8] | an unrecognised name
read only: cannot execute INSERT in a read-only transaction | you read only this
aborted transaction: current transaction is aborted, commands ignored until end of transaction block | the mission is aborted
division: division by zero | a division of labour
selector: Unexpected token "=" while parsing css selector "div[=x" | the selector of the jury
malformed value: Invalid format: "2025-05-01 10:00" is malformed at " 10:00" | a malformed plant
amount bound: Amount must be at least $0.50 usd | the amount must be large
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
not found: user 'bob' not found | setupterm: could not find terminfo database
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
mcp fetch robots: The sites robots.txt (https://a.b/robots.txt), specifies that autonomous fetching of this page is not allowed | robots.txt specifies that fetching is not allowed
mcp fetch status: Failed to fetch https://a.b/c - status code 403 | Failed to fetch the paper
mcp fetch connection: Failed to fetch robots.txt https://a.b/robots.txt due to a connection issue | due to an issue
robots: robots.txt specifies that fetching is not allowed | robots.txt allows it
timeout: Command timed out | out of time
redirects: Exceeded 30 redirects | it redirects to home
transport: connection refused | a refused offer
http 4xx: status code 404 | code 4 of 4
http 5xx: 503 Service Unavailable: service unavailable | 500 services
no executable: Executable doesn't exist at /x | the executable exists
own database: no such table: project [SQL: SELECT 1] | no such table: project
too large: Response too large | a large response
slow: Query executed but took longer than expected. | it took longer to walk than expected
too generic: Query too generic, limited results | a generic query
unsupported: language 'xx' is not supported | ioctl: Operation not supported
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
			var grams phrases.Grams
			grams.Note(lower)
			return g.maybe(lower, &grams, phrases.IsASCII(text)) && g.re.MatchString(text)
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

// foreign are messages of domains that no grammar was written from: payments, clusters,
// databases, calendars, browsers, storage, mail, chat, maps, source hosting. Each stands
// with the class, and the parameter after a colon, that is to be read of it.
var foreign = map[string]string{
	`{"error":{"code":"parameter_missing","message":"Missing required param: currency.","param":"currency","type":"invalid_request_error"}}`: "missing:currency",
	`{"error":{"message":"No such customer: 'cus_9s6XKz'","param":"customer","type":"invalid_request_error"}}`:                               "not_found:customer",
	`{"error":{"message":"Received unknown parameter: receipt_mail","param":"receipt_mail"}}`:                                                "unknown:receipt_mail",
	`{"error":{"message":"Invalid integer: 12.50","param":"amount"}}`:                                                                        "type:amount",
	`{"error":{"message":"Your card has insufficient funds.","code":"card_declined"}}`:                                                       "balance:",
	"Charge ch_3Nk has already been refunded.":                                                                                               "already_done:",
	"Must provide either charge or payment_intent.":                                                                                          "one_of:",
	`Error from server (NotFound): deployments.apps "web" not found`:                                                                         "not_found:",
	`Error from server (Forbidden): pods is forbidden: User "dev" cannot list resource "pods" in API group ""`:                               "no_right:",
	"error: unknown flag: --al\nSee 'kubectl get --help' for usage.":                                                                         "option:",
	"error: timed out waiting for the condition on deployments/web":                                                                          "wait_timeout:",
	`The Deployment "web" is invalid: spec.template.spec.containers[0].image: Required value`:                                                "missing:spec.template.spec.containers[].image",
	"the object has been modified; please apply your changes to the latest version and try again":                                            "stale:",
	"Unable to connect to the server: x509: certificate signed by unknown authority":                                                         "certificate:",
	"Unable to use a TTY - input is not a terminal or the right kind of file":                                                                "no_terminal:",
	`column "usr_id" does not exist` + "\nLINE 1: SELECT usr_id FROM users":                                                                  "sql_name:",
	"permission denied for table payroll":                                                                                                    "no_right:",
	"current transaction is aborted, commands ignored until end of transaction block":                                                        "aborted_transaction:",
	"cannot execute INSERT in a read-only transaction":                                                                                       "read_only:",
	"(sqlite3.OperationalError) database is locked":                                                                                          "busy:",
	"division by zero": "division_by_zero:",
	"canceling statement due to statement timeout":                                                                 "timeout:",
	`{"error":{"code":400,"message":"The specified time range is empty.","errors":[{"reason":"timeRangeEmpty"}]}}`: "relation:",
	`{"error":{"code":400,"message":"Missing end time."}}`:                                                         "missing:",
	`{"error":{"code":403,"message":"You need to have writer access to this calendar."}}`:                          "no_right:",
	`{"error":{"code":410,"message":"Resource has been deleted"}}`:                                                 "not_found:",
	"Error: locator.click: Error: strict mode violation: locator('button') resolved to 4 elements:":                "not_one:",
	"Error: Ref e33 not found in the current page snapshot. Try capturing new snapshot.":                           "stale:",
	`Error: locator.click: <div class="modal"></div> intercepts pointer events`:                                    "not_ready:",
	"Error: page.goto: net::ERR_NAME_NOT_RESOLVED at https://nosuch.example/":                                      "bad_address:",
	"Error: locator.click: Target page, context or browser has been closed":                                        "gone:",
	"TimeoutError: locator.click: Timeout 5000ms exceeded.\nCall log:\n  - waiting for locator('x')":               "wait_timeout:",
	"An error occurred (NoSuchBucket) when calling the ListObjects operation: The specified bucket does not exist": "not_found:",
	"An error occurred (AccessDenied) when calling the PutObject operation: Access Denied":                         "auth:",
	"fatal: not a git repository (or any of the parent directories): .git":                                         "git:",
	"Error: EACCES: permission denied, open '/etc/x'":                                                              "permission:",
	`{"ok":false,"error":"ratelimited"}`:                                                                           "rate:",
	`{"message":"Validation Failed","errors":[{"resource":"Issue","field":"title","code":"missing_field"}]}`:       "missing:title",
	"HTTP Error 503: Service Unavailable":                                                                          "http_5xx:",
	"Path must be absolute: notes/todo.md":                                                                         "absolute_path:",
	"getaddrinfo EAI_AGAIN api.example.com":                                                                        "bad_address:",
	"curl: (28) Connection timed out after 10001 milliseconds":                                                     "unreachable:",
	"Your input image is too large. Maximum allowed size is 20 MB":                                                 "too_large:",
	"requests.exceptions.TooManyRedirects: Exceeded 20 redirects.":                                                 "redirects:",
	"Not enough stock for SKU 4411 in warehouse B":                                                                 "capacity:",
	"Room 12 is not available on the date requested: room is not available":                                        "availability:",
	"Sorry, this item is out of stock":                                                                             "availability:",
	"order cannot be cancelled once it was shipped":                                                                "forbidden:",
	"Traceback (most recent call last):\n  File \"a.py\", line 2\nRuntimeError: boom":                              "exception:",
	"Patch rejected: it introduced a syntax error in app/models.py":                                                "edit_syntax:",
	"The change introduces syntax errors":                                                                          "edit_syntax:",
	"Applying the edit results in syntax errors: unexpected indent":                                                "edit_syntax:",
	"connect ECONNREFUSED 127.0.0.1:5432":                                                                          "transport:",
	"No workbook is currently open. Open one first.":                                                               "state:",
	"Sheet not found. Available sheets: []":                                                                        "nothing_yet:",
	"end_date must be later than start_date":                                                                       "relation:end_date",
	"absolute paths are not permitted in this sandbox":                                                             "relative_path:",
	"Browser is not installed. Please run the install command":                                                     "not_set_up:",
	"chmod: invalid mode: 'u=z'":                                                                                   "bad_value:",
	"tar: Cowardly refusing to create an empty archive":                                                            "bad_value:",
	"bash: /opt/app: cannot execute binary file: Exec format error":                                                "cannot_execute:",
	"Malformed query: expected a filter":                                                                           "malformed:",
	"cp: 'a' and 'a' are the same file":                                                                            "bad_value:",
	"(sqlite3.OperationalError) no such table: notes\n[SQL: SELECT * FROM notes]":                                  "not_set_up:",
	"sources.1.url (Invalid url)":                                                                                  "format:sources[].url",
	"No results found for query":                                                                                   "",
}

func TestMessagesOfOtherDomainsAreRead(t *testing.T) {
	read := 0
	for text, want := range foreign {
		got := ""
		if found := Read(text); len(found) > 0 {
			got = string(found[0].Class) + ":" + found[0].Parameter
		}
		if got == want {
			read++
		} else {
			t.Errorf("%.90q is read as %q, want %q", text, got, want)
		}
	}
	t.Logf("%d of %d", read, len(foreign))
}

func TestEveryClassHasARemedyWithoutASlot(t *testing.T) {
	for name, c := range classes {
		if last := c.do[len(c.do)-1]; strings.Contains(last, "{") || c.label == "" {
			t.Errorf("%s: %q, %q", name, c.label, last)
		}
	}
}
