package rules

import (
	"fmt"
	"strings"
	"testing"
)

// W5, W13: what hosts' tools document has the remedy that they document. The messages are
// those of Claude Code, Codex, Gemini CLI, opencode, the text editor tool, OpenHands and
// SWE-agent.
func TestMessagesOfCodingToolsHaveTheirRemedies(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ tool, input, message, want string }{
		{"Edit", `{"file_path":"/p/a.go","old_string":"a","new_string":"b"}`, "String to replace not found in file.\nString: a", "unlike"},
		{"Edit", `{"file_path":"/p/a.go","old_string":"a","new_string":"b"}`, "File has not been read yet. Read it first before writing to it.", "unread"},
		{"Edit", `{"file_path":"/p/a.go","old_string":"a","new_string":"b"}`, "Found 3 matches of the string to replace, but replace_all is false. To replace all occurrences, set replace_all to true.", "many"},
		{"Edit", `{"file_path":"/p/a.go","old_string":"a","new_string":"a"}`, "No changes to make: old_string and new_string are exactly the same.", "same"},
		{"Edit", `{"file_path":"/p/a.go","old_string":"a","new_string":"b"}`, "File does not exist.", "file"},
		{"Edit", `{"file_path":"/p/a.ipynb","old_string":"a","new_string":"b"}`, "File is a Jupyter Notebook. Use the NotebookEdit to edit this file.", "notebook"},
		{"MultiEdit", `{"file_path":"/p/a.go","edits":[{"old_string":"a","new_string":"b"}]}`, "Cannot edit file: old_string is a substring of a new_string from a previous edit.", "overlap"},
		{"Write", `{"file_path":"/p/a.go","content":"x"}`, "File has been modified since read, either by the user or by a linter. Read it again before attempting to write it.", "changed"},
		{"Read", `{"file_path":"/p/a.go"}`, "File does not exist. Did you mean a_test.go?", "file"},
		{"Read", `{"file_path":"/p"}`, "EISDIR: illegal operation on a directory, read", "directory"},
		{"Read", `{"file_path":"/p/a.log"}`, "File content (52310 tokens) exceeds maximum allowed tokens (25000). Please use offset and limit parameters to read specific portions of the file", "large"},
		{"Read", `{"path":"/p/a.go"}`, "InputValidationError: Read failed due to the following issues:\nThe required parameter `file_path` is missing\nAn unexpected parameter `path` was provided", "missing"},
		{"Read", `{"file_path":"/p/a.bin"}`, "This tool cannot read binary files. The file appears to be a binary .bin file.", "binary"},
		{"NotebookEdit", `{"notebook_path":"/p/a.ipynb","cell_id":"c9","new_source":"x"}`, "Cell with ID \"c9\" not found in notebook.", "cell"},
		{"Grep", `{"pattern":"foo("}`, "rg: regex parse error:\n    (?:foo()\nerror: unclosed group", "pattern"},
		{"Glob", `{"pattern":"**/*.go","path":"/nowhere"}`, "Directory does not exist: /nowhere", "file"},
		{"Bash", `{"command":"make all"}`, "Command timed out after 2m 0.0s", "timeout"},
		{"Bash", `{"command":"fd x"}`, "/bin/bash: line 1: fd: command not found", "program"},
		{"Bash", `{"command":"cat nope"}`, "cat: nope: No such file or directory", "file"},
		{"Bash", `{"command":"echo 'a"}`, "/bin/bash: -c: line 1: unexpected EOF while looking for matching `''", "quoting"},
		{"Bash", `{"command":"git status"}`, "fatal: not a git repository (or any of the parent directories): .git", "repository"},
		{"Bash", `{"command":"python x.py"}`, "Traceback (most recent call last):\nModuleNotFoundError: No module named 'yaml'", "module"},
		{"KillShell", `{"shell_id":"b9"}`, "No shell found with ID: b9", "shell"},
		{"Task", `{"subagent_type":"nope","prompt":"x"}`, "Agent type 'nope' not found. Available agents: general-purpose, Explore", "choice"},
		{"WebFetch", `{"url":"https://a.b/c","prompt":"x"}`, "Request failed with status code 404", "page"},
		{"apply_patch", `{"input":"*** Begin Patch\n*** Update File: a\n*** End Patch"}`, "apply_patch verification failed: Failed to find expected lines in a:\n x", "context"},
		{"apply_patch", `"*** Begin Patch"`, "apply_patch verification failed: invalid patch: The last line of the patch must be '*** End Patch'", "patch"},
		{"exec_command", `{"cmd":"ls /x"}`, "failed in sandbox: permission denied", "denied"},
		{"write_stdin", `{"session_id":7,"chars":""}`, "write_stdin failed: Unknown process id 7", "shell"},
		{"replace", `{"file_path":"/p/a","old_string":"a","new_string":"b"}`, "Failed to edit, 0 occurrences found for old_string in /p/a. No edits made.", "unlike"},
		{"replace", `{"file_path":"/p/a","old_string":"a","new_string":"b"}`, "Failed to edit, expected 1 occurrence but found 2.", "many"},
		{"read_file", `{"absolute_path":"a"}`, "File path must be absolute, but was relative: a. You must provide an absolute path.", "absolute"},
		{"read_pdf", `{"sources":[{"path":"/etc/x.pdf"}]}`, "Failed to prepare PDF source /etc/x.pdf. Reason: Absolute paths are not allowed.", "relative"},
		{"read_file", `{"absolute_path":"/etc/x"}`, "File path must be within one of the workspace directories: /p", "outside"},
		{"run_shell_command", `{"command":"ls","directory":"nope"}`, "Directory 'nope' is not a registered workspace directory.", "outside"},
		{"str_replace_editor", `{"command":"str_replace","path":"/p/a","old_str":"a","new_str":"b"}`, "No replacement was performed, old_str `a` did not appear verbatim in /p/a.", "unlike"},
		{"str_replace_editor", `{"command":"str_replace","path":"/p/a","old_str":"a","new_str":"b"}`, "No replacement was performed. Multiple occurrences of old_str `a` in lines [1, 2]. Please ensure it is unique", "many"},
		{"str_replace_editor", `{"command":"create","path":"/p/a","file_text":"x"}`, "File already exists at: /p/a. Cannot overwrite files using command `create`.", "there"},
		{"str_replace_editor", `{"command":"view","path":"/p/a","view_range":[1,900]}`, "Invalid `view_range`: [1, 900]. Its second element `900` should be smaller than the number of lines in the file: `12`", "lines"},
		{"str_replace_based_edit_tool", `{"command":"view","path":"p/a"}`, "The path p/a is not an absolute path, it should start with `/`. Maybe you meant /p/a?", "absolute"},
		{"str_replace_editor", `{"command":"view","path":"/p/zz"}`, "The path /p/zz does not exist. Please provide a valid path.", "file"},
		{"str_replace_editor", `{"command":"undo_edit","path":"/p/a"}`, "No edit history found for /p/a.", "undo"},
		{"edit", `{"filePath":"/p/a","oldString":"a","newString":"b"}`, "oldString not found in content", "unlike"},
		{"edit", `"1:4\nx\nend_of_edit"`, "Your proposed edit has introduced new syntax error(s). Please read this error message carefully", "syntax"},
		{"edit", `"1:4\nx\nend_of_edit"`, "Your proposed edit has introduced new syntax error(s).\n\nERRORS:\n- E999 SyntaxError: unmatched ']'\n\n[File: /p/a.py (373 lines total)]\n282: \"Pixel Data must be present in \"", "syntax"},
		{"mcp__fs__read_text_file", `{"path":"/etc/x"}`, "Access denied - path outside allowed directories: /etc/x not in /p", "outside"},
		{"fetch", `{"url":"https://a.b/c"}`, "The sites robots.txt (https://a.b/robots.txt), specifies that autonomous fetching of this page is not allowed, <useragent>ModelContextProtocol/1.0</useragent>", "sign-in"},
		{"TodoWrite", `{"todos":[]}`, "Only one task can be in_progress at a time", "one"},
		{"str_replace_editor", `{"command":"view","path":"/p","view_range":[1,2]}`, "The `view_range` parameter is not allowed when `path` points to a directory.", "directory"},
		{"str_replace_editor", `{"command":"cat","path":"/p/a"}`, "Unrecognized command cat. The allowed commands for the str_replace_editor tool are: view, create, str_replace, insert, undo_edit", "choice"},
		{"edit", `{"filePath":"/p/a","oldString":"a","newString":"b"}`, "You must read the file /p/a before overwriting it. Use the Read tool first", "unread"},
		{"edit", `{"filePath":"/p/a","oldString":"a","newString":"b"}`, "Found multiple matches for oldString. Provide more surrounding lines in oldString to identify the correct match.", "many"},
		{"replace_in_file", `{"path":"a","diff":"x"}`, "The SEARCH block:\nx\n...does not match anything in the file.", "context"},
		{"run_in_terminal", `{"command":"sudo ls"}`, "sudo: a terminal is required to read the password", "tty"},
		{"NotebookEdit", `{"notebook_path":"/p/a.py","new_source":"x"}`, "File must be a Jupyter notebook (.ipynb file). For editing other file types, use the FileEdit tool.", "text"},
		{"WebSearch", `{"query":"x"}`, "Error: Cannot specify both allowed_domains and blocked_domains in the same request", "both"},
		{"edit", `{"command":"edit 1:2\nx\nend_of_edit"}`, "Your proposed edit has introduced new syntax error(s).", "syntax"},
		{"find_customer", `{"customer_id":"7"}`, "Customer not found", ""},
		{"edit_text_file_contents", `{"files":[{"path":"a.txt","file_hash":"","patches":[]}]}`, "Unexpected error - Cannot treat existing file as new", ""},
		{"insert_rows", `{"path":"a.xlsx","start":0}`, "start: must be at least 1", ""},
		{"send", `{"to":"a","subject":"b"}`, "required field body is missing", ""},
	} {
		in, _ := inputOf(LeavesOf([]byte(c.input)))
		n := namerOf(c.tool)
		id, line, _ := n.consult(n.parts(in), c.message, in)
		if id != c.want || strings.ContainsAny(line, "{}") {
			t.Errorf("%s: %.80s: %q %s, want %q", c.tool, c.message, id, line, c.want)
		}
	}
}

