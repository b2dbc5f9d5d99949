"""Reads what tools tell of a result, mostly in a short sentence, out of their packages, and writes it as outputs to learn from.

The packages are those of results.txt, of which a part is kept aside. They hold two kinds of tools. The skills of a voice
assistant have each sentence in a file whose name says when it is spoken: names that tell of a failure label it, and what
is neither that nor surely a result is left out. The tools of agents are labelled as in answers.py, by what becomes of a
text: returned, raised, or returned where an exception was caught; a chat bot replies with it, or with an error. What they
put in is made up.

	sed -n 's/^pip //p' bench/train/results.txt | xargs -n 1 pip download --no-deps -d packages
	python3 bench/train/results.py packages
"""

import ast
import json
import os
import re
import sys
import tarfile
import zipfile

from answers import LEFT_OUT, Filler, outputs, returned, text_of
from messages import HOSTS, NO_FAILURES, VERBS, key, number, write

TOOLS = re.compile(r"tool|plugin|skill", re.I)
DECORATED = re.compile(r"tool\b|kernel_function|skill|action")
RUNS = {"_run", "run", "forward", "call", "execute", "invoke", "__call__", "_execute"}
SPOKEN = re.compile(r"/locale/([A-Za-z-]+)/(?:.*/)?([^/]+)\.dialog$|/dialog/([A-Za-z-]+)/([^/]+)\.dialog$")
OF_FAILURE = re.compile(r"error|fail|not[._\- ]?(found|supported|available|possible|configured|connected|installed|understood|set\b)|"
                        r"unavailable|invalid|unsupported|unable|cannot|cant[._\- ]|missing|couldnt|unknown[._ -]", re.I)
# Names that tell of no result, or of one that may be a failure: they are left out.
OF_NEITHER = re.compile(r"(^|[._\- /])(not|no|cant|none|nothing|dont|never|problem|without|empty|too|wrong|sorry|already|only|help|welcome|"
                        r"intro|prompt|ask|confirm|what|which|choose|question|unknown|word|retry|mismatch|request)(?=$|[._\-0-9 ])|"
                        r"^no[A-Z]|Not[A-Z]|Problem", re.I)
OF_NUMBERS = re.compile("num|temp|percent|speed|count|result|hour|min|sec|day")
# How many sentences of a package are taken, by what they tell of and whether they are English.
MOST = {("error", True): 60, ("error", False): 120, ("ok", True): 80, ("ok", False): 60}


def spoken(archive):
    """The sentences of a skill, with their labels and whether they are English."""
    with zipfile.ZipFile(archive) as z:
        for name in sorted(z.namelist()):
            found = SPOKEN.search(name)
            if not found:
                continue
            language, occasion = (found[1] or found[3]).lower(), found[2] or found[4]
            if OF_FAILURE.search(occasion):
                label = "error"
            elif OF_NEITHER.search(occasion):
                continue
            else:
                label = "ok"
            for line in z.read(name).decode(errors="replace").splitlines()[:3]:
                line = re.sub(r"<[^>]*>", "", line).strip()
                if len(line) > 2 and not line.startswith("#") and not line.endswith("?"):
                    yield label, language.startswith("en"), line


def filled(line, filler, values):
    """A sentence with values in its places, and one of each choice that it leaves."""
    while (choice := re.search(r"\(([^()]*\|[^()]*)\)", line)):
        ways = choice[1].split("|")
        line = line[:choice.start()] + ways[number(line) % len(ways)] + line[choice.end():]
    line = re.sub(r"\{\{?\s*(\w*)[^{}]*\}?\}", lambda m: "{count}" if OF_NUMBERS.search(m[1]) else "{}", line)
    return re.sub(r"\s+", " ", filler.fill(line, "ok", values)).strip()


