package rules_test

import "testing"

func TestBuildsAndPlatforms(t *testing.T) {
	run(t, map[string]example{
		"a message with a trace": {"bash", sh("cargo build"), "error: rustup could not choose a version of cargo to run, because one wasn't specified explicitly, and no default is configured.\nhelp: run 'rustup default stable' to download the latest stable release of Rust and set it as your default toolchain.\n\nStack backtrace:\n   0: anyhow::error::<impl core::co" +
			"nvert::From<E> for anyhow::Error>::from\n   1: rustup::config::no_toolchain_error\n   2: rustup::config::Cfg::local_toolchain::{{closure}}\n   3: rustup::cli::proxy_mode::main::{{closure}}::{{closure}}\n   4: rustup_init::run_rustup_inner::{{closure}}::{{closure}}\n   5: rustup_init::run_rustup::{{closure}}::{{closure}}\n   6: rustup_init::main::{{closure}}\n   7: tokio::runtime::runtime::Runtime::block_on\n   8: rustup_init::main\n   9: std::sys::backtrace::__rust_begin_short_backtrace\n  10: main\n  11: __libc_start_call_main\n             at ./csu/../sysdeps/nptl/libc_start_call_main.h:58:16\n  12: __libc_start_main_impl\n             at ./csu/../csu/libc-start.c:360:3\n  13: <unknown>", 0, ""},
		"gcc":                       {"bash", sh("gcc a.c"), "a.c: In function 'main':\na.c:3:5: error: expected ';' before 'return'\n    3 |     return", 0, ""},
		"go build":                  {"bash", sh("go build ./..."), "# example.com/x\n./a.go:3:5: undefined: y", 0, ""},
		"rustc":                     {"bash", sh("cargo build"), "   Compiling x v0.1.0\nerror[E0425]: cannot find value `y` in this scope\n --> src/main.rs:2:5\n", 0, ""},
		"tsc":                       {"bash", sh("tsc"), "src/a.ts(3,5): error TS2304: Cannot find name 'y'.", 0, ""},
		"javac":                     {"bash", sh("javac A.java"), "A.java:3: error: ';' expected\n  int x\n1 error", 0, ""},
		"linker":                    {"bash", sh("gcc a.o"), "/usr/bin/ld: a.o: in function `main':\na.c:(.text+0x5): undefined reference to `f'", 0, ""},
		"python syntax":             {"bash", sh("python a.py"), "  File \"a.py\", line 3\n    def f(\n         ^\nSyntaxError: '(' was never closed", 0, ""},
		"grep for compile errors":   {"bash", sh("grep -rn error: ."), "./build.log:12: a.c:3:5: error: expected ';'\n./b.log:1: fine", 1, ""},
		"PowerShell path":           {"powershell", sh("Get-Item x"), "Get-Item : Cannot find path 'C:\\x' because it does not exist.\nAt line:1 char:1\n+ Get-Item x\n    + CategoryInfo          : ObjectNotFound\n", 0, ""},
		"cmd path":                  {"cmd", sh("type x"), "The system cannot find the file specified.", 0, ""},
		"docker":                    {"bash", sh("docker stop x"), "Error response from daemon: No such container: x", 0, ""},
		"kubectl":                   {"bash", sh("kubectl get pod x"), "Error from server (NotFound): pods \"x\" not found", 0, ""},
		"terraform":                 {"bash", sh("terraform plan"), "╷\n│ Error: No configuration files\n│ \n│ Plan requires configuration to be present.", 0, ""},
		"aws":                       {"bash", sh("aws s3 ls"), "An error occurred (AccessDenied) when calling the ListBuckets operation: Access Denied", 0, ""},
		"redirected silence":        {"bash", sh("cp a b 2>/dev/null"), "", 1, "empty-output"},
		"echo into a file":          {"bash", sh("echo hi > a.txt"), "", 1, "empty-output"},
		"here-document":             {"bash", sh("cat > a.py <<'EOF'\nprint('error: |')\nEOF"), "", 1, "empty-output"},
		"here-document then run":    {"bash", sh("cat > a.py <<EOF\nx; rm y | z\nEOF\npython a.py"), "python: can't open file 'a.py'", 0, ""},
		"screen with a prompt":      {"terminal", sh("cat nope"), "root@box:/app# cat nope\ncat: nope: No such file or directory\nroot@box:/app#", 0, "shell-error"},
		"OpenHands footer":          {"run", sh("false"), "\n[The command completed with exit code 1.]\n[Current working directory: /w]\n[Python interpreter: /usr/bin/python]\n[Command finished with exit code 1]", 0, "exit-code"},
		"place name":                {"get_place", q("Beijing"), "Forbidden City is a palace complex in Beijing.", 1, ""},
		"many results":              {"search", q("x"), "The request returned 500 results", 1, ""},
		"song":                      {"get_song", q("x"), "Timeless is a song from 2020.", 1, ""},
		"curl prints an API error":  {"bash", sh("curl -s https://api.example/x"), `{"error": {"message": "Invalid key", "code": 401}}`, 0, ""},
		"jq of a file":              {"bash", sh("jq . package.json"), `{"name": "error-tool", "scripts": {"test": "fail"}}`, 1, ""},
		"file that holds a message": {"bash", sh("cat last_error.txt"), "Error: disk full", 1, ""},
		"file that holds a reply":   {"bash", sh("cat reply.json"), `{"error": "no such user"}`, 1, ""},
		"traceback behind a pipe":   {"bash", sh("python a.py 2>&1 | tail -3"), "Traceback (most recent call last):\n  File \"a.py\", line 1\nNameError: name 'x' is not defined", 0, ""},
		"API error behind a pipe":   {"bash", sh("curl -s https://api.example/x | jq ."), `{"error": {"message": "Invalid key", "code": 401}}`, 0, ""},
		"subshell":                  {"bash", sh("(cd nope && ls)"), "bash: line 1: cd: nope: No such file or directory", 0, "shell-error"},
		"background":                {"bash", sh("sleep 1 & echo started"), "started", 1, ""},
		"arithmetic":                {"bash", sh("echo $((1/0))"), "bash: line 1: 1/0: division by 0 (error token is \"0\")", 0, "shell-error"},
		"sudo":                      {"bash", sh("sudo systemctl start x"), "Failed to start x.service: Unit x.service not found.", 0, ""},
	})
}
