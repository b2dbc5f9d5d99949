package rules_test

import (
	"encoding/json"
	"testing"

	"memoryd/evaluate/rules"
)

func TestShellDiagnostics(t *testing.T) {
	run(t, map[string]example{
		"cat of a missing file":                {"bash", sh("cat missing.txt"), "cat: missing.txt: No such file or directory", 0, "shell-error"},
		"a program tells what it does":         {"bash", sh("boxtool -U a"), "boxtool: device initialized\nboxtool: verifying ...\nboxtool: 1024 bytes of flash verified", 1, ""},
		"a complaint below what it does":       {"bash", sh("tar -cf /b.tar ."), "tar: ./a: adding\ntar: ./b: adding\ntar: ./c: Cannot stat: No such file or directory", 0, "shell-error"},
		"unknown command":                      {"bash", sh("foo --bar"), "bash: foo: command not found", 0, "shell-error"},
		"unknown command with line":            {"bash", sh("foo"), "/bin/bash: line 1: foo: command not found", 0, "shell-error"},
		"unknown command in dash":              {"shell", sh("foo"), "sh: 1: foo: not found", 0, "shell-error"},
		"unknown command in zsh":               {"terminal", sh("foo"), "zsh: command not found: foo", 0, ""},
		"unknown command in cmd":               {"cmd", sh("foo"), "'foo' is not recognized as an internal or external command,\noperable program or batch file.", 0, ""},
		"unknown command in PowerShell":        {"powershell", sh("foo"), "foo : The term 'foo' is not recognized as the name of a cmdlet, function, script file, or operable program.\nAt line:1 char:1", 0, ""},
		"syntax error":                         {"bash", sh("if then"), "bash: -c: line 1: syntax error near unexpected token `then'", 0, "shell-error"},
		"open quote":                           {"bash", sh("echo 'x"), "bash: -c: line 1: unexpected EOF while looking for matching `''", 0, "shell-error"},
		"last command of a pipe fails":         {"bash", sh("ls | awk '{print'"), "awk: cmd. line:1: {print\nawk: cmd. line:1:       ^ unexpected newline or end of string", 0, "shell-error"},
		"cd then failing command":              {"bash", sh("cd /repo && make all"), "make: *** No rule to make target 'all'.  Stop.", 0, ""},
		"cd fails":                             {"bash", sh("cd /nowhere && ls"), "bash: line 1: cd: /nowhere: No such file or directory", 0, "shell-error"},
		"mkdir of what exists":                 {"bash", sh("mkdir build"), "mkdir: cannot create directory ‘build’: File exists", 0, "shell-error"},
		"permission":                           {"bash", sh("touch /etc/x"), "touch: cannot touch '/etc/x': Permission denied", 0, "shell-error"},
		"wrong option":                         {"bash", sh("ls --foo"), "ls: unrecognized option '--foo'\nTry 'ls --help' for more information.", 0, "shell-error"},
		"git outside a repository":             {"bash", sh("git status"), "fatal: not a git repository (or any of the parent directories): .git", 0, ""},
		"git pathspec":                         {"bash", sh("git checkout nope"), "error: pathspec 'nope' did not match any file(s) known to git", 0, ""},
		"python of a missing file":             {"bash", sh("python3 nope.py"), "python3: can't open file '/w/nope.py': [Errno 2] No such file or directory", 0, ""},
		"pip":                                  {"bash", sh("pip install nosuchpkg"), "ERROR: Could not find a version that satisfies the requirement nosuchpkg (from versions: none)\nERROR: No matching distribution found for nosuchpkg", 0, ""},
		"apt":                                  {"bash", sh("apt-get install nosuch"), "Reading package lists...\nBuilding dependency tree...\nE: Unable to locate package nosuch", 0, ""},
		"curl":                                 {"bash", sh("curl http://nope.invalid"), "curl: (6) Could not resolve host: nope.invalid", 0, "shell-error"},
		"ssh":                                  {"bash", sh("ssh host"), "ssh: connect to host host port 22: Connection refused", 0, "shell-error"},
		"npm":                                  {"bash", sh("npm run build"), "npm ERR! missing script: build\n\nnpm ERR! A complete log of this run can be found in:", 0, ""},
		"xargs child fails":                    {"bash", sh("ls *.x | xargs rm"), "rm: cannot remove 'a.x': Permission denied", 0, "shell-error"},
		"file system tool without a shell":     {"cat", map[string]any{"file_name": "a.txt"}, "cat: a.txt: No such file or directory", 0, ""},
		"compiler":                             {"bash", sh("gcc a.c"), "a.c: In function ‘main’:\na.c:3:5: error: expected ‘;’ before ‘return’\ncompilation terminated.", 0, ""},
		"make":                                 {"bash", sh("make"), "cc -c a.c\nmake: *** [Makefile:3: a.o] Error 1", 0, ""},
		"segfault":                             {"bash", sh("./a.out"), "Segmentation fault (core dumped)", 0, ""},
		"argparse":                             {"bash", sh("python t.py --x"), "usage: t.py [-h] [--y Y]\nt.py: error: unrecognized arguments: --x", 0, ""},
		"then branch fails":                    {"bash", sh("if true; then rm nope; else ls; fi"), "rm: cannot remove 'nope': No such file or directory", 0, "shell-error"},
		"body of a loop fails":                 {"bash", sh("for f in a b; do mv $f x; done"), "mv: cannot stat 'a': No such file or directory\nmv: cannot stat 'b': No such file or directory", 0, "shell-error"},
		"list of words":                        {"shell", map[string]any{"command": []string{"bash", "-lc", "cat nope"}}, "cat: nope: No such file or directory", 0, "shell-error"},
		"first command of a pipe fails":        {"bash", sh("cat nope | wc -l"), "cat: nope: No such file or directory\n0", 0.5, "shell-error"},
		"pipefail":                             {"bash", sh("set -o pipefail; cat nope | wc -l"), "cat: nope: No such file or directory\n0", 0, "shell-error"},
		"caught by ||":                         {"bash", sh("ls nope || true"), "ls: cannot access 'nope': No such file or directory", 0.5, "shell-error"},
		"caught by || with text":               {"bash", sh("grep -q x nope && echo yes || echo no"), "grep: nope: No such file or directory\nno", 0.5, "shell-error"},
		"gone past by ;":                       {"bash", sh("rm nope; ls"), "rm: cannot remove 'nope': No such file or directory\na.txt\nb.txt", 0.5, "shell-error"},
		"condition fails":                      {"bash", sh("if ls nope; then echo a; else echo b; fi"), "ls: cannot access 'nope': No such file or directory\nb", 0.5, "shell-error"},
		"loop piped on":                        {"bash", sh("for f in a b; do cat $f; done | sort"), "cat: a: No such file or directory\ncat: b: No such file or directory", 0.5, "shell-error"},
		"log with errors that was asked for":   {"bash", sh("grep -i error app.log"), "2024-01-02 ERROR db: connection refused\n2024-01-02 ERROR db: timeout", 1, ""},
		"cat of a log":                         {"bash", sh("cat /var/log/app.log"), "2024-01-02 12:00:01 INFO start\n2024-01-02 12:00:02 ERROR failed to open socket\n2024-01-02 12:00:03 INFO stop", 1, ""},
		"names with error in them":             {"bash", sh("ls"), "error.log\nerrors.go\nfailed_tests.txt\nREADME.md", 1, ""},
		"source code about errors":             {"bash", sh("sed -n 1,20p a.go"), "if err != nil {\n\treturn fmt.Errorf(\"error: %w\", err)\n}", 1, ""},
		"tail of a log ends badly":             {"bash", sh("tail -n 3 build.log"), "compiling\nlinking\nerror: linking failed", 1, ""},
		"tar remark":                           {"bash", sh("tar czf a.tgz /etc"), "tar: Removing leading `/' from member names", 1, ""},
		"echo of an error":                     {"bash", sh("echo 'Error: this is a test'"), "Error: this is a test", 1, ""},
		"help that was asked for":              {"bash", sh("git --help"), "usage: git [--version] [--help] <command> [<args>]", 1, ""},
		"silent copy":                          {"bash", sh("cp a b"), "", 1, "empty-output"},
		"silent cd":                            {"bash", sh("cd src"), "", 1, "empty-output"},
		"grep finds nothing":                   {"bash", sh("grep foo bar.txt"), "", 0.5, "empty-output"},
		"commit message about errors":          {"bash", sh("git log --oneline"), "a1b2c3d Fix error: handle timeout\nd4e5f6a Failed tests repaired", 1, ""},
		"diff":                                 {"bash", sh("diff a b"), "1c1\n< error\n---\n> failed", 1, ""},
		"pip list":                             {"bash", sh("pip install x"), "Collecting x\nSuccessfully installed x-1.0\nWARNING: Running pip as the 'root' user can result in broken permissions", 1, ""},
		"usage without being asked":            {"bash", sh("kubectl frob"), "Usage: kubectl [flags] [options]", 0, ""},
		"two commands both fine":               {"bash", sh("cd /repo && ls | head -2"), "a\nb", 1, "no-trouble"},
		"bash builtin complains":               {"bash", sh("cd a b"), "-bash: cd: too many arguments", 0, "shell-error"},
		"file names that start like a message": {"bash", sh("wc -l *"), "  3 error: none\n  4 total", 1, ""},
	})
}

