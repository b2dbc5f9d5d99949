"""Reads the messages that applications show out of their packages, and writes them as outputs to learn from.

What an application does with a message labels it, not its words: it raises it, answers with it and a status of 400 or
more, or shows it as an error; or it shows it as a success, or answers with it and a status below 400. Translations of
a message have its label. What explains something, as helps and comments do, is a success of a tool that reads. The
packages are those of messages.txt; a half is kept aside:

	sed -n 's/^pip //p' bench/train/messages.txt | xargs -n 1 pip download --no-deps -d packages
	sed -n 's/^npm //p' bench/train/messages.txt | xargs npm pack --pack-destination packages
	python3 bench/train/messages.py packages
"""

import ast
import errno
import gzip
import hashlib
import http
import json
import os
import re
import signal
import sys
import tarfile
import zipfile

TRANSLATES = {"_", "gettext", "gettext_lazy", "ugettext", "ugettext_lazy", "ngettext", "ungettext", "L_", "_l", "Markup", "N_",
              "format_html", "mark_safe", "_lt", "lazy_gettext", "format_lazy"}
NO_FAILURES = re.compile("Redirect|Stop|Exit|NotImplemented|Assertion|Abort|Http30|Skip|Interrupt")
RECEIVERS = (r"(?:toast|toaster|message|notify|notification|notifications|notificationService|snackbar|spinner|ux|logger|uiLogger|"
             r"Log|log|this|utils)")
QUOTED = r"""(?P<q>['"`])(?P<text>(?:(?!(?P=q))[^\\\n]|\\.){4,200})(?P=q)"""
SITES = [(label, re.compile(pattern + QUOTED)) for label, pattern in [
    ("error", r"throw new \w*(?:Error|Exception)\w*\(\s*(?:[\w.]+,\s*)?"),
    ("error", r"new \w+\.?\w*Error\(\s*(?:\{\s*message:\s*)?(?:[\w.]+,\s*)?"),
    ("ok", RECEIVERS + r"\.(?:success|succeed|logSuccess|logLabeledSuccess)\(\s*(?:\w+,\s*)?"),
    ("error", RECEIVERS + r"\.(?:error|fail|logLabeledError)\(\s*(?:\w+,\s*)?"),
    ("error", r"ctx\.(?:badRequest|notFound|forbidden|unauthorized)\(\s*"),
    ("error", r"\.status\([45]\d\d\)\.(?:json|send)\(\{?\s*(?:\w+:\s*)?"),
    ("ok", r"\.status\(20\d\)\.(?:json|send)\(\{?\s*(?:\w+:\s*)?"),
]]
OF_SUCCESS = re.compile(r"(?<!un)success", re.I)
OF_FAILURE = re.compile(r"(?:^|[.\-_])(?:errors?|fail|failed|failure|unsuccessful\w*)(?:$|[.\-_])|Error$|Failed$")
CATALOGUE = re.compile(r"/(?:translations|languages|i18n-messages|messages|locales|lang)/([\w-]+)\.(?:json(?:\.js)?|js)$")
LEFT_OUT = re.compile(r"(^|/)(tests?|testing|__tests__|spec|docs|node_modules|migrations)/|test_|\.min\.js|/vendor")
KINDS = (".py", ".js", ".json", ".mjs", ".cjs", ".ts", ".tsx", ".jsx", ".vue", ".svelte")
LANGUAGES = re.compile(r"/(de|fr|es|pt_BR|it|nl|ru|zh_Hans|zh_CN|ja|ko|pl|tr|ar|sv|cs|vi|uk)[/.]")

HOSTS = [lambda s, v: f"{s}.{v}", lambda s, v: f"mcp__{s}__{v}", lambda s, v: f"{s}_{v}", lambda s, v: f"{v}_{s}"]
# What tools do; those that read may also explain something.
READERS = ["get_help", "read", "describe", "show", "docs", "search", "explain", "ask", "get", "find", "list"]
VERBS = [*READERS, "run", "call", "save", "update", "submit", "apply", "create", "set", "request", "process", "remove"]
# Forms that say nothing of the outcome, most often none.
FORMS = [None, None, None, None, "message", "detail", "text", "msg"]
# Records that an explanation stands in, most often none.
RECORDS = [
    None, None, None, None,
    lambda text, word, n: {"name": word, "description": text},
    lambda text, word, n: {"id": n % 900, "title": word, "body": text, "tags": [word]},
    lambda text, word, n: [{"name": word, "summary": text}, {"name": word[::-1], "summary": ""}],
    lambda text, word, n: {"results": [{"id": n % 90, "key": word, "text": text}], "total": 1},
]


