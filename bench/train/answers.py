"""Reads what the tools of MCP servers answer out of the servers' packages, and writes it as outputs to learn from.

What a program does with an answer labels it, not its words: it raises it, flags it (`isError`, `success`, `status`), or
returns it where it caught an exception; or it returns it without a flag, though it flags others. What it puts in is made
up. The packages are those of answers.txt, of which a part is kept aside; node finds acorn and acorn-walk by NODE_PATH:

	sed -n 's/^pip //p' bench/train/answers.txt | xargs -n 1 pip download --no-deps -d packages
	sed -n 's/^npm //p' bench/train/answers.txt | xargs npm pack --pack-destination packages
	python3 bench/train/answers.py packages
"""

import ast
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile

from messages import HOSTS, NO_FAILURES, VERBS, key, number, write

# How many answers of a package are taken: that it raises, other failures, successes.
MOST = {"thrown": 25, "error": 60, "ok": 90}
# A program that flags fewer answers than this may flag none.
FLAGS = 3
# An answer that begins like this and has no flag may be a failure that its program does not flag: it is left out.
HEADS = re.compile(r"^\W*(error|failed|failure|cannot|can't|could not|couldn't|unable|invalid|missing|unknown|unsupported)\b", re.I)
PLACE = re.compile(r"\{(error|count|json|text|)\}")
LEFT_OUT = re.compile(r"(^|/)(tests?|examples?)/|test_")
# What libraries and services say where a message has a place for an error, besides what the package itself raises.
REASONS = [
    "fetch failed", "Request failed with status code 404", "Request failed with status code 401", "HTTP 500 Internal Server Error",
    "connect ECONNREFUSED 127.0.0.1:{n}", "getaddrinfo ENOTFOUND {w}.example.com", "ENOENT: no such file or directory, open '/srv/{w}/{v}.json'",
    "timeout of 30000ms exceeded", "The request timed out", "invalid_grant", "Not Found", "Forbidden", "Bad credentials", "permission denied",
    "Cannot read properties of undefined (reading '{w}')", "'{w}'", "'NoneType' object has no attribute '{w}'", "socket hang up",
    "Unexpected token < in JSON at position 0", "[Errno 2] No such file or directory: '{w}.txt'",
    "Client error '403 Forbidden' for url 'https://{w}.example.com/{v}'", "Command failed with exit code {m}", "Entity not found: {w}",
    "Rate limit exceeded", "relation \"{w}\" does not exist", "Invalid id {w}-{n}",
]


def place(source):
    """The place for what an expression gives: an error, a number, a structure, a text or a word."""
    for kind, words in [("json", r"json\.|dumps"), ("count", r"len\(|count|total|num"),
                        ("error", r"\be\b|\berr\b|exc|error|stderr|message|reason|detail"),
                        ("text", r"stdout|output|content|text|body|lines|join\(|result")]:
        if re.search(words, source, 0 if kind == "json" else re.I):
            return "{" + kind + "}"
    return "{}"


def put(node):
    text = text_of(node)
    return text if isinstance(text, str) else place(ast.unparse(node))


