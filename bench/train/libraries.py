"""Runs what libraries.txt names: expressions, by libraries and web frameworks of Python.

Each is labelled by what became of it: an exception, or a status of 400 or more, is a failure. How a host words an
exception takes turns. Libraries on odd places go to libraries.txt, the others to librariesaside.txt.

	pip install -r bench/train/libraries-requirements.txt
	python3 bench/train/libraries.py bench/train/libraries.txt evaluate/rules/testdata/outputs
"""

import io
import json
import os
import re
import subprocess
import sys
import tempfile

# FORMS are how tools hand on an exception.
FORMS = [
    lambda e: str(e),
    lambda e: f"Error: {e}",
    lambda e: f"{type(e).__name__}: {e}",
    lambda e: f"Error executing tool: {e}",
    lambda e: json.dumps({"status": "error", "message": str(e)}),
    lambda e: json.dumps({"result": None, "detail": str(e)}),
    lambda e: f"Tool call did not complete: {type(e).__name__}({str(e)!r})",
]
HOSTS = [lambda s, v: f"{s}.{v}", lambda s, v: f"mcp__{s}__{v}", lambda s, v: f"{s}_{v}", lambda s, v: f"{v}_{s}"]
VERBS = ["run", "call", "apply", "query", "compute", "process", "get", "submit"]


def text(value):
    """What a tool returns of a value."""
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value)
    except (TypeError, ValueError):
        return str(value)


def outcome(line, names, turn):
    """Outputs of an expression, and whether it failed."""
    try:
        value = eval(line, names)
    except Exception as e:
        forms = [FORMS[0], FORMS[1 + turn % (len(FORMS) - 1)]] if str(e) else [FORMS[2]]
        return [f(e) for f in forms], True
    if hasattr(value, "status_code"):
        body = value.text if isinstance(value.text, str) else value.get_data(as_text=True)
        return [body], value.status_code >= 400
    if type(value).__name__ == "ExecutionResult":
        return [json.dumps(value.formatted)], bool(value.errors)
    if type(value).__module__.startswith("django") or type(value).__name__ == "Response":
        return [value.content.decode()], value.status_code >= 400
    return [text(value)], False


def child(source):
    """Runs one library and prints what came of it."""
    head, *lines = source.splitlines()
    name, setup = head[2:].split(" | ", 1)
    names = sys.modules["__main__"].__dict__ if name == "django" else {"__name__": "__main__"}
    exec(setup, names)
    rows = []
    for turn, line in enumerate(lines):
        half = line.startswith("~ ")
        expression = line.removeprefix("~ ")
        outputs, failed = outcome(expression, names, turn)
        label = "error" if failed else "partial" if half else "ok"
        for out in outputs:
            tool = HOSTS[len(rows) % len(HOSTS)](name, VERBS[(turn + len(name)) % len(VERBS)])
            rows.append((tool, label, json.dumps({"expression": expression}), out.strip()))
    print("\n" + json.dumps(rows))


def main():
    if sys.argv[1] == "-":
        return child(sys.stdin.read())
    parts = open(sys.argv[1]).read().split("\n= ")[1:]
    halves = [io.StringIO(), io.StringIO()]
    for place, part in enumerate(parts):
        with tempfile.TemporaryDirectory() as folder:
            env = dict(os.environ, TZ="UTC", NO_COLOR="1", PYTHONWARNINGS="ignore", PYTHONHASHSEED="1")
            done = subprocess.run([sys.executable, os.path.abspath(__file__), "-"], input="= " + part, env=env, cwd=folder,
                                  capture_output=True, text=True, check=False)
            if done.returncode:
                sys.exit(f"{part.split(' ')[0]}: {done.stderr[-600:]}")
            for tool, label, given, out in json.loads(done.stdout.splitlines()[-1]):
                out = re.sub("0x[0-9a-f]{12}", "0x7f0000000000", out)
                out = out.replace(folder, "/srv/app").replace(os.path.expanduser("~"), "/home/ann")
                if out and len(out) < 4000 and "\n@@ " not in out:
                    halves[place % 2].write(f"@@ {tool} | {label} | {given}\n{out}\n")
    for half, name in zip(halves, ["libraries.txt", "librariesaside.txt"], strict=True):
        with open(os.path.join(sys.argv[2], name), "w") as f:
            f.write(half.getvalue())


if __name__ == "__main__":
    main()
