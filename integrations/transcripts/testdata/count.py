"""Counts calls, failures and unpaired calls in the samples, independently of the program.

usage: count.py FOLDER  ->  {"file": [calls, failed, unfinished, cancelled]} as JSON
A call is one that has a result and that nobody stopped.
"""
import json, os, re, sys, zipfile

STOPPED = ("patch rejected by user", "The user doesn't want", "User rejected", "aborted by user", "[Operation Cancelled]", "[Request interrupted")


def docs(path):
    if path.endswith(".eval"):
        with zipfile.ZipFile(path) as z:
            return [json.loads(z.read(n)) for n in z.namelist() if n.startswith("samples/")]
    text = open(path, encoding="utf-8").read()
    try:
        whole = json.loads(text)
        return whole if isinstance(whole, list) else [whole]
    except ValueError:
        out = []
        for line in text.splitlines():
            try:
                out.append(json.loads(line))
            except ValueError:
                pass
        return [d for d in out if isinstance(d, dict)]


class Tally:
    def __init__(self):
        self.made, self.ended = {}, {}

    def make(self, key):
        self.made[key] = True

    def end(self, key, failed, stopped=False):
        f, s = self.ended.get(key, (False, False))
        self.ended[key] = (f or failed, s or stopped)

    def result(self):
        paired = [self.ended[k] for k in self.made if k in self.ended]
        ok = [p for p in paired if not p[1]]
        return [len(ok), sum(p[0] for p in ok), len(self.made) - len(paired), len(paired) - len(ok)]


def flat(c):
    return c if isinstance(c, str) else "\n".join(b.get("text", "") for b in c or [] if isinstance(b, dict))


def claude(ds, t):
    for line in [l for d in ds for l in (d.get("loglines") or [d])]:
        message = line.get("message")
        content = message.get("content") if isinstance(message, dict) else None
        for b in content if isinstance(content, list) else []:
            if not isinstance(b, dict):
                continue
            if b.get("type") == "tool_use":
                t.make(b["id"])
            if b.get("type") == "tool_result":
                r = line.get("toolUseResult")
                stopped = flat(b.get("content")).startswith(STOPPED) or isinstance(r, dict) and r.get("interrupted") is True
                t.end(b["tool_use_id"], b.get("is_error") is True, stopped)


def codex(ds, t):
    for d in ds:
        p = d.get("payload", {})
        kind = p.get("type")
        if d.get("type") == "response_item" and kind in ("function_call", "custom_tool_call", "local_shell_call"):
            t.make(p["call_id"])
        if d.get("type") == "response_item" and kind in ("function_call_output", "custom_tool_call_output"):
            out = p["output"] if isinstance(p["output"], str) else flat(p["output"])
            code = re.search(r"(?:exit_code\"?:|exited with code|^Exit code:) ?(\d+)", out[-120:] if out.startswith("{") else out[:200])
            failed = bool(code and code.group(1) != "0") or out.startswith(("failed in sandbox", "failed to parse"))
            t.end(p["call_id"], failed, out.startswith(STOPPED))
        if kind == "item_completed":
            t.end(p["item"]["id"], p["item"]["status"] == "failed")


def gemini(ds, t):
    for m in [m for d in ds for m in (d.get("messages") or [d])]:
        for c in m.get("toolCalls") or []:
            t.make(c["id"])
            if c["status"] in ("success", "error", "cancelled"):
                r = c["result"][0]["functionResponse"]["response"] if c.get("result") else {}
                code = re.search(r"^Exit Code: (\d+)", r.get("output") or "", re.M)
                failed = c["status"] == "error" or bool(code and code.group(1) != "0")
                t.end(c["id"], failed, c["status"] == "cancelled")


def chat(conversations, t, fails):
    for n, messages in enumerate(conversations):
        waiting, made = [], 0
        for m in messages:
            calls = [(c.get("id"), None) for c in m.get("tool_calls") or []] + ([(None, m["function_call"]["name"])] if m.get("function_call") else [])
            content = m.get("content")
            for b in content if isinstance(content, list) else []:
                if b.get("type") == "tool_use":
                    calls.append((b["id"], None))
                if b.get("type") == "tool_result":
                    i = [w[0] for w in waiting].index(b["tool_use_id"])
                    t.end(waiting.pop(i)[2], b.get("is_error") is True)
            for id, name in calls:
                made += 1
                t.make((n, made))
                waiting.append((id, name, (n, made)))
            if m.get("role") in ("tool", "function"):
                id = m.get("tool_call_id") or (m.get("tool_call_ids") or [None])[0] or (m.get("id") if m.get("id") in [w[0] for w in waiting] else None)
                i = [w[0] for w in waiting].index(id) if id in [w[0] for w in waiting] else None
                if i is not None:
                    t.end(waiting.pop(i)[2], fails(m))


def openhands(ds, t):
    for n, d in enumerate(ds):
        for e in d.get("history") or [d]:
            meta = (e.get("extras") or {}).get("metadata") or {}
            if isinstance(e.get("action"), str) and e["action"] not in ("message", "system", "finish", "recall") and e.get("source") == "agent":
                t.make((n, e["id"]))
            if e.get("observation") and isinstance(e["observation"], str):
                code = meta.get("exit_code", 0)
                t.end((n, e.get("cause")), e["observation"] == "error" or code > 0)
            if e.get("kind") == "ActionEvent":
                t.make(e["tool_call_id"])
            if e.get("kind") == "ObservationEvent":
                t.end(e["tool_call_id"], e["observation"].get("exit_code", 0) > 0)
            if e.get("kind") == "AgentErrorEvent":
                t.end(e["tool_call_id"], True)