def of_skill(name, said, words):
    filler, texts = Filler(words, []), {}
    for label, english, line in said:
        texts.setdefault(line, (label, english))
    lines = sorted(texts, key=number)
    chosen = [t for sort, most in MOST.items() for t in [t for t in lines if texts[t] == sort][:most]]
    for line in chosen:
        turn, values = number(line), []
        out = filled(line, filler, values)
        verb = VERBS[turn // 4 % len(VERBS)]
        tool = HOSTS[turn % 4](name, verb)
        given = [v for v in values if v][: turn // 7 % 3]
        named = {["query", "name", "location", "id", "input"][(turn // 5 + i) % 5]: v for i, v in enumerate(given)}
        if turn // 9 % 6 == 0:
            out = json.dumps({["message", "result", "text", "speech"][turn // 110 % 4]: out}, ensure_ascii=False)
        yield f"@@ {tool} | {texts[line][0]} | {json.dumps(named, ensure_ascii=False)}\n{out}\n"


def of_tools(node, name="", is_tool=False, kit="", caught=False, sometimes=False):
    """The answers of functions that are tools, and of methods of classes that are."""
    for child in ast.iter_child_nodes(node):
        inside = name, is_tool, kit, caught, sometimes
        match child:
            case ast.ClassDef():
                of = child.name + " ".join(ast.unparse(b) for b in child.bases)
                inside = "", False, child.name if TOOLS.search(of) else "", False, False
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                marks = [ast.unparse(d) for d in child.decorator_list]
                runs = bool(kit) and child.name in RUNS
                tool = any(map(DECORATED.search, marks)) or runs or bool(kit) and child.name[0] != "_" and not marks
                tool = tool and child.name != "call_tool"  # by which a host calls another
                inside = kit if runs else child.name, tool, "", False, False
            case ast.ExceptHandler():
                inside = name, is_tool, kit, True, sometimes
            case ast.If() | ast.For() | ast.While() | ast.Match():
                inside = name, is_tool, kit, caught, True
            case ast.Raise(exc=ast.Call(func=func, args=args)) if is_tool and not NO_FAILURES.search(ast.unparse(func)):
                if text := next((t for t in map(text_of, args) if isinstance(t, str)), None):
                    yield {"label": "error", "text": text, "tool": name, "thrown": True}
            case ast.Call(func=ast.Attribute(value=ast.Name(id="irc"), attr="reply" | "replySuccess" | "error" as attr), args=[first, *_]):
                if isinstance(text := said(first), str):
                    yield {"label": "error" if attr == "error" else "ok", "text": text, "tool": name, "state": True}
            case ast.Return(value=ast.expr() as value):
                yield from returned(value, name, is_tool, caught, sometimes)
        yield from of_tools(child, *inside)


def said(node):
    """The text that a chat bot says, translated or not, with places for values."""
    match node:
        case ast.Call(func=ast.Name(id="_" | "format"), args=[first, *_]):
            return said(first)
        case ast.BinOp(left=left, op=ast.Mod()) if isinstance(text := said(left), str):
            return re.sub(r"%[sriLnu]", "{}", re.sub(r"%[df]|%\.\d+f", "{count}", text))
    return text_of(node)


def sources(archive):
    if archive.endswith(".whl"):
        with zipfile.ZipFile(archive) as z:
            for name in sorted(z.namelist()):
                if name.endswith(".py") and not LEFT_OUT.search(name):
                    yield z.read(name)
    else:  # its tests and examples are tools as newcomers write them
        with tarfile.open(archive) as t:
            for member in sorted(t.getmembers(), key=lambda m: m.name):
                if member.name.endswith(".py") and not member.name.endswith("test.py") and member.isfile():
                    yield t.extractfile(member).read()


def answers(archive):
    for source in sources(archive):
        try:
            tree = ast.parse(source.decode(errors="replace"))
        except (SyntaxError, ValueError, RecursionError):
            continue
        yield from of_tools(tree)


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(here, "words.txt")) as f:
        words = f.read().split()
    with open(os.path.join(here, "results.txt")) as f:
        parts = f.read().split("\n= ")[1:]
    archives = {key(re.sub(r"-(py[23]|cp3).*|\.tar\.gz", "", name)): name for name in os.listdir(sys.argv[1])}
    for part in parts:
        name, *packages = part.strip().split("\n")
        made = []
        for archive in sorted(archives[key(line.split(" ")[1])] for line in packages):
            path = os.path.join(sys.argv[1], archive)
            short = re.sub(r"^(ovos|neon)_skill_|-\d+\.\d.*", "", archive).lower()
            said = list(spoken(path)) if archive.endswith(".whl") else []
            made += of_skill(short, said, words) if said else outputs(short, list(answers(path)), words)
        write(name, "".join(made))


if __name__ == "__main__":
    main()