// A remedy is told once calls heard the refusal, and no more once changed calls heard it
// again and again.
func TestADocumentedRemedyIsHeldAgainstCalls(t *testing.T) {
	t.Parallel()
	call := func(run uint64, n int, bad bool) Call {
		c := Call{Input: []byte(fmt.Sprintf(`{"file_path":"/p/a.go","old_string":"line %d","new_string":"b"}`, n)), Bad: bad, Failed: bad, Run: run, Named: true}
		if bad {
			c.Message = "String to replace not found in file."
		}
		return c
	}
	found := Find("Edit", []Call{call(1, 1, true), call(2, 2, true), call(2, 3, false), call(3, 4, false), call(4, 5, false)})
	if len(found) != 1 || found[0].Line+": "+found[0].Found() != "Read the file first, and copy `old_string` exactly as it stands there, with its white space and without line numbers: 2 calls failed for this (2 runs)" {
		t.Errorf("%+v", found)
	}
	var again []Call
	for n := range 8 {
		again = append(again, call(1, n, true))
	}
	if found := Find("Edit", again); len(found) != 0 {
		t.Errorf("changed calls heard it again and again: %+v", found)
	}
}

// What too few calls show to be a rule is told to who met it, with values that several parties vouch for: those of one alone are
// told to no other.
func TestAHintNamesNoValueOfOneParty(t *testing.T) {
	for _, shared := range []bool{false, true} {
		var calls []Call
		for i := range 40 {
			c := Call{Input: []byte(`{"role":"reader"}`), Run: uint64(i/2 + 1), Named: true, Party: uint64(i%2 + 1)}
			if i%4 == 3 || shared && i%4 == 0 {
				c.Input = []byte(`{"role":"owner"}`)
			}
			calls = append(calls, c)
		}
		calls = append(calls, Call{Input: []byte(`{"role":"guest"}`), Bad: true, Failed: true, Message: "no role", Run: 99, Named: true, Party: 1})
		lines := ""
		for _, h := range Hints("t", calls, Find("t", calls)) {
			lines += h.Line + "\n"
		}
		if !strings.Contains(lines, "reader") || strings.Contains(lines, "owner") != shared {
			t.Errorf("known of several: %t\n%s", shared, lines)
		}
	}
}