def number(text):
    """A number that stays the same for a text."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], "big")


def name_of(node):
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def text_of(node):
    """The text that an expression is made of, with {} where a value is put in."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=values):
            return "".join(v.value if isinstance(v, ast.Constant) else "{}" for v in values)
        case ast.BinOp(left=left, op=ast.Mod()):
            return text_of(left)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            a, b = text_of(left), text_of(right)
            return a and a + (b or "{}")
        case ast.Call(func=ast.Attribute(value=value, attr="format")):
            return text_of(value)
        case ast.Call(func=func, args=args) if args and name_of(func) in TRANSLATES:
            return text_of(args[0])
        case ast.Call(func=func, args=[_, second, *_]) if name_of(func).startswith("pgettext"):
            return text_of(second)
        case ast.Dict(values=[first, *_]) | ast.List(elts=[first, *_]) | ast.Tuple(elts=[first, *_]):
            return text_of(first)
    return None


def status_of(node):
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return node.value
    found = re.search(r"HTTP_([2-5]\d\d)", name_of(node))
    return int(found[1]) if found else 0


def body_of(node):
    """A structure of texts, or nothing."""
    if not isinstance(node, ast.Dict):
        return None
    body = {}
    for key, value in zip(node.keys, node.values, strict=True):
        text = text_of(value)
        if not isinstance(key, ast.Constant) or text is None:
            return None
        body[key.value] = text
    return body or None


def category(call):
    for k in call.keywords:
        if k.arg in ("category", "level"):
            return text_of(k.value) or name_of(k.value)
    return text_of(call.args[1]) or name_of(call.args[1]) if len(call.args) > 1 else ""


LABELS = {"success": "ok", "SUCCESS": "ok", "error": "error", "danger": "error", "ERROR": "error", "green": "ok", "red": "error"}


def of_call(call):
    """What a call shows: label and text or structure."""
    name, args = name_of(call.func), call.args
    owner = name_of(call.func.value) if isinstance(call.func, ast.Attribute) else ""
    if owner in ("messages", "notifications") and name in ("success", "error") and len(args) > 1:
        yield LABELS[name], text_of(args[1])
    elif name == "add_message" and len(args) > 2:
        yield LABELS.get(name_of(args[1])), text_of(args[2])
    elif name in ("flash", "push_notification") and args:
        yield LABELS.get(category(call)), text_of(args[0])
    elif name in ("flash_success", "flash_error") and args:
        yield LABELS[name[6:]], text_of(args[0])
    elif owner == "style" and name in ("SUCCESS", "ERROR") and args:
        yield LABELS[name], text_of(args[0])
    elif name == "secho" and args:
        yield next((LABELS.get(text_of(k.value)) for k in call.keywords if k.arg == "fg"), None), text_of(args[0])
    elif name in ("Response", "JsonResponse") and args:
        status = next((status_of(k.value) for k in call.keywords if k.arg == "status"), 0)
        if status:
            yield "error" if status >= 400 else "ok", body_of(args[0])
    elif name == "info" and owner == "messages" and len(args) > 1:
        yield "ok", text_of(args[1])
    for k in call.keywords:
        if k.arg == "help_text":
            yield "text", text_of(k.value)
        elif k.arg == "error_messages" and isinstance(k.value, ast.Dict):
            for value in k.value.values:
                yield "error", text_of(value)
        elif k.arg == "message" and name.endswith("Validator"):
            yield "error", text_of(k.value)


def of_python(source):
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef() | ast.ClassDef() | ast.Module() if doc := ast.get_docstring(node):
                yield "text", " ".join(doc.split("\n\n")[number(doc) % (doc.count("\n\n") + 1)].split())
        match node:
            case ast.Raise(exc=ast.Call(func=func, args=[first, *_])) if not NO_FAILURES.search(name_of(func)):
                yield "error", text_of(first)
            case ast.ClassDef(bases=[base, *_]) if re.search("Exception|Error|NotFound|Invalid|Conflict|Forbidden", name_of(base)):
                for part in node.body:
                    if isinstance(part, ast.Assign) and name_of(part.targets[0]) in ("msg_fmt", "message", "description", "default_detail"):
                        yield "error", text_of(part.value)
            case ast.Call():
                yield from of_call(node)


def of_script(source):
    for found in re.finditer(r"/\*\*\s([^@*][^@/]{20,240}?)(?:\*/|@)", source):
        yield "text", " ".join(found[1].replace("*", " ").split())
    for label, site in SITES:
        for found in site.finditer(source):
            text = found["text"].replace("\\n", "\n").replace("\\", "")
            yield label, re.sub(r"\$\{[^}]*\}", "{}", text)


