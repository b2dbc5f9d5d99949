package rules_test

import (
	"strings"
	"testing"
)

func TestExceptions(t *testing.T) {
	trace := "Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\n    f()\n  File \"a.py\", line 9, in f\n    return 1/0\nZeroDivisionError: division by zero"
	run(t, map[string]example{
		"Python":                            {"python", map[string]any{"code": "f()"}, trace, 0, "exception"},
		"Python after output":               {"python", map[string]any{"code": "f()"}, "step 1\nstep 2\n" + trace, 0, "exception"},
		"Python behind a preface":           {"execute_code", map[string]any{"code": "f()"}, "Execution failed. Traceback:\n  File \"<python>\", line 1, in <module>\nException: Response status code is 401:\n{\"message\":\"not authorized\"}", 0, ""},
		"Python as one line":                {"calculator", q("1/0"), "ZeroDivisionError: division by zero", 0, "exception"},
		"Python with module":                {"get", q("x"), "requests.exceptions.ConnectionError: HTTPSConnectionPool(host='x', port=443): Max retries exceeded", 0, "exception"},
		"Python with empty message":         {"run_code", q("x"), "AssertionError", 0, "exception"},
		"Java":                              {"java", q("x"), "Exception in thread \"main\" java.lang.NullPointerException\n\tat Main.main(Main.java:3)", 0, "exception"},
		"Go":                                {"go_run", q("x"), "panic: runtime error: index out of range [3] with length 3\n\ngoroutine 1 [running]:\nmain.main()", 0, "exception"},
		"Rust":                              {"cargo", q("x"), "thread 'main' panicked at src/main.rs:2:5:\nboom\nnote: run with `RUST_BACKTRACE=1`", 0, "exception"},
		"Node":                              {"node", q("x"), "/w/a.js:1\nfoo()\n^\n\nReferenceError: foo is not defined\n    at Object.<anonymous> (/w/a.js:1:1)", 0, ""},
		"JavaScript":                        {"evaluate", q("x"), "TypeError: Cannot read properties of undefined (reading 'map')", 0, "exception"},
		"C#":                                {"dotnet", q("x"), "Unhandled exception. System.IO.FileNotFoundException: Could not find file 'x'.", 0, "exception"},
		"C++":                               {"run", q("x"), "terminate called after throwing an instance of 'std::out_of_range'", 0, "exception"},
		"PHP":                               {"php", q("x"), "PHP Fatal error:  Uncaught Error: Call to undefined function f() in a.php:3", 0, "exception"},
		"Ruby":                              {"ruby", q("x"), "a.rb:1:in `f': undefined method `x' for nil:NilClass (NoMethodError)", 0, ""},
		"Playwright":                        {"click", q("x"), "TimeoutError: locator.click: Timeout 30000ms exceeded.\nCall log:\n  - waiting for locator('#x')", 0, ""},
		"page about exceptions":             {"fetch", map[string]any{"url": "https://docs.example.com/exc"}, "# Errors and Exceptions\n\nA traceback looks so:\n\nTraceback (most recent call last):\n  File \"<stdin>\", line 1\nZeroDivisionError: division by zero\n\nTo handle exceptions use try.\n" + strings.Repeat("More prose about it.\n", 30), 1, ""},
		"search about exceptions":           {"web_search", q("python exception handling"), "Found 10 results:\n1. Exception handling in Python - a tutorial\n2. Errors and exceptions\n3. TypeError explained", 1, ""},
		"source file":                       {"read_file", map[string]any{"path": "a.py"}, "class AppError(Exception):\n    pass\n\ndef f():\n    raise AppError('failed')\n", 1, ""},
		"traceback in a log that was asked": {"read_file", map[string]any{"path": "error.log"}, "INFO start\n" + trace + "\nINFO restarted\n", 1, ""},
		"numbered listing of a source file": {"open", map[string]any{"path": "missing.py"}, "[File: /r/missing.py (5 lines total)]\n1:def f():\n2:    raise ValueError('invalid')\n3:\n4:# error: none\n5:f()", 1, ""},
	})
}

