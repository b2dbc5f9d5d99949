package rules

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// fromElsewhere are messages of hosts' tools that were written down from their documents and
// sources (Copilot, Roo Code, Kiro, Grok, Cline, Gemini CLI, Jupyter, the text editor and
// bash tools, apply_patch; then Zed, Crush, Goose, OpenHands, Qwen Code, Windsurf, Junie, Amp)
// before anything was looked up for them, each with what a right remedy speaks of. Of the
// first 20, 16 had it then; of the last 15, which nothing was mended by, 13.
var fromElsewhere = []struct{ tool, input, message, want string }{
	{"replace_string_in_file", `{"filePath":"/p/a.ts","oldString":"a","newString":"b"}`, "Could not find matching text to replace. Try making your search string more specific or checking for whitespace/formatting differences.", `exactly as it stands`},
	{"replace_string_in_file", `{"filePath":"/p/a.ts","oldString":"a","newString":"b"}`, "Multiple matches found for the text to replace. Please provide a more specific string.", `more of the lines|replace all`},
	{"apply_diff", `{"path":"a.md","diff":"<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE"}`, "No sufficiently similar match found at line: 119 (27% similar, needs 100%)\n\nDebug Info:\n- Similarity Score: 27%", `Read the file (first|again)`},
	{"search_replace", `{"file_path":"a.rs","old_string":"a","new_string":"b"}`, "The string to replace was found multiple times in the file. Use replace_all to replace all occurrences, or include more context to only edit one occurrence.", `more of the lines|replace all`},
	{"strReplace", `{"path":"a.php","oldStr":"a"}`, "Invalid operation - missing newStr", `parameter that the tool.s schema|newStr`},
	{"edit", `{"filePath":"/p/a","oldString":"a","newString":"a"}`, "oldString and newString must be different", `differs`},
	{"read_file", `{"path":"a.rs"}`, "Failed to parse arguments for tool `read_file`: missing field `target_file`", `parameter that the tool.s schema|target_file`},
	{"read_file", `{"path":"src/.env"}`, "Access to src/.env is blocked by the .clineignore file settings. You must try to continue in the task without using this file, or ask the user to update the .clineignore file.", `host allows|without|ask`},
	{"write_to_file", `{"path":"a.go"}`, "The tool execution failed with the following error:\n<error>\nMissing value for required parameter 'content'. Please retry with complete response.\n</error>", `parameter that the tool.s schema|content`},
	{"run_shell_command", `{"command":"npm start"}`, "Command was automatically cancelled because it exceeded the timeout of 5.0 minutes without output.", `timeout|background`},
	{"NotebookEdit", `{"notebook_path":"/p/a.ipynb","new_source":"x","edit_mode":"insert"}`, "Cell type is required when using edit_mode=insert.", `parameter that the tool.s schema|cell_type|type`},
	{"overwrite_cell_source", `{"cell_index":12,"cell_source":"x"}`, "Cell index 12 is out of range. Notebook has 5 cells.", `Read the notebook|cell as it is named`},
	{"list_dir", `{"path":"/p/a.go"}`, "Path is not a directory: /p/a.go", `of a directory`},
	{"Grep", `{"pattern":"(?<!x)foo"}`, "ripgrep error: regex parse error:\n    (?<!x)foo\n    ^^^^\nerror: look-around, including look-ahead and look-behind, is not supported", `pattern|escape`},
	{"apply_patch", `{"input":"*** Begin Patch\n*** Update File: a.py\n*** End Patch"}`, "Invalid Context 0:\ndef f():\n    return 1", `Read the file again|copy the lines`},
	{"apply_patch", `{"input":"*** Begin Patch\n*** Update File: a.py\n*** End Patch"}`, "Update File Error: Missing File: src/x.py", `Look for the file`},
	{"apply_patch", `{"input":"*** Begin Patch\n*** Add File: a.py\n*** End Patch"}`, "Add File Error: File already exists: src/x.py", `edit it|path that is free`},
	{"bash", `{"command":"npm run dev"}`, "timed out: bash has not returned in 120.0 seconds and must be restarted", `timeout|background|restart`},
	{"str_replace_based_edit_tool", `{"command":"insert","path":"/p/a","insert_line":99,"insert_text":"x"}`, "Invalid `insert_line` parameter: 99. It should be within the range of lines of the file: [0, 12]", `how many lines|lines within`},
	{"run_in_terminal", `{"command":"ls src/*.tsx"}`, "zsh: no matches found: src/*.tsx", `[Qq]uot|Look for the file|list`},
	{"edit_file", `{"path":"src/a.rs","display_description":"x"}`, "Some edits were produced but none of them could be applied. Read the relevant sections of src/a.rs again so that I can perform the requested edits.", `Read the file|exactly`},
	{"apply_search_replace", `{"path":"a.py","search":"a","replace":"b"}`, "This SEARCH block failed to exactly match lines in tests/helpers.py", `exactly|copy`},
	{"edit", `{"file_path":"/p/a","old_string":"a","new_string":"b"}`, "old_string appears multiple times in the file. Please provide more context to ensure a unique match, or set replace_all to true", `more of the lines`},
	{"view", `{"file_path":"/p/x.go"}`, "File not found: /p/x.go\n\nDid you mean one of these?\n/p/y.go", `Look for the file`},
	{"edit_existing_file", `{"changes":"x"}`, "filepath is required", `parameter that the tool's schema`},
	{"shell", `{"command":"rm a"}`, "The command attempts to access 'secrets.txt' which is restricted by .gooseignore", `ask|allows|Ask`},
	{"execute_cell", `{"cell_index":-1}`, "Cell index -1 is out of range. Notebook has 3 cells.", `cell as it is named|Read the notebook`},
	{"powershell", `{"command":"rg x"}`, "rg : The term 'rg' is not recognized as the name of a cmdlet, function, script file, or operable program.", `program that is installed`},
	{"search_file_content", `{"pattern":"x","path":"/p/nope"}`, "Search path does not exist: /p/nope", `Look for the file|as you found it`},
	{"str_replace_editor", `{"command":"view","path":"/p/a.bin"}`, "The file /p/a.bin is too large (21.4 MB). Maximum allowed size is 10 MB.", `Read a part`},
	{"edit", `{"file_path":"/p/a","old_string":"","new_string":"b"}`, "Failed to edit. Attempted to create a file that already exists.", `edit it|free`},
	{"Read", `{"file_path":"/p/a.pdf"}`, "This PDF has 340 pages, which is too many to read at once. Use the pages parameter to read specific page ranges (e.g., pages: \"1-5\").", `part`},
	{"create_file", `{"filePath":"/p/a","content":"b"}`, "File already exists. You must use an edit tool to modify it.", `edit it`},
	{"read_bash", `{"sessionId":"3"}`, "Invalid session ID: 3. Please supply a valid session ID.", `id of that`},
	{"view_file", `{"AbsolutePath":"a.go"}`, "Error: invalid file path: the path must be absolute", `absolute`},
	{"replace_file_content", `{"TargetFile":"/p/a","ReplacementChunks":[]}`, "target content was not found in the file", `exactly`},
	{"search_replace", `{"file_path":"a","search":"x","replace":"y"}`, "The search text is not unique in the file", `more of the lines`},
	{"edit_file", `{"path":"/p/a","old_str":"x","new_str":"y"}`, "Error: Could not find exact match for old_str", `exactly`},
	{"Read", `{"path":"/root/x"}`, "EACCES: permission denied, open '/root/x'", `may|ask`},
	{"terminal", `{"command":"ls","cd":"x"}`, "`cd` directory \"x\" was not in any of the project's worktrees.", `host allows|allowed`},
	{"read_file", `{"path":"x"}`, "Path x not found in project", `Look for the file`},
	{"Bash", `{"command":"touch /etc/x"}`, "touch: cannot touch '/etc/x': Operation not permitted", `may write|ask`},
	{"execute_command", `{"command":"npx x"}`, "Error: spawn npx ENOENT", `program that is installed`},
	{"bash", `{"command":"npm test"}`, "bash tool terminated command after exceeding timeout 120000 ms. If this command is expected to take longer and is not waiting for interactive input, retry with a larger timeout value in milliseconds.", `timeout`},
	{"Bash", `{"command":"git checkout mian"}`, "error: pathspec 'mian' did not match any file(s) known to git", `[Ll]ook`},
	{"edit_notebook", `{"target_notebook":"a.ipynb","cell_idx":7}`, "Cell index 7 does not exist in notebook", `cell as it is named`},
	{"grep_search", `{"query":"*a","include_pattern":"*.go"}`, "regex parse error:\n    *a\n    ^\nerror: repetition operator missing expression", `Escape`},
	{"delete_file", `{"target_file":"a"}`, "Could not delete file: a. File does not exist.", `Look for the file`},
	{"execute_bash", `{"command":"a\nb"}`, "ERROR: Cannot execute multiple commands at once.\nPlease run each command separately OR chain them into a single command via && or ;", `separate|chain|&&`},
}