// What bounds the output, says how it went, or runs a command elsewhere decides nothing:
// the command that does the work does.
func TestACommandLineIsJudgedByWhatItIsFor(t *testing.T) {
	broken := "a.go:3:1: syntax error: unexpected EOF"
	run(t, map[string]example{
		"cut at its end":              {"bash", sh("node a.js 2>&1 | tail -20"), "TypeError: Cannot read properties of null (reading 'x')\n    at a.js:1:6", 0, ""},
		"cut twice":                   {"bash", sh("make 2>&1 | tee build.log | tail -5"), "make: *** [Makefile:3: a.o] Error 1", 0, ""},
		"a log, cut":                  {"bash", sh("cat app.log | tail -2"), "2024-01-02 12:00:02 ERROR failed to open socket\nERROR: giving up", 1, ""},
		"filtered":                    {"bash", sh("python3 a.py 2>&1 | grep -v debug"), "Traceback (most recent call last):\n  File \"a.py\", line 1\nKeyError: 'k'", 0, ""},
		"status echoed":               {"bash", sh(`./run.sh; echo "rc=$?"`), "started\nrc=3", 0, "exit-code"},
		"status echoed, fine":         {"bash", sh(`./check.sh; echo "exit: $?"`), "Error: 3 style issues\nexit: 0", 1, ""},
		"status of the pipe's first":  {"bash", sh(`./run.sh | head -3; echo "rc=${PIPESTATUS[0]}"`), "started\nrc=1", 0, "exit-code"},
		"status of the pipe's last":   {"bash", sh(`make 2>&1 | tail -3; echo rc=$?`), "make: *** [all] Error 2\nrc=0", 0, ""},
		"status of an echo":           {"bash", sh(`./run.sh; echo done; echo $?`), "make: *** [all] Error 2\ndone\n0", 0, ""},
		"status that says no":         {"bash", sh(`grep -q x a; echo $?`), "1", 0.5, "exit-code"},
		"the only text of the input":  {"bash", map[string]any{"script": "./check.sh | cat", "timeout": 9}, "./check.sh: line 3: jq: command not found", 0, ""},
		"a test":                      {"bash", sh("[[ -d nosuch ]]"), "", 0.5, "empty-output"},
		"behind an assignment":        {"bash", sh("env LANG=C cat app.log"), "2024-01-02 ERROR db: connection refused\nERROR: x", 1, ""},
		"text at the end":             {"bash", sh("gofmt -l a.go; echo done"), broken + "\ndone", 0, ""},
		"text at the beginning":       {"bash", sh("echo '== build =='; go build a.go"), "== build ==\n" + broken, 0, ""},
		"text on success":             {"bash", sh("./deploy.sh && echo deployed"), "web: 3 of 3 replicas\ndeployed", 1, ""},
		"text on success, cut":        {"bash", sh("./deploy.sh && echo deployed at last"), "web: 3 of 3 replicas\ndeployed", 1, ""},
		"status behind a log":         {"bash", sh(`kubectl get pods; echo "rc=$?"`), "E1123 13:49:55.392893   13264 memcache.go:265] a\nrc=1", 0, "exit-code"},
		"one line behind a text":      {"bash", sh("echo '== merge =='; git merge nosuch"), "== merge ==\nmerge: nosuch - not something we can merge", 0, ""},
		"names before the work":       {"bash", sh("ls src && cc a.c"), "a.c\na.c:1:21: error: 'x' undeclared\n    1 | return x\n      |        ^", 0, ""},
		"errors that were asked for":  {"bash", sh("redis-cli keys '*' | grep error"), "error: 2024", 1, ""},
		"text on success of a cut":    {"bash", sh("make 2>&1 | tail -5 && echo built"), "make: *** [all] Error 2\nbuilt", 0, ""},
		"a log, then nothing":         {"bash", sh("cat build.log || true"), "compiling\nerror: linking failed", 1, ""},
		"output to a file, shown":     {"bash", sh("go vet ./... > /tmp/o 2>&1; tail -5 /tmp/o"), "# a\nvet: " + broken, 0, ""},
		"within bounds":               {"bash", sh("timeout 60 cat app.log"), "2024-01-02 ERROR db: connection refused\nERROR: x", 1, ""},
		"in a container":              {"bash", sh("docker exec -u app web python3 a.py"), "python3: can't open file '/w/a.py': [Errno 2] No such file or directory", 0, ""},
		"shown in a container":        {"bash", sh("kubectl exec pod -- cat app.log"), "ERROR: db: connection refused", 1, ""},
		"a value that it was to show": {"bash", sh(`sqlite3 t.db "select 'error' as status"`), "error", 1, ""},
		"no test could be read":       {"bash", sh("pytest -q"), "ERROR test_a.py\n!!! Interrupted: 1 error during collection !!!\n1 error in 0.16s", 0, ""},
	})
}