func TestErrorHeadings(t *testing.T) {
	run(t, map[string]example{
		"Error:":                    {"get_user", q("x"), "Error: user not found", 0, ""},
		"bracketed":                 {"tool", q("x"), "[ERROR] disk full", 0, ""},
		"emoji":                     {"tool", q("x"), "❌ Error: cannot connect", 0, ""},
		"bold":                      {"tool", q("x"), "**Error**: no such thing", 0, ""},
		"quoted":                    {"tool", q("x"), `"Error: bad id"`, 0, ""},
		"verb":                      {"read_file", q("x"), "Error reading file: permission denied", 0, ""},
		"in":                        {"tool", q("x"), "Error in tool: boom", 0, ""},
		"failed to":                 {"fetch", q("x"), "Failed to fetch https://x: connection reset", 0, ""},
		"unable to":                 {"tool", q("x"), "Unable to open the door", 0, ""},
		"could not":                 {"tool", q("x"), "Could not parse the date '31-31-2020'", 0, ""},
		"invalid":                   {"tool", q("x"), "Invalid date format. Use YYYY-MM-DD.", 0, ""},
		"unknown option":            {"tool", q("x"), "Unknown option: --frob", 0, ""},
		"missing parameter":         {"tool", q("x"), "Missing required field: name", 0, ""},
		"access denied":             {"read_file", q("x"), "Access denied - path outside allowed directories: /etc not in /home", 0, ""},
		"timeout":                   {"tool", q("x"), "Timeout: no answer after 30 s", 0, ""},
		"timed out":                 {"tool", q("x"), "Request timed out", 0, ""},
		"command timed out":         {"bash", sh("sleep 999"), "Command timed out after 120 seconds", 0, ""},
		"rate limit":                {"tool", q("x"), "Rate limit exceeded, retry in 20 s", 0, ""},
		"something went wrong":      {"tool", q("x"), "Something went wrong. Please try again.", 0, ""},
		"internal":                  {"tool", q("x"), "Internal error", 0, ""},
		"max results timeout":       {"web_search", map[string]any{"query": "a", "max_results": 50}, "Timeout: max_results too large", 0, ""},
		"search failed heading":     {"search_notes", q("x"), "# Search Failed\n\nError searching for 'x': database is locked", 0, ""},
		"non-pending order":         {"cancel_pending_order", q("x"), "Error: non-pending order cannot be cancelled", 0, ""},
		"editor refuses":            {"edit", q("x"), "Your proposed edit has introduced new syntax error(s). Please fix and retry.\n\nERRORS:\n- E999 IndentationError\n", 0, ""},
		"no replacement":            {"str_replace_editor", q("x"), "No replacement was performed, old_str `foo` did not appear verbatim in /a.py.", 0, ""},
		"string not found":          {"Edit", q("x"), "String to replace not found in file.\nString: foo", 0, ""},
		"requested page":            {"open_page", q("x"), "The requested page could not be loaded.", 0, ""},
		"robots":                    {"fetch", map[string]any{"url": "https://x.example"}, "The site's robots.txt (https://x.example/robots.txt) specifies that autonomous fetching of this page is not allowed", 0, ""},
		"captcha wall":              {"browse", map[string]any{"url": "https://x.example"}, "Just a moment...\nChecking your browser before accessing x.example", 0, ""},
		"topic":                     {"search", q("x"), "Error handling in Go is explicit. Functions return errors as values.", 1, ""},
		"title":                     {"music", q("x"), "Unknown Pleasures is the debut studio album by Joy Division, released in 1979.", 1, ""},
		"errors none":               {"lint", q("x"), "No errors found.", 1, ""},
		"zero errors":               {"lint", q("x"), "Finished with 0 errors and 0 warnings", 1, ""},
		"validated":                 {"validate", q("x"), "Validation successful: no issues", 1, ""},
		"article":                   {"fetch", map[string]any{"url": "https://x.example"}, "Failure Is Not an Option\n\nThe film tells the story of...\n" + strings.Repeat("Line of prose.\n", 40), 1, ""},
		"echo":                      {"think", map[string]any{"thought": "Error: I must check that the user exists"}, "Error: I must check that the user exists", 1, ""},
		"success in words":          {"create", q("x"), "Successfully created the file error_report.txt", 1, ""},
		"answer that mentions none": {"status", q("x"), "The service is running. No failures in the last 24 hours.", 1, ""},
		"number":                    {"calculator", q("x"), "404", 1, ""},
		"transfer":                  {"transfer_to_human_agents", q("x"), "Transfer successful", 1, ""},
		"chinese":                   {"tool", q("x"), "错误: 参数无效", 0, ""},
	})
}