def text_of(node):
    """The text or the structure that an expression makes, with places for values."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=values):
            return "".join(v.value if isinstance(v, ast.Constant) else place(ast.unparse(v.value)) for v in values)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return put(left) + put(right)
        case ast.Call(func=ast.Attribute(attr="dumps"), args=[first, *_]):
            return text_of(first)
        case ast.Dict():
            return {"body": value_of(node)}
    return None


def value_of(node):
    match node:
        case ast.Constant(value=str() | int() | float() | None as value):
            return value
        case ast.Dict(keys=keys, values=values):
            return {k.value: value_of(v) for k, v in zip(keys, values, strict=True) if isinstance(k, ast.Constant) and isinstance(k.value, str)}
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return [value_of(e) for e in items[:3]]
    return put(node)


def state_of(body):
    """The label that a structure states."""
    for name in ("success", "ok"):
        if isinstance(body.get(name), bool):
            return "ok" if body[name] else "error"
    match body.get("status"):
        case "error" | "failed" | "failure":
            return "error"
        case "success" | "ok":
            return "ok"
    return "error" if isinstance(body.get("error"), str) and len(body) <= 3 else None


def of_python(source):
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return
    yield from answers(tree, "", False, False, False)


def answers(node, name, is_tool, caught, sometimes):
    """The answers below a node: of a function, where an exception was caught, and where something decides."""
    for child in ast.iter_child_nodes(node):
        inside = name, is_tool, caught, sometimes
        match child:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                inside = child.name, any(re.search(r"\btool\b", ast.unparse(d)) for d in child.decorator_list), False, False
            case ast.ExceptHandler():
                inside = name, is_tool, True, sometimes
            case ast.If() | ast.For() | ast.While() | ast.Match():
                inside = name, is_tool, caught, True
            case ast.Raise(exc=ast.Call(func=func, args=args)) if not NO_FAILURES.search(ast.unparse(func)):
                if text := next((t for t in map(text_of, args) if isinstance(t, str)), None):
                    yield {"label": "error", "text": text, "tool": name, "thrown": True}
            case ast.Return(value=ast.expr() as value):
                yield from returned(value, name, is_tool, caught, sometimes)
            case ast.Dict():
                body = value_of(child)
                if "message" in body and (label := state_of(body)):
                    yield {"label": label, "text": {"body": body}, "tool": name, "state": True}
        yield from answers(child, *inside)


def returned(value, name, is_tool, caught, sometimes):
    content = "TextContent(" in ast.unparse(value)[:60]
    if content:
        value = next((k.value for k in ast.walk(value) if isinstance(k, ast.keyword) and k.arg == "text"), value)
    text = text_of(value)
    if isinstance(text, dict) and (label := state_of(text["body"])):
        yield {"label": label, "text": text, "tool": name, "state": True}
    elif text and (is_tool or content) and (caught or not sometimes):
        yield {"label": "caught" if caught else "ok", "text": text, "tool": name}


def read(archive):
    """The answers of a package, as its program has them."""
    if archive.endswith(".tgz"):
        with tempfile.TemporaryDirectory() as folder:
            with tarfile.open(archive) as t:
                t.extractall(folder, filter="data")
            script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "answers.js")
            out = subprocess.run(["node", script, folder], check=True, capture_output=True, text=True).stdout
        yield from map(json.loads, out.splitlines())
    elif archive.endswith(".whl"):
        with zipfile.ZipFile(archive) as z:
            for name in sorted(z.namelist()):
                if name.endswith(".py") and not LEFT_OUT.search(name):
                    yield from of_python(z.read(name).decode(errors="replace"))
    else:
        with tarfile.open(archive) as t:
            for member in sorted(t.getmembers(), key=lambda m: m.name):
                if member.name.endswith(".py") and not LEFT_OUT.search(member.name):
                    yield from of_python(t.extractfile(member).read().decode(errors="replace"))


def says(text):
    """Whether a text is more than places and a name."""
    return len(text) <= 1500 and sum(c.isalpha() for c in PLACE.sub("", text)) >= 5 and bool(re.search(r"\s|\{", text.strip()))


def forms(answer, label):
    """The forms in which an answer is learned: its text, or the message that a structure has, and some structures whole."""
    text = answer["text"]
    if isinstance(text, str):
        return [text] if says(text) else []
    body = text["body"]
    message = body.get("error") if label == "error" and isinstance(body.get("error"), str) else body.get("message")
    made = []
    if answer.get("state") and isinstance(message, str) and says(message) and not (label == "ok" and HEADS.search(message)):
        made.append(message)
    whole = json.dumps(body)
    if body and len(whole) < 1500 and number(whole) % (3 if made else 1) == 0:
        made.append(text)
    return made


def labelled(every):
    """Each answer once, with its label; those that have two are left out."""
    flags = sum(a["label"] == "error" for a in every)
    labels, first = {}, {}
    for a in every:
        label, text = "error" if a["label"] == "caught" else a["label"], a["text"]
        if label == "ok" and not a.get("state"):
            shown = text if isinstance(text, str) else str(text["body"].get("message", ""))
            if flags < FLAGS or HEADS.search(shown) or isinstance(text, dict) and "error" in text["body"]:
                continue
        for form in forms(a, label):
            name = json.dumps(form)
            labels.setdefault(name, set()).add(label)
            first.setdefault(name, (label, form, a.get("tool") or "", "thrown" if a.get("thrown") else label))
    sure = [name for name in first if len(labels[name]) == 1]
    return [first[name] for name in sorted(sure, key=number)]


class Filler:
    """Puts values into the places of an answer; own is what the package itself raises."""

    def __init__(self, words, own):
        self.words, self.own = words, own

    def word(self, text):
        n = number(text)
        word = self.words[n % len(self.words)]
        return [word, f"{word}-{n % 90}", word.title(), f"{word}_{self.words[n // 3 % len(self.words)]}",
                f"{word}.{['md', 'json', 'py', 'txt'][n // 11 % 4]}", str(n % 90000)][n // 5 % 6]

    def some(self, n, most):
        return " ".join(self.words[(n >> 9 * i) % len(self.words)] for i in range(n % most + 1))

    def error(self, n):
        if self.own and n % 3 == 0:
            return self.own[n // 17 % len(self.own)]
        return REASONS[n // 17 % len(REASONS)].format(
            n=n % 9000 + 1000, m=n % 120 + 1, w=self.words[n // 5 % len(self.words)], v=self.words[n // 50 % len(self.words)])

    def fill(self, text, label, values):
        def value(found):
            seed = f"{text}{len(values)}"
            n = number(seed)
            match found[1]:
                case "count":
                    made = str(n % [7, 30, 900][n // 7 % 3] + 1)
                case "error" if label == "error":
                    values.append("")
                    return self.error(n)
                case "json":
                    record = {self.words[n % len(self.words)].lower(): self.word(seed), self.words[n // 9 % len(self.words)].lower(): n % 50,
                              "id": n % 9999}
                    made = json.dumps(record, indent=[None, 2][n // 3 % 2])
                case "text" | "error":
                    made = self.some(n, 4)
                case _:
                    made = self.word(seed)
            values.append(made)
            return made

        return PLACE.sub(value, text)

    def body(self, value, label, values):
        match value:
            case dict():
                return {k: self.body(v, label, values) for k, v in value.items()}
            case list():
                return [self.body(v, label, values) for v in value]
            case "{count}":
                return number(f"{values}{value}") % 300
            case "{}" | "{text}":
                n = number(f"{values}{value}")
                return n % 9000 if n % 5 == 0 else n % 2 == 0 if n % 7 == 0 else self.fill(value, label, values)
            case str():
                return self.fill(value, label, values)
        return value


def tool_of(package, maker, turn):
    """The name that an agent's host has for a tool: what makes the answer, or a verb."""
    named = re.fullmatch(r"[\w-]{4,40}", maker) and not re.search("(?i)error|fail|success", maker)
    verb = re.sub(r"^_+|^handle_?(?=.{4})", "", maker if named else VERBS[turn // 4 % len(VERBS)])
    return verb, HOSTS[turn % 3](package, verb) if turn % 4 else verb


def outputs(package, every, words):
    said = labelled(every)
    own = [form for label, form, _, _ in said if label == "error" and isinstance(form, str) and not PLACE.search(form) and len(form) < 160]
    filler = Filler(words, own[:30])
    for sort, most in MOST.items():
        for label, form, maker, _ in [s for s in said if s[3] == sort][:most]:
            turn, values = number(json.dumps(form)), []
            verb, tool = tool_of(package, maker, turn)
            if isinstance(form, dict):
                out = json.dumps(filler.body(form["body"], label, values), ensure_ascii=False, indent=[None, 2][turn // 13 % 2])
            else:
                out = filler.fill(form.strip(), label, values)
                if sort == "thrown":
                    out = [out, out, out, f"Error: {out}", f"Error executing tool {verb}: {out}", f"MCP error -3260{turn % 4}: {out}"][turn // 9 % 6]
                elif turn // 9 % 12 == 0 and len(out) < 300:
                    out = json.dumps({["message", "result", "text", "detail"][turn // 110 % 4]: out}, ensure_ascii=False)
            given = [v for v in values if v][: 2 if turn // 7 % 3 else 0]
            named = {["query", "name", "path", "id", "input"][(turn // 5 + i) % 5]: v for i, v in enumerate(given)}
            out = out.replace("\r", "").strip()
            if out and "\n@@" not in out:
                yield f"@@ {tool} | {label} | {json.dumps(named, ensure_ascii=False)}\n{out}\n"


def short(archive):
    """The name that a host has for the server of a package."""
    name = re.sub(r"-\d+\.\d.*", "", archive).lower()
    name = re.sub(r"(^|[-_])(mcp|server|modelcontextprotocol|awslabs|py)(?=[-_]|$)", "", name)
    return re.sub(r"[^a-z0-9]+", "_", name).strip("_") or "tool"


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(here, "words.txt")) as f:
        words = f.read().split()
    with open(os.path.join(here, "answers.txt")) as f:
        parts = f.read().split("\n= ")[1:]
    archives = {key(re.sub(r"-(py[23]|cp3).*|\.tar\.gz|\.tgz", "", name)): name for name in os.listdir(sys.argv[1])}
    for part in parts:
        name, *packages = part.strip().split("\n")
        made = []
        for archive in sorted(archives[key(line.split(" ")[1])] for line in packages):
            made += outputs(short(archive), list(read(os.path.join(sys.argv[1], archive))), words)
        write(name, "".join(made))


if __name__ == "__main__":
    main()
