"""Reads translations out of the catalogues of Debian's source packages, and writes them as outputs to learn from.

The program labels a message, not its words: one that it hands to a function for errors is a failure, and one that it
prints is a success; its translations have its label. What is translated of a manual, of a description or of a setting
explains something: it is a success of a tool that reads. So each language has failures and prose from the same pens. The
packages are those of catalogues.txt:

	(cd packages && grep -v '^#' ../bench/train/catalogues.txt | xargs -n 1 apt-get source --download-only)
	python3 bench/train/catalogues.py packages
"""

import os
import re
import sys
import tarfile

from messages import Filler, key, number, output, some, unquote, usable, write

LANGUAGES = {"de", "es", "fr", "ja", "zh_CN", "pt_BR", "it", "ru", "ko", "pl", "nl", "uk", "sv", "tr", "cs"}
# How many translations of each label are taken of a package, in each language.
MOST = {"error": 25, "ok": 12, "text": 40}
LONGEST = 500  # characters of an explanation

LITERAL = re.compile(r'"(?:[^"\\\n]|\\.)*"(?:\s*(?:L|PRI\w+)?\s*"(?:[^"\\\n]|\\.)*")*')
KINDS = (".c", ".h", ".cc", ".cpp", ".pl", ".pm")
# A manual, or what describes an interface or a setting.
EXPLAINS = re.compile(r"\.(?:\d|pod|texi|md|adoc|xml|html|docbook|txt|rst|man|templates|gschema\.xml|schemas|desktop|ui|glade|policy)"
                      r"(?:\.in)*(?::\d+)?$")
# The functions that a literal stands in, and what they are for.
CALLED = re.compile(r"(\w+)\s*(?:<<\s*|\((?:[^()\";]|\([^()\";]*\))*)$")
MARKS = re.compile(r"(?:\b(?:_|N_|_g|g_|gettext|gettext_noop|__|TTR)\s*\(\s*)+$")
FAILS = re.compile(r"(?:^|_)(?:die|fatal|fail|croak|confess|panic|errx?|errmsg|badusage|perror|ohshit)|error", re.I)
PRINTS = re.compile(r"^(?:w?printf|puts|printf_ln|g_print|print|cout|svn_cmdline_printf|vshPrint)$")
GOES_ON_FAILING = re.compile(r"\b(?:exit|_exit|usage)\s*\(|\breturn\s+(?:-\d|1|EXIT_FAILURE|FALSE|false)\b|goto \w*(?:err|fail|out)|"
                             r"\bstderr\b")
TROUBLE = re.compile(r"^\W*(?:error|warning|fail|cannot|can't|could not|couldn't|unable|invalid|missing|unknown|unsupported|usage)", re.I)
FORMAT = re.compile(r"%(?:\d+\$)?[-+ #0']*(?:\*|\d+)?(?:\.(?:\*|\d+))?(?:hh|ll|[hlLqjztI])*([diouxXeEfgGcspaAm])")


def places(text):
    """A text with {} where a value is put in, and {count} where a number is."""
    return FORMAT.sub(lambda m: "{count}" if m[1] in "diu" else "{}", text.replace("%%", "\0")).replace("\0", "%").strip()


def labelled(source):
    """The messages of a source, with their labels."""
    for found in LITERAL.finditer(source):
        before = re.split(r"[;{}]\s*\n", source[max(0, found.start() - 140):found.start()])[-1]
        called = CALLED.search(MARKS.sub("", before))
        if not called:
            continue
        text = places(unquote(re.findall(r'"(?:[^"\\\n]|\\.)*"', found[0])))
        if FAILS.search(called[1]):
            yield text, "error"
        elif PRINTS.search(called[1]) and not TROUBLE.search(text) and not GOES_ON_FAILING.search(source, found.end(), found.end() + 160):
            yield text, "ok"


def translated(source):
    """Texts with their translations, and whether they are of a manual or a description."""
    for part in re.split(r"\n\s*\n", source):
        if re.search(r"^#,.*fuzzy|^#~", part, re.M):
            continue
        fields = {}
        for name, lines in re.findall(r'^(msgid|msgstr|msgstr\[0\]) ((?:"[^\n]*"\n?)+)', part + "\n", re.M):
            fields[name.removesuffix("[0]")] = places(unquote(lines.strip().splitlines()))
        at = " ".join(re.findall(r"^#: (.*)$", part, re.M)).split()
        if fields.get("msgid") and fields.get("msgstr") not in (None, "", fields["msgid"]):
            yield fields["msgid"], fields["msgstr"], bool(at) and all(map(EXPLAINS.search, at))


def decoded(raw):
    charset = re.search(rb"charset=([\w-]+)", raw[:4000])
    try:
        return raw.decode(charset[1].decode() if charset else "utf-8", errors="replace")
    except LookupError:
        return raw.decode(errors="replace")


def collect(archives):
    """Translations of a package's messages, by language and label."""
    labels, pairs, found = {}, [], {}
    for archive in archives:
        with tarfile.open(archive) as t:
            for member in t:
                name, end = os.path.splitext(os.path.basename(member.name))
                language = re.split(r"[./-]", name)[-1]
                if not member.isfile() or member.size > 4 << 20:
                    continue
                if end == ".po" and language in LANGUAGES:
                    pairs += [(language, *entry) for entry in translated(decoded(t.extractfile(member).read()))]
                elif end in KINDS:
                    for text, label in labelled(decoded(t.extractfile(member).read())):
                        labels.setdefault(text, set()).add(label)
    for language, english, text, explains in pairs:
        of = labels.get(english, {"text"} if explains else set())
        text = re.sub(r"</?[\w-]+[^>]*>", "", re.sub(r"[BICFLE]<([^<>]*)>", r"\1", text))
        if len(of) == 1 and usable(text[:240]) and "\ufffd" not in text:
            found.setdefault((language, min(of)), set()).add(text)
    return found


def shortened(text):
    """A text, or some sentences of a long one."""
    if len(text) <= LONGEST:
        return text
    return " ".join(re.split(r"(?<=[.!?。])\s*", text)[:1 + number(text) % 3])[:LONGEST]


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(here, "words.txt")) as f:
        filler = Filler(f.read().split())
    with open(os.path.join(here, "catalogues.txt")) as f:
        packages = [line for line in f.read().split("\n") if line and not line.startswith("#")]
    made = []
    for package in packages:
        archives = sorted(os.path.join(sys.argv[1], name) for name in os.listdir(sys.argv[1])
                          if name.startswith(package + "_") and re.search(r"\.tar\.\w+$", name))
        found = collect(archives)
        for language, label in sorted(found):
            for _, text in some([(label, text) for text in found[language, label]], MOST[label]):
                made.append(output(key(package), label, shortened(text), filler))
    write("catalogues.txt", "".join(made))


if __name__ == "__main__":
    main()