def entries(value, path=""):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from entries(inner, f"{path}.{key}")
    elif isinstance(value, str):
        yield path, value


def of_catalogue(path, source):
    """Messages of a catalogue, labelled by the keys that the application has for them."""
    if path.endswith(".json"):
        try:
            pairs = list(entries(json.loads(source)))
        except ValueError:
            return
    else:
        pairs, section = [], ""
        for line in source.splitlines():
            if found := re.match(r"\s+(\w+): \{$", line):
                section = found[1]
            elif found := re.match(r"""\s+["']?([\w.\-]+)["']?: (["'`])(.*)\2,?$""", line):
                pairs.append((section + "." + found[1], found[3].replace("\\", "")))
    for key, text in pairs:
        if len(text) > 12 or not text.isascii():
            if OF_FAILURE.search(key):
                yield "error", text
            elif OF_SUCCESS.search(key) and "error" not in key.lower():
                yield "ok", text


def unquote(lines):
    try:
        return "".join(ast.literal_eval(line) for line in lines)
    except (SyntaxError, ValueError):
        return ""


def of_translations(source):
    """Pairs of a text and its translation."""
    for part in re.split(r"\n\s*\n", source):
        if "#, fuzzy" in part or "fuzzy," in part or "\n#~" in part:
            continue
        fields = {}
        for key, lines in re.findall(r'^(msgid|msgstr|msgstr\[0\]) ((?:"[^\n]*"\n?)+)', part + "\n", re.M):
            fields[key.removesuffix("[0]")] = unquote(lines.strip().splitlines())
        if fields.get("msgid") and fields.get("msgstr"):
            yield fields["msgid"], fields["msgstr"]


def files(archive):
    """The texts of a package, in order."""
    def wanted(name):
        return not LEFT_OUT.search(name) and (name.endswith(KINDS) or name.endswith(".po") and bool(LANGUAGES.search(name)))

    if archive.endswith(".whl"):
        with zipfile.ZipFile(archive) as z:
            for name in sorted(z.namelist()):
                if wanted(name):
                    yield name, z.read(name).decode(errors="replace")
        return
    with tarfile.open(archive) as t:
        for member in sorted(t.getmembers(), key=lambda m: m.name):
            if member.isfile() and member.size < 1 << 20 and wanted(member.name):
                yield member.name, t.extractfile(member).read().decode(errors="replace")