def sweagent(ds, t):
    for n, d in enumerate(ds):
        if "trajectory" in d:
            for i, s in enumerate(d["trajectory"]):
                if s["action"].strip() and not s["action"].startswith("exit_"):
                    t.make((n, i))
                    t.end((n, i), False)
        else:
            chat([d["history"]], t, lambda m: False)


def mini(ds, t):
    n = 0
    for m in [m for d in ds for m in (d.get("messages") or [d])]:
        if m.get("role") == "assistant":
            n += 1
            if "```" in m.get("content", "") or m.get("extra"):
                t.make(n)
        code = re.match(r"\s*<returncode>(-?\d+)", m.get("content") or "")
        if code:
            t.end(n, code.group(1) != "0")


def inspect(ds, t):
    for s in [s for d in ds for s in (d.get("samples") or [d])]:
        for e in s.get("events") or []:
            if e["event"] == "tool":
                t.make(e["id"])
                t.end(e["id"], bool(e.get("error")) or e.get("failed") is True)


def spans(ds, t):
    def walk(s):
        for c in (s.get("child_runs") or []) + (s.get("observations") or []):
            walk(c)
        if s.get("run_type") == "tool":
            failed = bool(s.get("error")) or '"status": "error"' in json.dumps(s.get("outputs"))
        elif s.get("type") == "TOOL":
            failed = s.get("level") == "ERROR"
        elif s.get("span_kind") == "TOOL" and s["name"] != "FinalAnswerTool":
            failed = s["status_code"] == "ERROR"
        else:
            return
        id = s.get("id")
        t.make(id)
        t.end(id, failed)

    for d in ds:
        walk(d)


def otlp(ds, t):
    for d in ds:
        for r in d.get("resourceSpans") or []:
            for s in [s for sc in r["scopeSpans"] for s in sc["spans"]]:
                a = {x["key"]: list(x["value"].values())[0] for x in s["attributes"]}
                tool = a.get("gen_ai.operation.name") == "execute_tool" or a.get("openinference.span.kind") == "TOOL" or a.get("traceloop.span.kind") == "tool"
                if tool and s["kind"] != 2:
                    t.make(s["spanId"])
                    t.end(s["spanId"], s["status"].get("code") == 2 or '"status":"error"' in a.get("output.value", ""))
        for r in d.get("resourceLogs") or []:
            for n, l in enumerate(l for sc in r["scopeLogs"] for l in sc["logRecords"]):
                a = {x["key"]: list(x["value"].values())[0] for x in l["attributes"]}
                if a.get("event.name") in ("codex.tool_result", "gemini_cli.tool_call"):
                    t.make(n)
                    t.end(n, a.get("success") == "false" or "exited with code 3" in a.get("output", ""))


def responses(ds, t):
    for i in [i for d in ds for l in (d.get("input"), d.get("output")) for i in l or []]:
        if i.get("type") == "function_call":
            t.make(i["call_id"])
        if i.get("type") == "function_call_output":
            t.end(i["call_id"], False)
        if i.get("type") == "mcp_call":
            t.make(i["id"])
            t.end(i["id"], bool(i.get("error")))


def count(path):
    t, ds = Tally(), docs(path)
    base, folder = os.path.basename(path), os.path.basename(os.path.dirname(path))
    kind = folder if folder != "written" else base.split(".")[0].rsplit("-", 1)[0] if base.split(".")[0] not in ("openai-chat",) else "openai-chat"
    readers = {
        "claude-code": claude, "claude": claude, "codex": codex, "codex-0": codex, "gemini": gemini, "gemini-0": gemini, "openhands": openhands,
        "swe-agent": sweagent, "mini-swe-agent": mini, "mini": mini, "inspect": inspect, "langfuse": spans, "langsmith": spans, "phoenix": spans,
        "otlp": otlp, "responses": responses,
    }
    if kind in readers:
        readers[kind](ds, t)
    elif kind == "tau-bench":
        chat([d["traj"] for d in ds], t, lambda m: (m.get("content") or "").startswith("Error"))
    elif kind == "tau2":
        chat([s["messages"] for d in ds for s in d["simulations"]], t, lambda m: m.get("error") is True)
    else:
        chat([d["messages"] for d in ds], t, lambda m: False)
    return t.result()


if __name__ == "__main__":
    root, out = sys.argv[1], {}
    for folder, _, names in sorted(os.walk(root)):
        if "hosts" in folder.split(os.sep):  # forms_test.go says what they hold
            continue
        for name in sorted(names):
            if name.endswith((".json", ".jsonl", ".traj", ".eval")) and folder != root:
                path = os.path.join(folder, name)
                out[os.path.relpath(path, root).replace(os.sep, "/")] = count(path)
    print(json.dumps(out, indent=1, sort_keys=True).replace("[\n  ", "[").replace(",\n  ", ", ").replace("\n ]", "]"))