func TestProtocolErrors(t *testing.T) {
	run(t, map[string]example{
		"MCP":                 {"tool", q("x"), "MCP error -32602: Invalid arguments for tool x: [{\"code\":\"invalid_type\"}]", 0, ""},
		"unknown tool":        {"tool", q("x"), "Unknown tool: frob", 0, ""},
		"agent executor":      {"tool", q("x"), "frob is not a valid tool, try one of [search, calc].", 0, ""},
		"pydantic":            {"tool", q("x"), "1 validation error for SearchInput\nquery\n  Field required [type=missing]", 0, ""},
		"schema":              {"tool", q("x"), "Input validation error: 'path' is a required property", 0, ""},
		"python call":         {"tool", q("x"), "f() got an unexpected keyword argument 'limit'", 0, ""},
		"python call missing": {"tool", q("x"), "search() missing 1 required positional argument: 'query'", 0, ""},
		"executing":           {"tool", q("x"), "Error executing tool search: 'NoneType' object is not iterable", 0, ""},
		"tool use error":      {"Edit", q("x"), "<tool_use_error>File has not been read yet.</tool_use_error>", 0, ""},
		"printed reply":       {"tool", q("x"), "meta=None content=[TextContent(type='text', text='boom')] isError=True", 0, ""},
		"printed reply ok":    {"tool", q("x"), "meta=None content=[TextContent(type='text', text='fine')] isError=False", 1, ""},
	})
}

func TestSQLErrors(t *testing.T) {
	run(t, map[string]example{
		"SQLite table":     {"query", q("select * from x"), "no such table: x", 0, ""},
		"SQLite near":      {"query", q("selec 1"), "near \"selec\": syntax error", 0, ""},
		"SQLite execution": {"execute_sql", q("select y from x"), "Error executing query: no such column: y", 0, ""},
		"PostgreSQL":       {"query", q("select * from x"), "ERROR:  relation \"x\" does not exist\nLINE 1: select * from x", 0, ""},
		"PostgreSQL near":  {"query", q("selec"), "syntax error at or near \"selec\"", 0, ""},
		"MySQL":            {"mysql", q("selec"), "ERROR 1064 (42000): You have an error in your SQL syntax; check the manual", 0, ""},
		"MySQL column":     {"mysql", q("select y from x"), "Unknown column 'y' in 'field list'", 0, ""},
		"constraint":       {"query", q("insert"), "UNIQUE constraint failed: users.email", 0, ""},
		"DuckDB":           {"query", q("select"), "Catalog Error: Table with name x does not exist!", 0, ""},
		"Oracle":           {"query", q("select"), "ORA-00942: table or view does not exist", 0, ""},
		"psycopg":          {"query", q("select"), "(psycopg2.errors.UndefinedTable) relation \"x\" does not exist", 0, ""},
		"rows about error": {"query", q("select code, message from error_log"), "code | message\n1 | syntax error at or near \"x\"\n2 | timeout\n(2 rows)", 1, ""},
		"rows":             {"query", q("select * from t"), "id | name\n1 | a\n2 | b", 1, ""},
		"rows as tuples":   {"query", q("select * from t"), "[(1, 'error'), (2, 'fine')]", 1, ""},
		"no rows":          {"query", q("select * from t"), "Empty set (0.00 sec)", 0.5, ""},
	})
}