class Filler:
    """Puts words into the places that a message has for values."""

    PLACE = re.compile(r"%\(\w+\)[a-z]|%[sdr]|\{\{[^}]*\}\}|\{[\w.!:\[\]]*\}|%\{\w+\}|</?\w+[^>]*>")

    def __init__(self, words):
        self.words = words

    def value(self, place, text, i):
        n = number(f"{text}{i}")
        word = self.words[n % len(self.words)]
        if place.endswith("d") or re.search("num|count|id|max|min|size|limit|length|total", place, re.I):
            return str(n % [7, 30, 900, 40000][n // 7 % 4] + 1)
        return [word, f"{word}-{n % 90}", word.title(), f"{word}_{self.words[n // 3 % len(self.words)]}"][n // 5 % 4]

    def fill(self, text):
        values = []

        def put(found):
            place = found[0]
            if place.startswith("<"):
                return ""
            values.append(self.value(place, text, len(values)))
            return values[-1]

        return self.PLACE.sub(put, text).replace("%%", "%"), values


def usable(text):
    """Whether a text is a message: of some words, and neither a name nor an address."""
    if not isinstance(text, str) or not 6 <= len(text.strip()) <= 240 or "\n@@" in text or "://" in text:
        return False
    return (sum(c.isalpha() for c in text) >= 5 and not re.fullmatch(r"[\w.\-/:]+", text.strip())
            and (not text.isascii() or len(text.split()) > 1))


def collect(archive):
    """Messages with their labels, those that have two left out, and the translations of them."""
    said, labels, pairs, foreign = {}, {}, [], {}
    for path, source in files(archive):
        catalogue = CATALOGUE.search(path)
        if path.endswith(".po"):
            pairs += of_translations(source)
            continue
        if catalogue:
            found, into = of_catalogue(path, source), said if catalogue[1] in ("en", "en-US", "core") else foreign
        else:
            found, into = of_python(source) if path.endswith(".py") else () if path.endswith(".json") else of_script(source), said
        for label, message in found:
            if isinstance(message, dict):
                if label and all(map(usable, message.values())):
                    labels.setdefault(json.dumps(message), set()).add(label)
                    said[json.dumps(message)] = message
            elif label and usable(message):
                labels.setdefault(message, set()).add(label)
                into[message] = message
    sure = {key: labels[key] for key in labels if len(labels[key]) == 1}
    english = [(min(sure[k]), m) for k, m in said.items() if k in sure]
    others = [(min(sure[k]), m) for k, m in foreign.items() if k in sure and k not in said]
    others += [(min(sure[a]), b) for a, b in pairs if a in sure and a != b and usable(b)]
    return english, others


def some(messages, most):
    """A part of the messages, in an order that their texts give."""
    unique = {json.dumps(m, ensure_ascii=False): (label, m) for label, m in messages}
    return [unique[k] for k in sorted(unique, key=number)[:most]]


def tool(package, label, text, shown):
    """The name of a tool. Any may fail; what explains something is of one that reads."""
    verbs = READERS if label == "text" else VERBS
    return HOSTS[number(json.dumps(text)) % 4](package, verbs[number(shown) // 4 % len(verbs)])


def output(package, label, message, filler):
    """A message as the output of a tool of a package."""
    turn = number(json.dumps(message))
    form = (RECORDS if label == "text" else FORMS)[turn // 50 % len(FORMS)]
    if isinstance(message, dict):
        filled = {k: filler.fill(v) for k, v in message.items()}
        values, out = sum((v for _, v in filled.values()), []), json.dumps({k: v for k, (v, _) in filled.items()})
    else:
        out, values = filler.fill(message.strip())
        if form:
            word = filler.value("", message, len(values))
            out = json.dumps(form(out, word, turn) if label == "text" else {form: out}, ensure_ascii=False)
    given = {f"arg{i + 1}": v for i, v in enumerate(values[:2])}
    return f"@@ {tool(package, label, message, out)} | {'ok' if label == 'text' else label} | {json.dumps(given)}\n{out}\n"


def catalogues():
    """What systems say of errors, signals and statuses; their numbers label them."""
    for name, texts in [
        ("errno", [os.strerror(n) for n in sorted(errno.errorcode)]),
        ("signal", [signal.strsignal(n) for n in sorted(signal.valid_signals()) if n < 32]),
    ]:
        for turn, text in enumerate(texts):
            tool = HOSTS[turn % 4](name, VERBS[turn % len(VERBS)])
            yield f"@@ {tool} | error | {{}}\n{text}\n"
    for turn, status in enumerate(http.HTTPStatus):
        label = "error" if status >= 400 else "ok"
        for form in ("{0} {1}", "{1}", "Status {0}", "HTTP {0}", "Status: {0} {1}"):
            yield f"@@ {HOSTS[turn % 4]('http', VERBS[turn % len(VERBS)])} | {label} | {{}}\n{form.format(status.value, status.phrase)}\n"


def write(name, outputs):
    """Writes a set: a text if it is kept aside, packed otherwise."""
    here = os.path.dirname(os.path.abspath(__file__))
    if "aside" in name:
        with open(os.path.join(here, "..", "..", "evaluate", "rules", "testdata", "outputs", name), "w") as f:
            f.write(outputs)
    else:
        with open(os.path.join(here, "learned", name + ".gz"), "wb") as f:
            f.write(gzip.compress(outputs.encode(), 9, mtime=0))


def key(name):
    return re.sub("[^a-z0-9]", "", name.lower())


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(here, "words.txt")) as f:
        filler = Filler(f.read().split())
    with open(os.path.join(here, "messages.txt")) as f:
        parts = f.read().split("\n= ")[1:]
    archives = {key(re.sub(r"-py[23].*|\.tar\.gz|\.tgz", "", name)): name for name in os.listdir(sys.argv[1])}
    for place, part in enumerate(parts):
        name, *packages = part.split("\n")
        name, *most = name.split()
        english_most, translated_most, texts_most, *failures_most = map(int, most)
        made = list(catalogues()) if place == 0 else []
        found = [archives[key(line.split(" ")[1])] for line in packages if line]
        for archive in sorted(found, key=str.lower):
            package = key(re.split(r"-\d|\.tgz", archive)[0])
            english, others = collect(os.path.join(sys.argv[1], archive))
            for label in ("error", "ok"):
                taken = [m for found, most in ((english, english_most), (others, translated_most))
                         for m in some([m for m in found if m[0] == label], most)]
                got = [output(package, *m, filler) for m in taken]
                made += got[:failures_most[0]] if failures_most and label == "error" else got
            made += [output(package, *m, filler) for m in some([m for m in english if m[0] == "text"], texts_most)]
        write(name, "".join(made))


if __name__ == "__main__":
    main()