func TestReportedExitCodes(t *testing.T) {
	run(t, map[string]example{
		"bracketed":                   {"bash", sh("make"), "gcc a.c\nundefined reference to `f'\n[Command exited with code 2]", 0, "exit-code"},
		"tagged":                      {"bash", sh("pytest"), "<returncode>1</returncode>\n<output>\n1 failed\n</output>", 0, "exit-code"},
		"head line":                   {"execute", sh("node a.js"), "Exit code: 1\nsomething broke", 0, "exit-code"},
		"zero":                        {"bash", sh("make"), "all good\n[exit code: 0]", 1, ""},
		"zero beside error words":     {"bash", sh("python lint.py"), "Error: 3 style issues\nProcess exited with code 0", 1, ""},
		"grep finds nothing":          {"bash", sh("grep x y"), "[exit code: 1]", 0.5, "exit-code"},
		"grep without a file":         {"bash", sh("grep x nope"), "grep: nope: No such file or directory\n[exit code: 2]", 0, "exit-code"},
		"not found":                   {"bash", sh("foo"), "(exit status 127)", 0, "exit-code"},
		"finished":                    {"run", sh("x"), "out\n[Command finished with exit code 0]", 1, ""},
		"as JSON":                     {"exec", sh("false"), `{"stdout": "", "stderr": "boom", "exit_code": 1}`, 0, "exit-code"},
		"as JSON zero with stderr":    {"exec", sh("make"), `{"stdout": "done", "stderr": "warning: x", "exit_code": 0}`, 1, ""},
		"as JSON without a status":    {"exec", sh("cat x"), `{"stdout": "", "stderr": "cat: x: No such file or directory"}`, 0, ""},
		"as JSON, printed some":       {"exec", sh("python3 a.py"), `{"stdout": "step 1", "stderr": "Traceback (most recent call last):\n  File \"a.py\"\nKeyError: 'k'"}`, 0, ""},
		"as JSON, progress":           {"exec", sh("git push"), `{"stdout": "", "stderr": "To github.test:a/b.git\n   1a2b3c4..5d6e7f8  main -> main"}`, 1, ""},
		"as JSON returncode":          {"exec", sh("x"), `{"returncode": 127, "output": "sh: x: not found"}`, 0, "exit-code"},
		"a sentence about exit codes": {"fetch", q("exit codes"), "A program that fails returns exit code 1 if the file is missing.\nMore text.\nAnd more.", 1, ""},
		"signal":                      {"bash", sh("./x"), "Killed\ncommand terminated with exit code 137", 0, "exit-code"},
	})
}