func TestHTTPStatuses(t *testing.T) {
	run(t, map[string]example{
		"status line":       {"bash", sh("curl -i http://x"), "HTTP/1.1 404 Not Found\r\nContent-Type: text/html\r\n\r\nnothing", 0, ""},
		"redirect then ok":  {"bash", sh("curl -iL http://x"), "HTTP/1.1 301 Moved Permanently\r\nLocation: /y\r\n\r\nHTTP/1.1 200 OK\r\n\r\nhello", 1, ""},
		"short":             {"get", q("x"), "404 Not Found", 0, ""},
		"urllib":            {"get", q("x"), "HTTP Error 403: Forbidden", 0, ""},
		"requests":          {"get", q("x"), "404 Client Error: Not Found for url: https://x.example/y", 0, ""},
		"axios":             {"get", q("x"), "Request failed with status code 500", 0, ""},
		"sentence":          {"get", q("x"), "The server responded with 502 Bad Gateway", 0, ""},
		"number in content": {"get", q("x"), "There were 404 visitors in the museum.", 1, ""},
		"room number":       {"get", q("x"), "500 Main Street, Springfield", 1, ""},
		"html page":         {"get", q("x"), "<html><head><title>403 Forbidden</title></head><body><h1>Forbidden</h1></body></html>", 0, ""},
		"html nginx":        {"bash", sh("curl http://x"), "<html>\n<head><title>502 Bad Gateway</title></head>\n<body>\n<center><h1>502 Bad Gateway</h1></center>\n</body></html>", 0, ""},
		"html page good":    {"get", q("x"), "<html><head><title>HTTP errors explained</title></head><body>404 means not found</body></html>", 1, ""},
		"S3":                {"get", q("x"), "<?xml version=\"1.0\"?>\n<Error><Code>NoSuchKey</Code><Message>The specified key does not exist.</Message></Error>", 0, ""},
		"SOAP":              {"get", q("x"), "<soap:Envelope xmlns:soap=\"x\"><soap:Body><soap:Fault><faultstring>Bad</faultstring></soap:Fault></soap:Body></soap:Envelope>", 0, ""},
		"feed":              {"get", q("x"), "<?xml version=\"1.0\"?><rss><channel><title>Errors of the day</title></channel></rss>", 1, ""},
	})
}

func TestHalfOutcomes(t *testing.T) {
	run(t, map[string]example{
		"seed success":        {"web_search", map[string]any{"query": "Python asyncio tutorial", "max_results": 10, "language": "en", "filter_type": "technical_docs"}, "Found 10 relevant results including official documentation and tutorials", 1, "no-trouble"},
		"seed warning":        {"web_search", map[string]any{"query": "test", "max_results": 100, "language": "unknown"}, "Warning: language 'unknown' not supported. Query too generic, limited results.", 0.5, ""},
		"no results":          {"search", q("x"), "No results found.", 0.5, ""},
		"no results, advice":  {"web_search", map[string]any{}, "No results found for the given query. Please try different keywords.", 0.5, ""},
		"no books, advice":    {"book_search", q("x"), "No results found for the given query. Please try different keywords.", 0.5, ""},
		"no URL":              {"get_content", map[string]any{}, "No active tab found and no URL provided.", 0, ""},
		"no matches":          {"search_dir", q("x"), "No matches found for \"x\" in /repo", 0.5, ""},
		"zero results":        {"search", q("x"), "Found 0 results", 0.5, ""},
		"nobody":              {"find_person", q("x"), "No person found with that name", 0.5, ""},
		"empty list":          {"search_flights", q("x"), "[]", 0.5, ""},
		"empty results":       {"search", q("x"), `{"results": [], "total": 0}`, 0.5, ""},
		"null":                {"get_user", q("x"), "null", 0.5, ""},
		"refusal":             {"ask", q("x"), "I'm sorry, but I don't have enough information to answer that.", 0.5, ""},
		"ignored parameter":   {"search", q("x"), "Warning: parameter 'sort' ignored\n1. First hit\n2. Second hit", 0.5, ""},
		"partial":             {"sync", q("x"), "Partial results: 3 of 5 servers answered", 0.5, ""},
		"json warning":        {"search", q("x"), `{"hits": [1,2], "warning": "limit reduced to 10"}`, 0.5, ""},
		"empty from a getter": {"get_page", q("x"), "", 0.5, "empty-output"},
		"empty from an actor": {"delete_file", q("x"), "", 1, "empty-output"},
		"found":               {"find_file", q("missing_colon.py"), "Found 1 matches for \"missing_colon.py\" in /repo:\n/repo/tests/missing_colon.py", 1, ""},
	})
}