func TestAToolThatReadsNoFilesHasNoRemedyForFiles(t *testing.T) {
	if got := Remedy("read_query", "no such table: users", []byte(`{"query":"SELECT 1 FROM users"}`)); got != "" {
		t.Errorf("a database has the remedy %q", got)
	}
	if got := Remedy("list_stages", "Only one of page and start can be used, not both", []byte(`{"limit":5}`)); got != "" {
		t.Errorf("a list of records has the remedy %q", got)
	}
	if got := Remedy("read_file", "no such file: a", []byte(`{"target_file":"a"}`)); !strings.Contains(got, "Look for the file") {
		t.Errorf("the control: %q", got)
	}
}

// Of a member of an object messages give its own name. A number in them that lies between what worked and what
// failed leaves no choice of bounds, so that few different texts are enough.
func TestABoundThatMessagesNameNeedsFewCalls(t *testing.T) {
	find := func(message string) string {
		var calls []Call
		for i := range 30 {
			title, said := []string{"Desk", "Lamp", "USB hub", "Whiteboard", "Office chair"}[i%5], ""
			if i%10 == 3 {
				title, said = strings.Repeat("x ", 40)+title[:i/10+1], message
			}
			const input = `{"data":{"title":%q,"price":%d,"sku":"AB-%d","note":%q,"tag":"t%d"},"kind":"k%d","who":"ann%d@example.com"}`
			calls = append(calls, call(i, fmt.Sprintf(input, title, 3+i*i%17, i*7%13, strings.Repeat("n", i%9+1), i%3, i%4, i%5), said))
		}
		return lines(Find("create", calls))
	}
	const want = "Keep `data.title` at most 60 characters long\n"
	if got := find("Failed to create.\ntitle: Must be no more than 60 character(s)."); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, message := range []string{"Failed to create.", "Failed to create.\ntitle: Must be no more than 90 character(s)."} { // the control
		if got := find(message); strings.Contains(got, "characters long") {
			t.Errorf("%q: got %q", message, got)
		}
	}
}

func TestMessagesOfHostsNobodyLookedAtHaveTheirRemedies(t *testing.T) {
	t.Parallel()
	right := 0
	for _, c := range fromElsewhere {
		in, _ := inputOf(LeavesOf([]byte(c.input)))
		n := namerOf(c.tool)
		id, line, _ := n.consult(n.parts(in), c.message, in)
		if regexp.MustCompile(c.want).MatchString(line) {
			right++
			continue
		}
		t.Logf("%s: %.90s: %s %q", c.tool, c.message, id, line)
	}
	t.Logf("%d of %d", right, len(fromElsewhere))
	if right < 45 {
		t.Errorf("%d of %d have the right remedy, want 45", right, len(fromElsewhere))
	}
}
