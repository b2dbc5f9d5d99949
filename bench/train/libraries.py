"""Runs what libraries.txt or node.txt names: expressions, by libraries and web frameworks of Python or JavaScript.

Each is labelled by what became of it: an exception, or a status of 400 or more, is a failure. How a host words an
exception takes turns. What libraries on odd places give is learned from; the others go to a set aside.

	pip install -r bench/train/libraries-requirements.txt
	python3 bench/train/libraries.py bench/train/libraries.txt
	npm install --ignore-scripts $(cat bench/train/node-requirements.txt)
	NODE_PATH=node_modules python3 bench/train/libraries.py bench/train/node.txt
"""

import io
import json
import os
import re
import subprocess
import sys
import tempfile

from messages import write

# FORMS are how tools hand on an exception.
FORMS = [
    lambda name, message: message,
    lambda name, message: f"Error: {message}",
    lambda name, message: f"{name}: {message}",
    lambda name, message: f"Error executing tool: {message}",
    lambda name, message: json.dumps({"status": "error", "message": message}),
    lambda name, message: json.dumps({"result": None, "detail": message}),
    lambda name, message: f"Tool call did not complete: {name}({message!r})",
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


def outcome(line, names):
    """Whether an expression failed, what it gave, and the name of an exception."""
    try:
        value = eval(line, names)
    except Exception as e:
        return True, str(e), type(e).__name__
    if hasattr(value, "status_code"):
        body = value.text if isinstance(value.text, str) else value.get_data(as_text=True)
        return value.status_code >= 400, body, ""
    if type(value).__name__ == "ExecutionResult":
        return bool(value.errors), json.dumps(value.formatted), ""
    if type(value).__module__.startswith("django") or type(value).__name__ == "Response":
        return value.status_code >= 400, value.content.decode(), ""
    return False, text(value), ""


def child(source):
    """Runs one library and prints what came of it."""
    name, setup, *lines = source.splitlines()
    names = sys.modules["__main__"].__dict__ if name == "django" else {"__name__": "__main__"}
    exec(setup, names)
    print("\n" + json.dumps([outcome(line, names) for line in lines]))


def calls(name, lines, outcomes):
    """Gives each output with its tool, its label and its input."""
    made = 0
    for turn, (line, (failed, out, kind)) in enumerate(zip(lines, outcomes, strict=True)):
        forms = [lambda _, message: message]
        if kind:
            forms = [FORMS[0], FORMS[1 + turn % (len(FORMS) - 1)]] if out else [FORMS[2]]
        label = "error" if failed else "partial" if line.startswith("~ ") else "ok"
        for form in forms:
            tool = HOSTS[made % len(HOSTS)](name, VERBS[(turn + len(name)) % len(VERBS)])
            made += 1
            yield tool, label, json.dumps({"expression": line.removeprefix("~ ")}), form(kind, out).strip()


def main():
    if sys.argv[1] == "-":
        return child(sys.stdin.read())
    name = os.path.basename(sys.argv[1])
    here = os.path.dirname(os.path.abspath(__file__))
    runner = ["node", os.path.join(here, "libraries.js")] if name == "node.txt" else [sys.executable, os.path.abspath(__file__), "-"]
    with open(sys.argv[1]) as f:
        parts = f.read().split("\n= ")[1:]
    halves = [io.StringIO(), io.StringIO()]
    for place, part in enumerate(parts):
        head, *lines = part.strip().splitlines()
        library, setup = head.split(" | ", 1)
        with tempfile.TemporaryDirectory() as folder:
            env = dict(os.environ, TZ="UTC", NO_COLOR="1", PYTHONWARNINGS="ignore", PYTHONHASHSEED="1", NODE_ENV="production")
            source = "\n".join([library, setup, *(line.removeprefix("~ ") for line in lines)])
            done = subprocess.run(runner, input=source, env=env, cwd=folder, capture_output=True, text=True, check=False)
            if done.returncode or not done.stdout:
                sys.exit(f"{library}: {done.stderr[-600:]}")
            for tool, label, given, out in calls(library, lines, json.loads(done.stdout.splitlines()[-1])):
                out = re.sub("\x1b\\[[0-9;]*m", "", re.sub("0x[0-9a-f]{12}", "0x7f0000000000", out))
                out = out.replace(folder, "/srv/app").replace(here, "/srv/app").replace(os.path.expanduser("~"), "/home/ann")
                if out and len(out) < 4000 and "\n@@ " not in out:
                    halves[place % 2].write(f"@@ {tool} | {label} | {given}\n{out}\n")
    for half, aside in zip(halves, ["", "aside"], strict=True):
        write(name.replace(".txt", aside + ".txt"), half.getvalue())


if __name__ == "__main__":
    main()