// Exit status 1 of grep is an answer, also where the caller takes every status but 0 for a
// failure. What it complains of is none.
func TestAnExitStatusThatSaysNoIsNoFailureWhoeverReportsIt(t *testing.T) {
	j := rules.New()
	for name, c := range map[string]struct {
		command, out, metadata string
		success                bool
		want                   float64
	}{
		"a count, noted":          {"grep -c TODO a.go", "0", `{"exit_code":1}`, false, 0.5},
		"a count, in the text":    {"grep -c TODO a.go", "Exit code 1\n0", ``, false, 0.5},
		"a count, taken for well": {"grep -c TODO a.go", "0", ``, true, 0.5},
		"counts of files":         {"cd src && grep -rc TODO .", "./a.go:0\n./b.go:0", ``, true, 0.5},
		"one file has some":       {"grep -rc TODO .", "./a.go:0\n./b.go:7", ``, true, 1},
		"lines were counted":      {"grep -c TODO a.go", "10", ``, true, 1},
		"another count":           {"wc -l < a.go", "0", ``, true, 1},
		"a pipe ends otherwise":   {"grep -c TODO a.go | cat -n", "     1\t0", ``, true, 1},
		"no line":                 {"grep TODO a.go", "exit code 1", `{"exit_code":1}`, false, 0.5},
		"files differ":            {"diff a b", "1c1\n< a\n---\n> b", `{"exit_code":1}`, false, 0.5},
		"grep complains":          {"grep -c TODO a.go", "grep: a.go: No such file or directory", `{"exit_code":2}`, false, 0},
		"another status":          {"grep -c TODO a.go", "0", `{"exit_code":2}`, false, 0},
		"another command":         {"make", "0", `{"exit_code":1}`, false, 0},
		"no status":               {"grep TODO a.go", "error", ``, false, 0},
	} {
		call := (&example{tool: "Bash", input: sh(c.command), out: c.out}).call(t)
		call.Success, call.Metadata = c.success, json.RawMessage(c.metadata)
		if v := j.Judge(call, nil); v.Score != c.want {
			t.Errorf("%s: %v by %s: %s", name, v.Score, v.Rule, v.Summary)
		}
	}
}
